"""Draw docs/figures/watch.png anew: the live view of a run, as a browser without a window shows it.

    python docs/making/watch_picture.py

Needs the extra [watch] and Chromium, which is told what to do in its own protocol (Chrome DevTools).
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from itertools import count
from pathlib import Path
from typing import Any

from figures import WATCH, shrink
from pages import DOCS, ROOT
from stamps import stamp
from websockets.sync.client import ClientConnection, connect

WATCHED = ("federation/small", "--step-length", "600")
STEPS = 14  # 140 minutes of the run
WIDTH, HEIGHT = 1400, 980
STEP = "document.body ? (document.body.innerText.match(/Step: *(\\d+)/) || [0, -1])[1] : -1"
CLICK = (
    "[...document.querySelectorAll('button')].find(b => b.innerText.trim().toLowerCase() == 'step').click()"
)


class Tab:
    """A page in the browser.

    Args:
        socket: to it.
    """

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._numbers = count(1)

    def ask(self, method: str, **values: Any) -> dict[str, Any]:
        """What the browser answers."""
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": values}))
        while (heard := json.loads(self._socket.recv(timeout=120))).get("id") != number:
            pass
        return heard["result"]

    def value(self, script: str) -> Any:
        """What a script gives."""
        return self.ask("Runtime.evaluate", expression=script)["result"].get("value")

    def wait(self, step: int) -> None:
        """Wait until so many steps are shown.

        Raises:
            SystemExit: they are not within two minutes.
        """
        end = time.monotonic() + 120
        while int(self.value(STEP)) != step:
            if time.monotonic() > end:
                raise SystemExit(f"step {step} is never shown")
            time.sleep(0.2)


def main() -> None:
    """Start both, step, and take the picture."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        raise SystemExit("no Chromium to draw the page with")
    words = [sys.executable, "-m", "gridtune", "watch", *WATCHED, "--no-browser", "--port", "0"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment)
        assert server.stdout is not None
        address = server.stdout.readline().split()[0]
        browser = subprocess.Popen(
            [chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0",
             f"--user-data-dir={folder}", f"--window-size={WIDTH},{HEIGHT}", address],
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            picture = Path(folder) / WATCH
            picture.write_bytes(drawn(Path(folder) / "DevToolsActivePort", address))
            shrink(picture, DOCS / "figures" / WATCH)
            stamp(f"figures/{WATCH}")
        finally:
            for process in (browser, server):
                process.terminate()
                process.wait()


def drawn(port: Path, address: str) -> bytes:
    """The picture of the page after `STEPS` steps, as PNG.

    Args:
        port: file in which the browser says where it listens.
        address: of the page.
    """
    while not port.exists():
        time.sleep(0.2)
    number = port.read_text(encoding="utf-8").split()[0]
    with urllib.request.urlopen(f"http://127.0.0.1:{number}/json") as answer:
        tabs = json.load(answer)
    where = next(tab["webSocketDebuggerUrl"] for tab in tabs if tab["url"].startswith(address.rstrip("/")))
    with connect(where, max_size=None) as socket:
        tab = Tab(socket)
        size = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
        tab.ask("Emulation.setDeviceMetricsOverride", **size)
        for step in range(STEPS):
            tab.wait(step)
            tab.value(CLICK)
        tab.wait(STEPS)
        time.sleep(5.0)  # pictures of the page come after its text
        return base64.b64decode(tab.ask("Page.captureScreenshot")["data"])


if __name__ == "__main__":
    main()
