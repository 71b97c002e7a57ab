"""The rows that the pages of an SQLite file still hold, read without SQLite, which gives up a damaged file.

Every page that looks like a leaf of a table is read by itself, and what does not decode is passed over. So
rows may be found that were deleted, or twice, and whatever reads them must know good ones from bad.

Source: https://www.sqlite.org/fileformat2.html, sections 1.3, 1.5, 1.6 and 2.1.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

Cell = int | float | str | bytes | None

LEAF = 0x0D  # of a table
HEAD = 100  # bytes of the file's header, on the first page
SIZES = [1 << power for power in range(9, 17)]  # that pages may have
USUAL = 4096
INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}  # bytes by serial type


def rows(file: Path) -> Iterator[list[Cell]]:
    """Every row that can be found; its number stands in the place of its first cell where that is empty."""
    content = file.read_bytes()
    said = int.from_bytes(content[16:18])
    size = said if said in SIZES else USUAL
    for start in range(0, len(content), size):
        page = content[start : start + size]
        head = HEAD if start == 0 else 0
        if len(page) == size and page[head] == LEAF:
            for at in range(int.from_bytes(page[head + 3 : head + 5])):
                try:
                    place = int.from_bytes(page[head + 8 + 2 * at : head + 10 + 2 * at])
                    yield _row(content, page, place)
                except (ValueError, IndexError, struct.error):
                    continue


def _row(content: bytes, page: bytes, at: int) -> list[Cell]:
    length, at = _varint(page, at)
    number, at = _varint(page, at)
    row = _cells(_payload(content, page, at, length))
    return [number, *row[1:]] if row and row[0] is None else row


def _payload(content: bytes, page: bytes, at: int, length: int) -> bytes:
    """What a cell holds, of which the end may be on further pages."""
    size = len(page)
    if length > len(content):
        raise ValueError("longer than the file")
    most, least = size - 35, (size - 12) * 32 // 255 - 23
    if length <= most:
        return page[at : at + length]
    here = least + (length - least) % (size - 4)
    here = here if here <= most else least
    found = page[at : at + here]
    following = int.from_bytes(page[at + here : at + here + 4])
    while following and len(found) < length:
        start = (following - 1) * size
        found += content[start + 4 : start + size]
        following = int.from_bytes(content[start : start + 4])
    if len(found) < length:
        raise ValueError("its end is missing")
    return found[:length]


def _cells(payload: bytes) -> list[Cell]:
    end, at = _varint(payload, 0)
    kinds = []
    while at < end:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    cells: list[Cell] = []
    for kind in kinds:
        cell, at = _cell(payload, kind, at)
        cells.append(cell)
    return cells


def _cell(payload: bytes, kind: int, at: int) -> tuple[Cell, int]:
    if kind == 0:
        return None, at
    if kind in (8, 9):
        return kind - 8, at
    if kind == 7:
        (number,) = struct.unpack(">d", payload[at : at + 8])
        return number, at + 8
    if kind in INTEGERS:
        length = INTEGERS[kind]
        return int.from_bytes(payload[at : at + length], signed=True), at + length
    if kind < 12:
        raise ValueError("no such type")
    length = (kind - 12) // 2
    part = payload[at : at + length]
    if len(part) < length:
        raise ValueError("too short")
    return (part.decode() if kind % 2 else part), at + length


def _varint(content: bytes, at: int) -> tuple[int, int]:
    """A number of up to 9 bytes, and where the next thing begins."""
    value = 0
    for count in range(9):
        byte = content[at + count]
        if count == 8:
            return value << 8 | byte, at + 9
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + count + 1
    raise AssertionError("the ninth byte ends it")
