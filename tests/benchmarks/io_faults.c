/* Lets the n-th call that writes below a folder fail, once or from then on. Loaded by io_faults.py before libc. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static char folder[PATH_MAX];
static long calls, failing = -1;
static int error_number, for_good, armed;

/* Below this folder count calls, and let call `number` fail with `error`, and with `always` all after it. */
void io_faults_arm(const char *below, long number, int error, int always) {
    snprintf(folder, sizeof folder, "%s", below);
    calls = 0;
    failing = number;
    error_number = error;
    for_good = always;
    armed = 1;
}

long io_faults_calls(void) { return calls; }

/* Whether this call fails; on a full disk that is asked only of calls that need room. */
static int fails(const char *path) {
    if (!armed || !path || strncmp(path, folder, strlen(folder)))
        return 0;
    long number = __sync_fetch_and_add(&calls, 1);
    if (failing >= 0 && (number == failing || (for_good && number > failing))) {
        errno = error_number;
        return 1;
    }
    return 0;
}

/* Of calls that signals do not interrupt. */
static int fails_by_name(const char *path) { return error_number != EINTR && fails(path); }

/* Of calls that need no room. */
static int fails_without_room(const char *path) { return error_number != ENOSPC && fails_by_name(path); }

static int fails_at(int file) {
    if (!armed)
        return 0;
    char link[64], path[PATH_MAX];
    int saved = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    errno = saved;
    if (length < 0)
        return 0;
    path[length] = 0;
    return fails(path);
}

/* Of calls on an open file that need no room and that signals do not interrupt: on file systems of Linux, syncing is one. */
static int fails_to_keep(int file) { return error_number != ENOSPC && error_number != EINTR && fails_at(file); }

static int fails_to_cut(int file) { return error_number != ENOSPC && fails_at(file); }

/* Of a write up to this place: a full disk takes what lies within a file. A negative place is where the file is. */
static int fails_up_to(int file, off64_t end, size_t length) {
    struct stat about;
    if (!armed || (error_number == ENOSPC && fstat(file, &about)))
        return 0;
    if (error_number == ENOSPC) {
        if (end < 0)
            end = (fcntl(file, F_GETFL) & O_APPEND ? about.st_size : lseek(file, 0, SEEK_CUR)) + (off64_t)length;
        if (end <= about.st_size)
            return 0;
    }
    return fails_at(file);
}

/* What a disk takes that has become full just now: half of what is written. */
static size_t taken(size_t length) { return error_number == ENOSPC && calls == failing + 1 ? length / 2 : 0; }

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (!real) real = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

#define WRITE(name, offset, ...) \
    { \
        REAL(ssize_t, #name, __VA_ARGS__); \
        if (!fails_up_to(f, offset, n)) return real ARGUMENTS(n); \
        size_t part = taken(n); \
        return part ? real ARGUMENTS(part) : -1; \
    }

#define ARGUMENTS(count) (f, b, count)
ssize_t write(int f, const void *b, size_t n) WRITE(write, -1, int, const void *, size_t)
#undef ARGUMENTS
#define ARGUMENTS(count) (f, b, count, o)
ssize_t pwrite(int f, const void *b, size_t n, off_t o) WRITE(pwrite, o + (off64_t)n, int, const void *, size_t, off_t)
ssize_t pwrite64(int f, const void *b, size_t n, off64_t o) WRITE(pwrite64, o + (off64_t)n, int, const void *, size_t, off64_t)
#undef ARGUMENTS

ssize_t writev(int f, const struct iovec *v, int n) { REAL(ssize_t, "writev", int, const struct iovec *, int); return fails_at(f) ? -1 : real(f, v, n); }
int fsync(int f) { REAL(int, "fsync", int); return fails_to_keep(f) ? -1 : real(f); }
int fdatasync(int f) { REAL(int, "fdatasync", int); return fails_to_keep(f) ? -1 : real(f); }
int ftruncate(int f, off_t n) { REAL(int, "ftruncate", int, off_t); return fails_to_cut(f) ? -1 : real(f, n); }
int ftruncate64(int f, off64_t n) { REAL(int, "ftruncate64", int, off64_t); return fails_to_cut(f) ? -1 : real(f, n); }
int unlink(const char *a) { REAL(int, "unlink", const char *); return fails_without_room(a) ? -1 : real(a); }
int rename(const char *a, const char *b) { REAL(int, "rename", const char *, const char *); return fails_without_room(b) ? -1 : real(a, b); }
int link(const char *a, const char *b) { REAL(int, "link", const char *, const char *); return fails_by_name(b) ? -1 : real(a, b); }
int mkdir(const char *a, mode_t m) { REAL(int, "mkdir", const char *, mode_t); return fails_by_name(a) ? -1 : real(a, m); }

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        REAL(int, #name, const char *, int, ...); \
        va_list rest; \
        va_start(rest, flags); \
        mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0; \
        va_end(rest); \
        int makes = flags & O_CREAT && (error_number != ENOSPC || access(path, F_OK)); \
        return makes && fails(path) ? -1 : real(path, flags, mode); \
    }
OPEN(open)
OPEN(open64)
