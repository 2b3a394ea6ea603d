"""No text that a configuration leads to holds a secret of it."""

from __future__ import annotations

import json
import pickle
import traceback
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, SecretStr, ValidationError

from mcp_adapters.config import HttpServer, SseServer, StdioServer, load_servers
from mcp_adapters.errors import ConfigError

SECRETS = st.text(st.characters(codec="ascii", categories=("L", "N")), min_size=8).map(lambda it: f"Zq{it}")
"""Long and odd enough not to occur by chance in what is shown."""


def texts_of(server: BaseModel) -> list[str]:
    return [
        repr(server),
        str(server),
        f"{server}",
        repr([server]),
        repr(server.model_dump()),
        json.dumps(server.model_dump(mode="json")),
        server.model_dump_json(),
        repr(dict(server.__repr_args__())),
    ]


ENTRIES: list[dict[str, Any]] = [
    {"command": "a", "env": {"KEY": "${S}"}},
    {"command": "a", "env": {"KEY": "$S"}},
    {"command": "a", "args": ["--x", "before ${S} after", "${env:S}"]},
    {"command": ["a", "--api-key", "LITERAL", "-e", "SERVICE_TOKEN=LITERAL", "--password=LITERAL"]},
    {"command": "npx", "args": ["mcp-remote", "https://h", "--header", "Authorization: Bearer LITERAL"]},
    {"command": "/opt/${S}/bin", "cwd": "/home/${S}"},
    {"url": "https://example.com/${S}/mcp", "headers": {"Authorization": "Bearer ${S}"}},
    {"url": "https://user:LITERAL@example.com/mcp?api_key=LITERAL&flag#LITERAL"},
    {"url": "https://LITERAL@example.com/mcp?LITERAL"},
    {"url": "https://example.com/sse", "auth": "LITERAL"},
    {"url": "https://example.com/sse", "auth": {"CLIENT_ID": "a", "CLIENT_SECRET": "${S}"}},
    {"url": "https://example.com/sse", "oauth": {"clientId": "a", "clientSecret": "LITERAL"}},
    {"url": "https://example.com/sse", "oauth": {"unknown": "LITERAL"}},
    {"url": "https://example.com/sse", "oauth": {"clientSecret": "LITERAL"}, "disabled": True},
    {"url": "https://example.com/sse", "headers": {"X-Key": "LITERAL"}, "disabled": True},
    {"url": "https://[${HOST}/?key=LITERAL", "disabled": True},
]


@pytest.mark.parametrize("entry", ENTRIES, ids=str)
@settings(deadline=None, max_examples=25)
@given(secret=SECRETS)
def test_a_server_never_shows_a_secret(entry: dict[str, Any], secret: str) -> None:
    filled = json.loads(json.dumps(entry).replace("LITERAL", secret))

    server = load_servers({"a": filled}, environ={"S": secret})["a"]

    assert [text for text in texts_of(server) if secret in text] == []


BAD: list[dict[str, Any]] = [
    {"command": "LITERAL LITERAL"},
    {"command": ["LITERAL", 1.5]},
    {"command": "${S} x", "timeout": "LITERAL"},
    {"command": "a", "args": "LITERAL", "env": {"A": ["LITERAL"]}},
    {"command": "a", "args": ["${S}", None], "cwd": {"LITERAL": 1}},
    {"command": "a", "env": "LITERAL"},
    {"command": "a", "env": {"A": "LITERAL\0"}},
    {"command": "a", "args": ["${X:-${S}} LITERAL"]},
    {"command": "LITERAL", "url": "https://LITERAL"},
    {"url": "LITERAL"},
    {"url": "https://user:LITERAL@host:LITERAL/"},
    {"url": "https://user:LITERAL@ho\u2100st/"},
    {"url": "https://[LITERAL"},
    {"url": "https://h", "headers": {"A": "LITERAL\nLITERAL"}},
    {"url": "https://h", "headers": ["LITERAL"], "protocol": "LITERAL", "disabled": "LITERAL"},
    {"url": "https://h", "type": "LITERAL"},
    {"url": ["LITERAL"], "auth": "LITERAL", "read_timeout": ["LITERAL"]},
    {"url": "https://h", "oauth": {"clientSecret": "LITERAL"}},
    {"url": "https://h", "oauth": {"clientId": ["LITERAL"], "scopes": {"LITERAL": 1}}},
    {"url": "https://h", "oauth": {"callbackPort": "LITERAL", "enabled": "LITERAL"}},
    {"url": "https://h", "oauth": {"redirectUri": "https://LITERAL"}},
]


@pytest.mark.parametrize("entry", BAD, ids=str)
@settings(deadline=None, max_examples=25)
@given(secret=SECRETS)
def test_an_error_never_shows_a_secret(entry: dict[str, Any], secret: str) -> None:
    """Neither do the errors that are chained to it, nor its pickle."""
    filled = json.loads(json.dumps(entry).replace("LITERAL", secret))

    with pytest.raises(ConfigError) as caught:
        load_servers({"a": filled}, environ={"S": secret})

    error = caught.value
    shown = "".join(traceback.format_exception(error)) + repr(error) + repr(error.problems)
    assert secret not in shown
    assert secret.encode() not in pickle.dumps(error)
    assert error.__cause__ is None
    assert error.__context__ is None


@settings(deadline=None, max_examples=25)
@given(secret=SECRETS)
def test_a_broken_file_never_shows_its_text(secret: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "broken.json"
    path.write_text(f'{{"mcpServers": {{"a": {{"env": {{"K": "{secret}"}} oops', encoding="utf-8")

    with pytest.raises(ConfigError) as caught:
        load_servers(path, environ={})

    assert secret not in "".join(traceback.format_exception(caught.value))
    assert caught.value.__context__ is None


@settings(deadline=None)
@given(value=st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",))))
def test_whoever_starts_a_server_gets_every_value_in_plain_text(value: str) -> None:
    assert StdioServer(command="a", env={"K": value}).environment() == {"K": value}
    assert StdioServer(command=["a", value]).argv() == ["a", value]


def test_headers_and_address_are_handed_out_in_plain_text() -> None:
    server = HttpServer(url="https://u:p@h/mcp?k=v", headers={"A": SecretStr("b"), "C": "d"})

    assert (server.url, server.plain_headers()) == ("https://u:p@h/mcp?k=v", {"A": "b", "C": "d"})
    assert server.safe_url == "https://***@h/mcp?k=***"


def test_text_from_elsewhere_is_redacted_of_everything_that_is_secret() -> None:
    process = load_servers(
        {"a": {"command": "a", "args": ["${S}"], "env": {"A": "Bearer longsecret", "B": "1"}}},
        environ={"S": "from-env"},
    )["a"]
    web = SseServer(url="https://us3r:p4ss@h/?k=quer%79", headers={"X": "head"}, auth="auth-text")

    assert process.redact("1 from-env, Bearer longsecret, longsecret, Bearer") == "1 ***, ***, ***, Bearer"
    assert web.redact("us3r p4ss query quer%79 head auth-text h") == "*** *** *** *** *** *** h"


def test_a_disabled_server_without_a_usable_address_redacts_what_it_can() -> None:
    server = HttpServer(url="https://[${HOST}/", headers={"X": "head"}, disabled=True)

    assert server.redact("head, [${HOST}") == "***, [${HOST}"


SERVERS = [
    StdioServer(command="a", args=["b"], env={"K": "s"}, cwd="/", timeout=1.5, tools={"allow": ["x"]}),
    HttpServer(url="https://h", headers={"K": "s"}, auth="s", extra={"x": [1]}, secrets=[SecretStr("s")]),
    SseServer(url="https://h/sse", read_timeout=3, protocol="legacy", disabled=True),
]


@pytest.mark.parametrize("server", SERVERS, ids=lambda server: type(server).__name__)
def test_servers_survive_a_pickle_and_a_copy_with_their_secrets(server: Any) -> None:
    again = pickle.loads(pickle.dumps(server))

    assert again == server == server.model_copy()
    assert {name: getattr(again, name) for name in type(server).model_fields} == dict(server)


@pytest.mark.parametrize("server", SERVERS, ids=lambda server: type(server).__name__)
def test_servers_cannot_be_changed(server: Any) -> None:
    with pytest.raises(ValidationError, match="frozen"):
        server.timeout = 3
