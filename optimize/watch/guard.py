"""Who may see and control the live view: whoever has the token of the printed address, on this machine.

The server listens on loopback, but every site that is open in a browser of this machine can send requests
there, and so can every other user of the machine. So each request must name the server as its host (no other
site's name may lead here), come from its own page or from no page, and bring the token.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qs

NAMES = ("127.0.0.1", "localhost")
FIELD = "token"

Send = Callable[[Mapping[str, Any]], Awaitable[None]]
App = Callable[[Mapping[str, Any], Callable[[], Awaitable[Any]], Send], Awaitable[None]]


class Guard:
    """An ASGI application that lets through to another one what brings the token.

    The token of the address becomes a cookie, with which the page gets its scripts and opens its socket.

    Args:
        port: at which it is served.

    Attributes:
        path: of the page, with the token.
    """

    def __init__(self, app: App, port: int) -> None:
        self._app = app
        self._token = secrets.token_urlsafe(32)
        self._cookie = f"gridtune-watch-{port}"  # cookies hold for all ports of a host
        self._hosts = {f"{name}:{port}" for name in NAMES} | {name for name in NAMES if port == 80}
        self.path = f"/?{FIELD}={self._token}"

    async def __call__(
        self, scope: Mapping[str, Any], receive: Callable[[], Awaitable[Any]], send: Send
    ) -> None:
        """Pass a request on, turn the token into a cookie, or refuse."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        if fault := self._stranger(headers):
            await _refuse(scope, send, fault)
        elif any(map(self._is_token, _given(headers, self._cookie))):
            await self._app(scope, receive, send)
        elif scope["type"] == "http" and self._is_token(_asked(scope)):
            cookie = f"{self._cookie}={self._token}; HttpOnly; SameSite=Lax; Path=/"
            await _answer(send, 303, "", {"location": "/", "set-cookie": cookie})
        else:
            await _refuse(scope, send, "open the address that `gridtune watch` has printed: it has a token")

    def _stranger(self, headers: Mapping[str, list[str]]) -> str:
        """Why a request does not come from our own page or from no page; "" if it does."""
        hosts, origins = headers.get("host", []), headers.get("origin", [])
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            expected = " or ".join(sorted(self._hosts))
            return f"host: expected {expected}; a tunnel needs the same port at both ends"
        if origins and origins != [f"http://{hosts[0]}"]:
            return "origin: another page may not use this one"
        return ""

    def _is_token(self, given: str) -> bool:
        return secrets.compare_digest(given.encode("utf-8", "replace"), self._token.encode())


def _given(headers: Mapping[str, list[str]], name: str) -> Iterator[str]:
    """The values of a cookie; others beside it may be anything."""
    for header in headers.get("cookie", []):
        for part in header.split(";"):
            key, _, value = part.strip().partition("=")
            if key == name:
                yield value


def _asked(scope: Mapping[str, Any]) -> str:
    """The token of a request for the page itself; "" if there is none."""
    if scope["path"] != "/" or scope["method"] != "GET":
        return ""
    return str(parse_qs(scope["query_string"].decode("latin-1")).get(FIELD, [""])[0])


async def _refuse(scope: Mapping[str, Any], send: Send, why: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
    else:
        await _answer(send, 403, f"gridtune: {why}\n", {})


async def _answer(send: Send, status: int, text: str, headers: Mapping[str, str]) -> None:
    said = {
        "content-type": "text/plain; charset=utf-8",
        "cache-control": "no-store",
        "referrer-policy": "no-referrer",
        **headers,
    }
    raw = [(name.encode(), value.encode("latin-1")) for name, value in said.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": text.encode()})
