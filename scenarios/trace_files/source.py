"""Opening a trace file, plain or compressed, with errors that say what is wrong with it."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gridtune import limits
from gridtune.scenarios.trace_files.records import TraceError

_OPENERS: dict[bytes, Callable[[Path], io.BufferedIOBase]] = {
    b"\x1f\x8b": gzip.GzipFile,
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}
_NOT_TEXT = {
    b"PK\x03\x04": "a zip archive: unpack it and name the .swf or .gwf file inside",
    b"\x28\xb5\x2f\xfd": "compressed with zstd: unpack it first (gzip, bzip2 and xz are read as they are)",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive: unpack it and name the .swf or .gwf file inside",
    b"SQLite format 3": "an SQLite database: use the text (.gwf) form of the trace",
}
_BUFFER = 1 << 18
_HEAD = 1 << 14


@contextmanager
def opened(path: Path) -> Iterator[io.TextIOBase]:
    """The text of a trace file; compression is recognised by content (gzip, bzip2, xz).

    Bytes that are not UTF-8 become escapes such as `\\xfc`: names with other ones stay apart.

    Raises:
        TraceError: the file is missing, a folder, unreadable, empty, of another kind, truncated or
            corrupt. The latter two show while reading, so they are raised from the body of the `with`.
    """
    try:
        with _binary(path) as binary:
            bounded = _Bounded(binary, path)
            buffered = io.BufferedReader(bounded, _BUFFER)
            yield io.TextIOWrapper(buffered, encoding="utf-8-sig", errors="backslashreplace")
    except FileNotFoundError:
        raise TraceError(f"{path}: no such file; check the name of the trace") from None
    except IsADirectoryError:
        raise TraceError(f"{path}: is a folder; name the trace file in it") from None
    except EOFError:
        raise TraceError(f"{path}: the compressed data end too early; fetch the file again") from None
    except (zlib.error, lzma.LZMAError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            reason = f"cannot be read ({error.strerror}); check the file and its permissions"
        else:  # gzip and bzip2 say so by an OSError without a number
            reason = f"the compressed data are corrupt ({error}); fetch the file again"
        raise TraceError(f"{path}: {reason}") from None


class _Bounded(io.RawIOBase):
    """What is read of a file, as long as it can be a trace: no line without end, no file that swells.

    Args:
        binary: the file, decompressed.
        path: of it.
    """

    def __init__(self, binary: io.BufferedIOBase, path: Path) -> None:
        self._binary, self._path = binary, path
        packed = path.stat().st_size
        self._most = min(limits.TRACE_BYTES, max(limits.TRACE_FREE, limits.TRACE_RATIO * packed))
        self._read = self._since_line = 0

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Some more of the file; 0 at its end."""
        count = self._binary.readinto(buffer)
        found = memoryview(buffer)[:count].tobytes().rfind(b"\n")
        self._read += count
        self._since_line = self._since_line + count if found < 0 else count - found - 1
        if self._since_line > limits.LINE_BYTES:
            raise TraceError(f"{self._path}: a line of more than {limits.LINE_BYTES:,} bytes; is it a trace?")
        if self._read > self._most:
            raise TraceError(f"{self._path}: more than {self._most:,} bytes when unpacked; is it a trace?")
        return count


def _binary(path: Path) -> io.BufferedIOBase:
    """The file as bytes, decompressed."""
    with path.open("rb") as raw:
        magic = raw.read(16)
    if not magic:
        raise TraceError(f"{path}: is empty; fetch the file again")
    for start, remedy in _NOT_TEXT.items():
        if magic.startswith(start):
            raise TraceError(f"{path}: is {remedy}")
    for start, opener in _OPENERS.items():
        if magic.startswith(start):
            return opener(path)
    return path.open("rb")


def head(path: Path) -> str:
    """The beginning of the text of a trace file.

    Raises:
        TraceError: as `opened`, or the content is not text.
    """
    with opened(path) as stream:
        text = stream.read(_HEAD)
    strange = sum(character < " " and character not in "\t\n\r\f" for character in text) + text.count("\\x")
    if strange > len(text) / 20:
        raise TraceError(f"{path}: is not text; expected a trace in SWF or GWF, plain or compressed")
    return text
