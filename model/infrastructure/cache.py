"""A cache of input files at a site."""

from __future__ import annotations


class Cache:
    """Files kept up to a total size; those not used for longest give way (LRU).

    A file counts as used when it is found, and when it comes. One larger than the cache is never kept.

    Args:
        size: bytes.

    Attributes:
        hits: times that a file was found.
        misses: times that one was not.
        bytes_found: of all files found, each time.
        held: bytes of the files kept now.
    """

    def __init__(self, size: float) -> None:
        self.size = size
        self.hits = 0
        self.misses = 0
        self.bytes_found = 0.0
        self.held = 0.0
        self._files: dict[str, float] = {}  # the one not used for longest is first

    def find(self, file: str) -> bool:
        """Whether a file is here that is needed now."""
        size = self._files.pop(file, None)
        if size is None:
            self.misses += 1
            return False
        self._files[file] = size
        self.hits += 1
        self.bytes_found += size
        return True

    def keep(self, file: str, size: float) -> None:
        """Take a file in that has come, of so many bytes, and let others go for it."""
        if size > self.size:
            return
        self.held += size - self._files.pop(file, 0.0)
        self._files[file] = size
        while self.held > self.size:
            self.held -= self._files.pop(next(iter(self._files)))
