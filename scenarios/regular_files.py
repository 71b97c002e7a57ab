"""Regular files: what came from somebody else may hold a pipe or a device instead, which never ends."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

ONLY_IF_THERE = getattr(os, "O_NONBLOCK", 0)  # a pipe is not waited for


def open_regular(path: Path | str, most: int | None = None, *, follow: bool = True) -> BinaryIO:
    """Open a regular file to read its bytes.

    Args:
        path: of the file.
        most: bytes that it may have.
        follow: whether it may be a link.

    Raises:
        OSError: it cannot be opened, is no regular file, or is larger.
    """
    link = 0 if follow else getattr(os, "O_NOFOLLOW", 0)
    flags = os.O_RDONLY | ONLY_IF_THERE | link | getattr(os, "O_BINARY", 0)
    file = os.fdopen(os.open(path, flags), "rb")
    found = os.fstat(file.fileno())
    if not stat.S_ISREG(found.st_mode):
        file.close()
        raise OSError(errno.EINVAL, "no regular file", str(path))
    if most is not None and found.st_size > most:
        file.close()
        raise OSError(errno.EFBIG, f"has more than {most:,} bytes", str(path))
    return file


def text_of(path: Path | str, most: int, errors: str = "strict") -> str:
    """The text in UTF-8 of a regular file, without the mark that some editors put before it.

    Args:
        path: of the file.
        most: bytes that it may have.
        errors: what to do about bytes that are no text, as for `open`.

    Raises:
        OSError: see `open_regular`.
        UnicodeDecodeError: it is no text in UTF-8.
    """
    with open_regular(path, most) as file:
        text = file.read(most).decode("utf-8-sig", errors)
    return text.replace("\r\n", "\n").replace("\r", "\n")
