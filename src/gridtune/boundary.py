"""Where a command ends: whatever happens becomes an exit code, and a line that says what, where and why."""

from __future__ import annotations

import codecs
import errno
import gc
import logging
import os
import platform
import re
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from contextvars import copy_context
from typing import Annotated, Any, NoReturn

import typer
from typer.main import get_command

from gridtune import help_panels
from gridtune.plain_text import PatientStream, PlainStream, escaped
from gridtune.signals import ending_signals

REFUSED = 2
CRASHED = 3
INTERRUPTED = 130
GARBAGE_ROUND = 300_000  # new objects between two rounds of the cyclic garbage collector
MOST_LINES = 50  # of what is wrong with one document
LONGEST = 2_100  # characters of a line; what is echoed of an option may be endless

# What stands for a character where the output cannot hold it, as on a terminal that knows ASCII only.
_PLAIN = str.maketrans({"–": "-", "—": "-", "−": "-", "…": "...", "±": "+-", "×": "x", "≤": "<=", "≥": ">=",
                        "·": ".", "’": "'", "‘": "'", "“": '"', "”": '"', " ": " "})  # fmt: skip
_SECRET = re.compile(r"(://[^:/@\s]*):[^@/\s]*@")

_show_traceback = False


def run(command: Callable[[], Any]) -> NoReturn:
    """Run a command of Typer's to the end of the process."""
    gc.set_threshold(GARBAGE_ROUND)  # what imports make stays: it need not be looked through again and again
    for number in ending_signals()[1:]:  # Ctrl-C does so anyway
        signal.signal(number, _terminate)
    _make_output_writable()
    notes = _Notes()
    logger = logging.getLogger("gridtune")
    logger.addHandler(notes)
    logger.setLevel(logging.INFO)
    with redirect_stdout(PlainStream(sys.stdout)), redirect_stderr(PatientStream(sys.stderr)):
        try:
            _check_text(sys.argv[1:])
            code = copy_context().run(command)
            if code == INTERRUPTED:  # Typer turns Ctrl-C into this
                raise KeyboardInterrupt
            sys.stdout.flush()
        except BaseException as error:
            code = _end(error)
        finally:
            logger.removeHandler(notes)
    gc.freeze()  # what is left ends with the process: nobody need look through it
    sys.exit(code)


def _check_text(words: Sequence[str]) -> None:
    """Refuse what no result could hold: names of files may be any bytes."""
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError:
            raise typer.BadParameter(f"{word[:200]!r}: is no text in UTF-8; rename it") from None


class _Notes(logging.Handler):
    """Notes of a command go to what standard error is when they are said."""

    def emit(self, record: logging.LogRecord) -> None:
        print(f"gridtune: {escaped(record.getMessage())}", file=sys.stderr)


class Group(help_panels.Group):
    """A group of commands each of which has the options that all have."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for command in (self, *self.commands.values()):
            known = {name for parameter in command.params for name in parameter.opts}
            command.params += [option for option in _common() if not known & set(option.opts)]


def _common() -> list[Any]:
    """Options of every command: those of a command that has no others."""
    app = typer.Typer(add_completion=False)
    app.command()(_bare)
    return [option for option in get_command(app).params if "--help" not in option.opts]


def _allow_plugins(given: bool) -> None:
    if given:
        from gridtune.scenarios.document.trust import allow_plugins

        allow_plugins()


def _trace(given: bool) -> None:
    if given:
        global _show_traceback
        _show_traceback = True


def _verbose(given: bool) -> None:
    if given:
        logging.getLogger("gridtune").setLevel(logging.DEBUG)


def _version(given: bool) -> None:
    if given:
        print(f"gridtune {version()}")
        raise typer.Exit


def _option(names: str, act: Callable[[bool], None], help: str) -> Any:
    return typer.Option(*names.split(), help=help, callback=act, is_eager=True, expose_value=False)


def _bare(
    allow_plugins: Annotated[
        bool, _option("--allow-plugins", _allow_plugins, "Run Python files that a scenario or study names.")
    ] = False,
    traceback: Annotated[bool, _option("--traceback", _trace, "Show where an error arose.")] = False,
    verbose: Annotated[
        bool, _option("--verbose -v", _verbose, "Say more of what is replayed, on standard error.")
    ] = False,
    version: Annotated[bool, _option("--version", _version, "Print the version.")] = False,
) -> None:
    """A command with the options that all have."""


def version() -> str:
    """Of the installed distribution."""
    from gridtune.version import __version__

    return __version__


def _end(error: BaseException) -> int | str | None:
    """Say what an exception means, and return the exit code."""
    global _show_traceback
    shown, _show_traceback = _show_traceback, False
    if isinstance(error, SystemExit):
        if isinstance(error.__context__, BrokenPipeError):  # of some other pipe: Typer turns it into this
            return _end(error.__context__)
        return error.code
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        return _said("interrupted", code=INTERRUPTED)
    if isinstance(error, typer.TyperException):
        message: str = getattr(error, "format_message", error.__str__)()
        if message.startswith("Usage:"):  # a call without arguments is shown the help it lacks
            print(message, file=sys.stderr)
            return REFUSED
        return _said(message.replace(": Value error, ", ": ", 1))  # as Pydantic begins, which Typer may ask
    if shown:
        trace = "".join(traceback.format_exception(error)) + getattr(error, "trace", "")
        print(escaped(trace, "\n\t"), end="", file=sys.stderr)
    if isinstance(error, MemoryError):
        needed = f" ({error})" if str(error) else ""
        return _said(
            f"out of memory{needed}; fewer --jobs, fewer --replications or a smaller scenario need less"
        )
    if isinstance(error, ValueError | OSError):
        # Our own errors are ValueErrors made for the user; others are faults of ours.
        from gridtune.model.policy import PolicyError
        from gridtune.scenarios.errors import ScenarioError

        if isinstance(error, ScenarioError):
            return _said(*error.faults)
        if isinstance(error, PolicyError):
            return _said(str(error))
        if isinstance(error, OSError):
            if isinstance(error.filename, str | bytes) and error.strerror:
                return _said(f"{os.fsdecode(error.filename)}: {error.strerror}")
            return _said(error.strerror or str(error))
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return _said(
        f"a fault of gridtune itself, {' '.join(what.split())[:200]}; report: {_report(error)}", code=CRASHED
    )


def _said(*messages: str, code: int = REFUSED) -> int:
    """Print a line for each message; what would move the cursor or colour a terminal is escaped."""
    lines = [line for message in messages for line in message.splitlines() or [""]]
    if len(lines) > MOST_LINES:
        lines[MOST_LINES:] = [f"and {len(lines) - MOST_LINES} more"]
    for line in lines:
        if len(line) > LONGEST:
            line = f"{line[:LONGEST]}…"
        print(f"gridtune: {escaped(line)}", file=sys.stderr)
    return code


def _report(error: BaseException) -> str:
    """Write down what a developer needs to know of a crash; passwords of URLs are left out."""
    call = " ".join(sys.argv[1:])
    facts = f"gridtune {version()}, Python {platform.python_version()}, {platform.platform()}\n"
    trace = "".join(traceback.format_exception(error)) + getattr(error, "trace", "")
    text = _SECRET.sub(r"\1:***@", f"{facts}gridtune {call}\n\n{trace}")
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="gridtune-crash-", suffix=".txt", delete=False, encoding="utf-8", errors="replace"
        ) as file:
            file.write(text)
    except OSError:
        print(text, file=sys.stderr)
        return "above, as it could not be written to a file"
    return file.name


def _make_output_writable() -> None:
    """Let no character of a result be one that standard output cannot hold: it is written in others."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # it was closed by whoever started us; its number goes to no other file
            nowhere = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
            setattr(sys, name, _Closed(nowhere) if name == "stdout" else nowhere)
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="gridtune.readable")


class _Closed(PatientStream):
    """Standard output that takes nothing: a result is not to be lost in silence."""

    def write(self, text: str) -> int:
        raise OSError(errno.EBADF, "standard output is closed")


def _readable(error: UnicodeError) -> tuple[str, int]:
    """Plain characters for typographic ones, and for all others escapes as JSON has them, too."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(_PLAIN)
    units = (text[at : at + 1].encode("utf-16-be", "surrogatepass") for at in range(len(text)))
    escaped = (
        letter if letter.isascii() else "".join(f"\\u{pair.hex()}" for pair in (unit[:2], unit[2:]) if pair)
        for letter, unit in zip(text, units, strict=True)
    )
    return "".join(escaped), error.end


codecs.register_error("gridtune.readable", _readable)


def _terminate(_signal: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt
