"""Which plug-ins may run: those that the user allows, now or by a decision that is remembered.

A plug-in is a Python file: whoever runs it lets its author do what the user may do. So a scenario, manifest
or study that names some is only data until its user has said that they may run: for one command
(`--allow-plugins`), or as long as their content stays the same (`gridtune trust`). What is trusted is the
content, by its SHA-256; what is run is what was read for that.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from gridtune.model.plugins import digest, run_plugin
from gridtune.model.policy import PolicyError
from gridtune.plain_text import argument, hidden
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.whole_files import replace_text

LARGEST = 1_000_000  # bytes of a plug-in

_allowed: ContextVar[bool] = ContextVar("plugins are allowed", default=False)


@dataclass(frozen=True)
class Plugin:
    """A file that a scenario names.

    Attributes:
        name: as the scenario has it.
        path: where it is, absolute.
        source: its content.
    """

    name: str
    path: Path
    source: bytes

    @property
    def digest(self) -> str:
        """SHA-256 of its content."""
        return digest(self.source)


def allowed_here() -> bool:
    """Whether scenarios that are made here and now may run their plug-ins."""
    return _allowed.get()


def allow_plugins() -> None:
    """Let all scenarios from now on run their plug-ins."""
    _allowed.set(True)


@contextmanager
def plugins_allowed(yes: bool = True) -> Iterator[None]:
    """Let scenarios that are made within the block run their plug-ins."""
    before = _allowed.set(yes)
    try:
        yield
    finally:
        _allowed.reset(before)


def plugins_of(document: Mapping[str, object], base: Path) -> list[Plugin]:
    """The plug-ins that a document names, read but not run.

    Args:
        document: of a scenario.
        base: its folder, which the files must lie in.

    Raises:
        ScenarioError: a name that is no path of a Python file inside the folder, or it cannot be read.
    """
    names = document.get("plugins", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return []  # the schema says what is wrong
    return [_read(name, base) for name in names]


def run_plugins(plugins: Sequence[Plugin], allowed: bool, pinned: Mapping[str, str]) -> None:
    """Run plug-ins, if they may.

    Args:
        plugins: to run.
        allowed: whether the user has said so for this scenario.
        pinned: SHA-256 by name, of those that a run or a search used.

    Raises:
        ScenarioError: nobody has allowed them, they are not those that are pinned, or one fails.
    """
    changed = [one.name for one in plugins if pinned.get(one.name, one.digest) != one.digest]
    if changed:
        raise ScenarioError(
            f"plugins: {', '.join(changed)}: changed since this was run; put back the file that was used then"
        )
    if not allowed and not trusted(plugins):
        names = " and ".join(str(one.path) for one in plugins)
        files = " ".join(argument(_short(one.path)) for one in plugins)
        raise ScenarioError(
            f"plugins: would run {names} as Python, with all that you may do; if you know what it does, "
            f"`gridtune trust {files}`, or give --allow-plugins"
        )
    for one in plugins:
        try:
            run_plugin(one.path, one.source)
        except PolicyError as error:
            raise ScenarioError(f"plugins: {error}") from error


def trusted(plugins: Sequence[Plugin]) -> bool:
    """Whether it is remembered of each plug-in that it may run."""
    return not plugins or {one.digest for one in plugins} <= remembered().keys()


def remembered() -> dict[str, str]:
    """What may run: SHA-256 of content, with the path that it had when the user said so."""
    try:
        lines = store().read_text(encoding="utf-8").split("\n")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise ScenarioError(f"{store()}: cannot be read: {error}") from error
    return dict(_decision(line, number) for number, line in enumerate(lines, 1) if line)


def _decision(line: str, number: int) -> tuple[str, str]:
    """SHA-256 and path of a line of the store."""
    try:
        made = json.loads(line)
        mark, path = made["sha256"], made["path"]
        if re.fullmatch(r"[0-9a-f]{64}", mark) and isinstance(path, str):
            return mark, path
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise ScenarioError(f"{store()}: line {number}: no decision on a plug-in; remove the line")


def trust(path: Path) -> Plugin:
    """Remember that a Python file may run as long as its content is what it is now.

    Raises:
        ScenarioError: it is no Python file, or cannot be read, or the decision cannot be kept.
    """
    plugin = _read(path.name, path.parent)
    _write({**remembered(), plugin.digest: str(plugin.path)})
    return plugin


def forget(path: Path) -> list[str]:
    """Forget every decision on a file, whatever its content was.

    Returns:
        SHA-256 of what may not run any more.

    Raises:
        ScenarioError: nothing was remembered of it, or that cannot be changed.
    """
    known = remembered()
    resolved = str(path.resolve())
    contents = {digest(path.read_bytes())} if path.is_file() else set()
    gone = [mark for mark, where in known.items() if where == resolved or mark in contents]
    if not gone:
        raise ScenarioError(f"{path}: nothing to forget; `gridtune trust` lists what may run")
    _write({mark: where for mark, where in known.items() if mark not in gone})
    return gone


def changed_trust(files: Sequence[Path], forgotten: bool) -> Iterator[str]:
    """What `gridtune trust` does: trust files, forget them, or list them; says what it did."""
    if not files:
        yield from (f"{mark}  {where}" for mark, where in remembered().items())
    for file in files:
        if forgotten:
            yield from (f"{file}: may not run any more (SHA-256 {mark})" for mark in forget(file))
        else:
            yield f"{file}: may run as a plug-in until it changes (SHA-256 {trust(file).digest})"


def store() -> Path:
    """The file that remembers, a line of JSON for each plug-in; in the user's own settings."""
    try:
        if os.name == "nt":
            folder = Path(os.environ.get("APPDATA") or Path.home())
        else:
            folder = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    except RuntimeError as error:  # who is the user?
        raise ScenarioError(f"no folder for settings: {error}; set XDG_CONFIG_HOME") from error
    return folder / "gridtune" / "trusted-plugins.jsonl"


def _write(known: Mapping[str, str]) -> None:
    path = store()
    text = "".join(json.dumps({"sha256": mark, "path": where}) + "\n" for mark, where in known.items())
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be written: {error.strerror or error}") from error
    replace_text(path, text)


def _read(name: str, base: Path) -> Plugin:
    if fault := hidden(name):
        raise ScenarioError(f"plugins: {fault}")
    try:
        folder = base.resolve()
        path = (folder / name).resolve()
        if path.suffix != ".py":
            raise ScenarioError(f"plugins: {name}: a plug-in is a Python file, with a name that ends in .py")
        if not path.is_relative_to(folder):
            raise ScenarioError(f"plugins: {name}: lies outside of {folder}; put it beside the scenario")
        if not path.is_file():
            raise ScenarioError(f"plugins: {path}: no such file of policies")
        with path.open("rb") as file:
            source = file.read(LARGEST + 1)
    except (OSError, ValueError, RuntimeError) as error:
        if isinstance(error, ScenarioError):
            raise
        raise ScenarioError(f"plugins: {name}: cannot be read: {error}") from error
    if len(source) > LARGEST:
        raise ScenarioError(f"plugins: {name}: has more than {LARGEST} bytes; is it a file of policies?")
    return Plugin(name, path, source)


def _short(path: Path) -> str:
    """As the user may type it."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
