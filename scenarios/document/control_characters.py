"""Control characters in a document: refused in every name and value, as both are written to many places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gridtune.plain_text import escaped, hidden

PROSE = {"description", "source", "requirements"}  # keys of texts that may have several lines


def control_characters(document: Mapping[str, object]) -> Iterator[str]:
    """A line for each key or text of a document that has a control character, with its path."""
    left: list[tuple[str, object]] = [("", document)]
    while left:
        path, value = left.pop()
        if isinstance(value, str):
            lines = value.replace("\t", " ").split("\n") if path.rpartition(".")[2] in PROSE else [value]
            faults = [fault for line in lines if (fault := hidden(line))]
            yield from (f"{path}: {fault}" for fault in faults[:1])
        elif isinstance(value, Mapping):
            for key, inner in value.items():
                if fault := hidden(str(key)):
                    yield f"{path or 'keys'}: {fault}"
                left.append((f"{path}.{escaped(str(key))}".removeprefix("."), inner))
        elif isinstance(value, list | tuple):
            left += [(_element(path, inner), inner) for inner in value]


def _element(path: str, inner: object) -> str:
    """The path of an element of an array: tables have names."""
    name = inner.get("name") if isinstance(inner, Mapping) else None
    return f"{path}.{escaped(name)}" if isinstance(name, str) and name != path else path
