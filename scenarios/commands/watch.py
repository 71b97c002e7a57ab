"""What `gridtune watch` does: serve the live view of a scenario to browsers of this machine."""

from __future__ import annotations

import errno
import logging
import os
import secrets
import socket
import sys
import tempfile
import threading
import warnings
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from html import escape
from importlib.util import find_spec
from pathlib import Path

from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.execution.prepare import prepare
from gridtune.scenarios.simulation.simulate import simulate
from gridtune.scenarios.watch.guard import Guard

HOST = "127.0.0.1"  # nobody else's business
NEEDED = ("solara", "ipyvuetify", "networkx", "altair", "uvicorn")
HOW = "the extra brings all: pip install 'gridtune[watch]'"
ENVIRONMENT = {
    "SOLARA_APP": "gridtune.scenarios.watch.page",
    "SOLARA_TELEMETRY_MIXPANEL_ENABLE": "false",  # nothing leaves this machine
    "SOLARA_THEME_SHOW_BANNER": "false",
}


def watch(
    scenario: Scenario, seed: int, *, steps: int, step_length: float | None, port: int, browser: bool
) -> None:
    """Serve the live view until Ctrl-C.

    Args:
        steps: that a whole run takes, about: the scenario is run once to see how long it lasts.
        step_length: s that a step advances; then there is no need to.
        port: to listen at; 0 for any that is free, which is taken, too, if somebody else listens there.

    Raises:
        ScenarioError: the extra is not installed, or one may not listen there.
    """
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        raise ScenarioError(f"watch: {', '.join(missing)} not installed; {HOW}")
    try:
        with _listen(port) as listener:
            prepare(scenario)
            _serve(scenario, seed, step_length or _step_length(scenario, seed, steps), listener, browser)
    except KeyboardInterrupt:
        return  # this is how it ends


def _listen(port: int) -> socket.socket:
    """Listen at a port, or at any that is free where somebody else listens."""
    try:
        return socket.create_server((HOST, port))
    except OSError as error:
        if error.errno == errno.EADDRINUSE and port:
            print(f"gridtune: port {port} is taken; another one it is", file=sys.stderr)
            return _listen(0)
        why = os.strerror(error.errno) if error.errno else error
        raise ScenarioError(f"watch: port {port}: {why}; choose another with --port, or 0 for any") from error


def _step_length(scenario: Scenario, seed: int, steps: int) -> float:
    """A round step length with which a run takes about so many steps, s."""
    print("gridtune: one run to see how long it lasts (--step-length spares it)", file=sys.stderr)
    end = simulate(scenario, seed).end
    return float(f"{end / steps:.2g}") if end > 0 else 1.0


def _serve(scenario: Scenario, seed: int, length: float, listener: socket.socket, browser: bool) -> None:
    os.environ |= ENVIRONMENT | {"SOLARA_THEME_TITLE": f"gridtune: {scenario.name}"}
    os.environ.setdefault("SOLARA_SESSION_SECRET_KEY", secrets.token_hex())
    warnings.filterwarnings("ignore", module="solara")  # on how Mesa uses it
    try:
        import solara.server.starlette
        import uvicorn

        from gridtune.scenarios.watch import page
    except ImportError as error:
        raise ScenarioError(f"watch: {error}; {HOW}") from error

    page.SHOWN.append((scenario.override({"step_length": length}), seed))
    port = listener.getsockname()[1]
    guard = Guard(solara.server.starlette.app, port)
    config = uvicorn.Config(
        guard, host=HOST, log_level="critical", timeout_graceful_shutdown=1, proxy_headers=False
    )

    class Server(uvicorn.Server):
        def handle_exit(self, sig: int, frame: object) -> None:
            logging.getLogger("solara").setLevel(logging.CRITICAL)  # open pages find that they are closed
            page.CLOSING.set()
            super().handle_exit(sig, frame)

    address = f"http://{HOST}:{port}{guard.path}"
    print(f"{address}  ({scenario.name}, {length:g} s a step; Ctrl-C ends)", flush=True)
    with _leading_to(address) if browser else nullcontext() as page_file:
        if page_file:
            # It may come before the server is up: the socket listens already.
            threading.Thread(target=webbrowser.open, args=(page_file.as_uri(),), daemon=True).start()
        Server(config).run(sockets=[listener])


@contextmanager
def _leading_to(address: str) -> Iterator[Path]:
    """A page that only this user can read and that leads to an address.

    Everybody on the machine sees with what words a browser is started: the address must not be among them.
    """
    with tempfile.NamedTemporaryFile("w", prefix="gridtune-watch-", suffix=".html", encoding="utf-8") as file:
        file.write(f'<meta http-equiv="refresh" content="0; url={escape(address)}">\n')
        file.flush()
        yield Path(file.name)
