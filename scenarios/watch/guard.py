"""Who may see and control the live view: whoever has the token of the printed address, on this machine.

The server listens on loopback, but every site that is open in a browser of this machine can send requests
there, and so can every other user of the machine. So each request must name the server as its host (no other
site's name may lead here), come from its own page or from no page, and bring the token.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

Scope = Mapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Mapping[str, Any]], Awaitable[None]]


class Guard:
    """An ASGI application that lets through to another one what brings the token.

    The token of the address becomes a cookie, with which the page gets its scripts and opens its socket.

    Args:
        port: at which it is served.

    Attributes:
        path: of the page, with the token.
    """

    def __init__(self, app: Callable[[Scope, Receive, Send], Awaitable[None]], port: int) -> None:
        token = secrets.token_urlsafe(32)
        names = ("127.0.0.1", "localhost")
        self._app = app
        self._hosts = {f"{name}:{port}" for name in names} | {name for name in names if port == 80}
        self._query = f"token={token}".encode()
        self._cookie = f"gridtune-watch-{port}={token}".encode()  # cookies hold for all ports of a host
        self.path = f"/?token={token}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, turn the token into a cookie, or refuse."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        cookies = [part.strip() for header in _values(scope, b"cookie") for part in header.split(b";")]
        for_page = (scope["type"], scope.get("method"), scope["path"]) == ("http", "GET", "/")
        if fault := self._stranger(_values(scope, b"host"), _values(scope, b"origin")):
            await _refuse(scope, send, fault)
        elif any(secrets.compare_digest(cookie, self._cookie) for cookie in cookies):
            await self._app(scope, receive, send)
        elif for_page and secrets.compare_digest(scope["query_string"], self._query):
            cookie = self._cookie + b"; HttpOnly; SameSite=Lax; Path=/"
            await _answer(send, 303, "", (b"location", b"/"), (b"set-cookie", cookie))
        else:
            await _refuse(scope, send, "open the address that `gridtune watch` has printed: it has a token")

    def _stranger(self, hosts: list[bytes], origins: list[bytes]) -> str:
        """Why a request does not come from our own page or from no page; "" if it does."""
        if len(hosts) != 1 or hosts[0].decode("latin-1").lower() not in self._hosts:
            expected = " or ".join(sorted(self._hosts))
            return f"host: expected {expected}; a tunnel needs the same port at both ends"
        if origins and origins != [b"http://" + hosts[0]]:
            return "origin: another page may not use this one"
        return ""


def _values(scope: Scope, name: bytes) -> list[bytes]:
    """The values of a header, of which there may be several."""
    return [value for header, value in scope["headers"] if header.lower() == name]


async def _refuse(scope: Scope, send: Send, why: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
    else:
        await _answer(send, 403, f"gridtune: {why}\n")


async def _answer(send: Send, status: int, text: str, *headers: tuple[bytes, bytes]) -> None:
    said = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"cache-control", b"no-store"),
        (b"referrer-policy", b"no-referrer"),
        *headers,
    ]
    await send({"type": "http.response.start", "status": status, "headers": said})
    await send({"type": "http.response.body", "body": text.encode()})
