"""Plug-ins: Python files that register policies, run once, and what is said of their faults.

Whether a file may run is not decided here: see `scenarios.document.trust`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from hashlib import sha256
from pathlib import Path
from types import FrameType, ModuleType, TracebackType

from gridtune.model.policy import (
    PLUGIN_DIGEST,
    Policy,
    PolicyError,
    check_defaults,
    is_own,
    loading,
    unregister,
)

PREFIX = "gridtune_plugin_"  # of the names of their modules

_loaded: dict[str, str] = {}  # SHA-256 of the file that was run last, by path


def digest(source: bytes) -> str:
    """SHA-256 of a file, in hexadecimal digits."""
    return sha256(source).hexdigest()


def run_plugin(path: Path, source: bytes) -> None:
    """Run a plug-in, unless it has been run as it is now.

    Args:
        path: of the file, absolute; named in what goes wrong.
        source: its content, which is what was trusted: the file is not read again.

    Raises:
        PolicyError: it fails; the message names the line.
    """
    mark = digest(source)
    if _loaded.get(str(path)) == mark:
        return
    name = f"{PREFIX}{path.stem}_{sha256(str(path).encode()).hexdigest()[:8]}"
    module = ModuleType(name)
    module.__file__ = str(path)
    setattr(module, PLUGIN_DIGEST, mark)
    sys.modules[name] = module  # types of parameters are looked up there
    before = loading.set(str(path))
    try:
        with guarded():
            _execute(source, path, module)
    except PolicyError:
        unregister(name)
        raise
    finally:
        loading.reset(before)
    _loaded[str(path)] = mark


def _execute(source: bytes, path: Path, module: ModuleType) -> None:
    try:
        exec(compile(source, str(path), "exec"), module.__dict__)
        for policy in vars(module).values():
            if (
                isinstance(policy, type)
                and issubclass(policy, Policy)
                and policy.__module__ == module.__name__
            ):
                check_defaults(policy)  # while it can be said in which file it stands
    except SyntaxError as error:
        raise PolicyError(f"{path}: line {error.lineno}: {error.msg}") from error
    except Exception as error:
        what = f"{type(error).__name__}: {error}" if is_own(type(error)) else str(error)
        raise PolicyError(f"{_file_and_line(path, error)}: {' '.join(what.split())}") from error


@contextmanager
def guarded() -> Iterator[None]:
    """Let code of plug-ins print to standard error only, and not end the process.

    Raises:
        PolicyError: it called `sys.exit`.
    """
    with redirect_stdout(sys.stderr):
        try:
            yield
        except SystemExit as error:
            raise PolicyError(f"{place(error) or 'a plug-in'}: called sys.exit({error.code!r})") from error


def place(error: BaseException) -> str:
    """Where in code that is not gridtune's a policy failed: its name, file and line; "" if nowhere."""
    found = ""
    policy = ""
    for frame, line in _frames(error.__traceback__):
        owner = frame.f_locals.get("self")
        if isinstance(owner, Policy) and is_own(type(owner)):
            policy = f"policy {owner.kind}, "
        if policy or frame.f_globals.get("__name__", "").startswith(PREFIX):
            found = f"{policy}{frame.f_code.co_filename}, line {line}"
    return found


def _file_and_line(path: Path, error: BaseException) -> str:
    lines = [line for frame, line in _frames(error.__traceback__) if frame.f_code.co_filename == str(path)]
    return f"{path}: line {lines[-1]}" if lines else str(path)


def _frames(trace: TracebackType | None) -> Iterator[tuple[FrameType, int]]:
    while trace is not None:
        yield trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next
