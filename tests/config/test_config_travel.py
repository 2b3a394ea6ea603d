"""What a toolbox takes along into another process: no secret that is written out."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from mcp_adapters import Toolbox
from mcp_adapters.config import BearerAuth, HttpServer, SseServer, StdioServer, travelling
from mcp_adapters.errors import ConfigError

URL = "https://example.com/mcp"
SECRET = "s3cret-value"

WRITTEN_OUT: list[tuple[Any, str | None]] = [
    ({"command": "a", "env": {"K": SECRET}}, "env.K"),
    ({"command": "a", "environment": {"K": SECRET}}, "environment.K"),
    ({"command": "a", "args": ["--token", SECRET]}, "args[1]"),
    ({"command": "a", "args": [f"--api-key={SECRET}"]}, "args[0]"),
    ({"command": ["a", "--password", SECRET]}, "command[2]"),
    ({"url": URL, "headers": {"X": SECRET}}, "headers.X"),
    ({"url": URL, "auth": SECRET}, "auth"),
    ({"url": URL, "auth": {"type": "api_key", "key": SECRET}}, "auth.key"),
    ({"url": URL, "oauth": {"clientId": "me", "clientSecret": SECRET}}, "oauth.clientSecret"),
    ({"url": f"https://ada:{SECRET}@example.com/mcp"}, "url"),
    ({"httpUrl": f"{URL}?api_key={SECRET}"}, "httpUrl"),
    (f"{URL}?token={SECRET}", None),
    (HttpServer(url=URL, auth=BearerAuth(token=SECRET)), None),
    (SseServer(url=f"{URL}?token={SECRET}"), None),
    (HttpServer(url=f"https://{SECRET}@example.com/mcp"), None),
    (StdioServer(command="a", args=["--token", SECRET]), None),
    (StdioServer(command="a", env={"K": SECRET}), None),
]


@pytest.mark.parametrize(("entry", "field"), WRITTEN_OUT, ids=lambda value: str(value)[:60])
@pytest.mark.parametrize("path", [(), ("mcpServers",), ("servers",), ("mcp",), ("mcp", "servers")], ids=str)
def test_a_secret_that_is_written_out_keeps_a_toolbox_from_travelling(
    entry: Any, field: str | None, path: tuple[str, ...]
) -> None:
    source: Any = {"bad": entry, "good": {"command": "a", "args": ["b"]}}
    for container in reversed(path):
        source = {container: source}

    with pytest.raises(ConfigError) as caught:
        travelling(source)

    assert [(it.server, it.field) for it in caught.value.problems] == [("bad", field)]
    assert SECRET not in str(caught.value) + repr(caught.value.problems)


PLAIN: list[Any] = [
    {"command": "a", "args": ["--token", "${K}"], "env": {"K": "${K}"}},
    {"command": "a", "args": ["--port", "1", "--verbose"], "cwd": "/"},
    {"url": f"{URL}?toolset=read&key=${{K}}", "headers": {"X": "Bearer ${K}"}, "auth": "oauth"},
    {"url": "https://ada:${K}@example.com/mcp", "auth": "${K}"},
    {"url": URL, "auth": {"type": "basic", "username": "ada", "password": "${K}"}},
    {
        "url": URL,
        "auth": {
            "type": "client_credentials",
            "client_id": "me",
            "client_secret": "${K}",
            "issuer": "https://login.example",
            "token_endpoint_auth_method": "client_secret_post",
            "store": "file",
        },
    },
    {"url": URL, "oauth": {"clientId": "me", "callbackPort": 8080}},
    f"{URL}?toolset=read",
    HttpServer(url=f"{URL}?toolset=read"),
    StdioServer(command="a", args=["b"]),
]


@pytest.mark.parametrize("entry", PLAIN, ids=lambda value: str(value)[:60])
def test_references_and_what_is_no_secret_travel_as_they_are(
    entry: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("K", SECRET)

    assert travelling({"a": entry}) == {"a": entry}
    assert SECRET.encode() not in pickle.dumps(Toolbox({"a": entry}))
