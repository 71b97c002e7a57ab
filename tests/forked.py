"""Commands in processes that are forked once everything is imported: much cheaper than new ones."""

from __future__ import annotations

import atexit
import importlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from gridtune import cli
from tests.processes import TESTS, environment

HEAVY = (  # what commands import, so that it is imported once
    "matplotlib.pyplot", "pandas", "pyarrow.parquet", "pymoo.core.algorithm",
    "seaborn", "jinja2",
    "gridtune.optimize.commands.search", "gridtune.optimize.commands.sensitivity",
    "gridtune.optimize.report.pictures.draw",
)  # fmt: skip
MEMORY = 4_000_000 * 1024  # bytes of address space, as `ulimit -v 4000000`, in which every command works


def warm_up() -> None:
    """Import what commands import."""
    for module in HEAVY:
        importlib.import_module(module)
    os.environ["MPLBACKEND"] = "Agg"


def command(words: Sequence[str], out: Path | str, err: Path | str) -> int:
    """In a forked process: exit code of a command whose output goes to files; both may be the same."""
    for path, stream in ((os.devnull, 0), (out, 1), (err, 2)):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600), stream)
    sys.stdin, sys.stdout, sys.stderr = (
        open(at, "r" if at == 0 else "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        for at in range(3)
    )
    sys.argv = ["gridtune", *words]
    sys.modules["__main__"].__package__ = ""  # as in the installed script
    code = 0
    try:
        cli.main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def called(
    words: Sequence[str], cwd: Path | str, timeout: float, **more: str
) -> subprocess.CompletedProcess[str]:
    """What a command gives, in a process of its own with our environment and more, and 4 GB of address space.

    Raises:
        subprocess.TimeoutExpired: it has not ended after so many seconds; it is killed.
    """
    server = _server(os.getpid())
    assert server.stdin is not None
    assert server.stdout is not None
    with tempfile.TemporaryDirectory() as folder:
        out, err = (Path(folder, name) for name in ("out", "err"))
        request = {"words": words, "cwd": str(cwd), "env": {**os.environ, **more}}
        request |= {"out": str(out), "err": str(err), "timeout": timeout}
        server.stdin.write(json.dumps(request) + "\n")
        server.stdin.flush()
        answer = server.stdout.readline()
        code = json.loads(answer)
        if code is None:
            raise subprocess.TimeoutExpired(list(words), timeout)
        return subprocess.CompletedProcess(
            list(words), code, *(path.read_text("utf-8") for path in (out, err))
        )


@cache
def _server(_parent: int) -> subprocess.Popen[str]:
    """The process that commands are forked from; it ends with the one that has started it."""
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.forked"],
        cwd=TESTS.parent, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    atexit.register(server.communicate)
    return server


def _serve() -> None:
    """Answer each request, a line of JSON, with the exit code of its command; null if it took too long."""
    warm_up()
    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if not child:
            _obey(request)
        print(json.dumps(waited(child, request["timeout"])), flush=True)


def _obey(request: dict[str, Any]) -> None:
    code = 99
    try:
        os.setsid()
        os.chdir(request["cwd"])
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        os.environ.clear()
        os.environ.update(request["env"])
        code = command(request["words"], request["out"], request["err"])
    finally:
        os._exit(code)


def waited(child: int, timeout: float) -> int | None:
    """Exit code of a forked command that leads a group; None if it had to be killed after so many seconds."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


if __name__ == "__main__":
    _serve()
