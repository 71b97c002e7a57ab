"""What the guard of the live view lets through to the application behind it; this needs no extra."""

import asyncio

import pytest

from gridtune.scenarios.watch.guard import Guard

PORT = 8765
HOST = f"127.0.0.1:{PORT}"


class Behind:
    """Notes what comes through."""

    def __init__(self):
        self.seen = []

    async def __call__(self, scope, receive, send):
        self.seen.append(scope["type"])


def asked(guard, kind="http", path="/", query="", method="GET", **headers):
    """What the guard answers to a request; nothing if it lets it through."""
    named = [
        (name.encode(), value.encode()) for name, values in headers.items() for value in values.split("|")
    ]
    scope = {"type": kind, "path": path, "query_string": query.encode(), "method": method, "headers": named}
    sent = []

    async def send(message):
        sent.append(message)

    asyncio.run(guard(scope, None, send))
    return sent


@pytest.fixture
def guard():
    return Guard(Behind(), PORT)


def cookie_of(guard):
    answer, _ = asked(guard, query=guard.path.partition("?")[2], host=HOST)
    assert answer["status"] == 303
    headers = dict(answer["headers"])
    assert headers[b"location"] == b"/"
    assert b"HttpOnly; SameSite" in headers[b"set-cookie"]
    return headers[b"set-cookie"].decode().partition(";")[0]


def test_every_server_has_a_token_of_its_own():
    paths = {Guard(Behind(), PORT).path for _ in range(20)}
    assert len(paths) == 20
    assert all(len(path) >= 43 for path in paths)


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize(
    ("headers", "passes"),
    [
        ({"host": HOST, "cookie": "COOKIE"}, True),
        ({"host": f"localhost:{PORT}", "cookie": "a=b; COOKIE", "origin": f"http://localhost:{PORT}"}, True),
        ({"host": HOST, "cookie": '{"odd"}; COOKIE; x'}, True),
        ({"host": HOST}, False),
        ({"cookie": "COOKIE"}, False),
        ({"host": "evil.example", "cookie": "COOKIE"}, False),
        ({"host": f"evil.example:{PORT}", "cookie": "COOKIE"}, False),
        ({"host": f"{HOST}|{HOST}", "cookie": "COOKIE"}, False),
        ({"host": "127.0.0.1", "cookie": "COOKIE"}, False),
        ({"host": HOST, "cookie": "COOKIE", "origin": "http://evil.example"}, False),
        ({"host": HOST, "cookie": "COOKIE", "origin": "null"}, False),
        ({"host": HOST, "cookie": "COOKIE", "origin": f"http://localhost:{PORT}"}, False),
        ({"host": HOST, "cookie": "COOKIE", "origin": f"http://{HOST}|http://evil.example"}, False),
        ({"host": HOST, "cookie": "COOKIEx"}, False),
        ({"host": HOST, "cookie": "xCOOKIE"}, False),
    ],
)
def test_what_passes(guard, kind, headers, passes):
    cookie = cookie_of(guard)
    sent = asked(guard, kind, **{name: value.replace("COOKIE", cookie) for name, value in headers.items()})
    assert guard._app.seen == ([kind] if passes else [])
    if kind == "http":
        assert [message.get("status") for message in sent] == ([] if passes else [403, None])
    else:
        assert [message["type"] for message in sent] == ([] if passes else ["websocket.close"])


@pytest.mark.parametrize(
    "request_",
    [{"path": "/x"}, {"method": "POST"}, {"kind": "websocket"}, {"query": "token=\xff"}, {"query": ""}],
)
def test_the_token_of_the_address_opens_the_page_only(guard, request_):
    sent = asked(guard, **{"query": guard.path.partition("?")[2], "host": HOST, **request_})
    assert sent[0].get("status", 403) == 403
    assert guard._app.seen == []


def test_the_application_begins_and_ends_with_the_server(guard):
    assert asked(guard, "lifespan") == []
    assert guard._app.seen == ["lifespan"]
