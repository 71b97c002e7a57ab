"""The comment lines at the top of a trace, by key."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

# A key ends in a colon and blank or the end: `http://…` is none. Grid traces have keys of several words.
_ENTRY = re.compile(r"(?P<key>[A-Za-z]\w*(?: \w+){0,2}):(?:\s+(?P<value>.*))?$")
_INTEGER = re.compile(r"\s*([0-9]{1,9})(?![\w.])")  # no system has more processors
_PROCESSORS = ("MaxProcs", "Processors", "MaxNodes", "Nodes")


class TraceHeader(Mapping[str, str]):
    """The header of a trace: a mapping of keys to text.

    A key that is repeated (`Queue`, `Note`) gives its values as lines of one text, in order. A comment line
    without a key continues the value above it.
    """

    def __init__(self) -> None:
        self._values: dict[str, list[str]] = {}
        self._last: list[str] | None = None

    def add(self, line: str) -> None:
        """Take in one comment line, with its leading `;` or `#`."""
        text = line.strip().lstrip(";#").strip()
        entry = _ENTRY.match(text)
        if entry:
            self._last = self._values.setdefault(entry["key"], [])
            self._last.append(entry["value"] or "")
        elif not text:
            self._last = None
        elif self._last is not None:
            self._last.append(text)

    def __getitem__(self, key: str) -> str:
        return "\n".join(self._values[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def integer(self, key: str) -> int | None:
        """The number that a value begins with (`70  (dual)` gives 70); None without key or number."""
        found = _INTEGER.match(self.get(key, ""))
        return int(found[1]) if found else None

    @property
    def processors(self) -> int | None:
        """Processors of the whole system as the header has them, nodes where it has no processors."""
        numbers = (self.integer(key) for key in _PROCESSORS)
        return next((number for number in numbers if number), None)

    @property
    def site_names(self) -> dict[str, str]:
        """Names of the partitions by number, from lines such as `Partition:  2 lancs.ac.uk`."""
        entries = (value.split(None, 1) for value in self._values.get("Partition", ()))
        return {entry[0]: entry[1] for entry in entries if len(entry) == 2 and entry[0].isdecimal()}
