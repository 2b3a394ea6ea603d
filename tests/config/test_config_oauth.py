"""The `oauth` objects that other programs write, and what becomes of them."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import SecretStr

from mcp_adapters import ConfigError, OAuth, load_servers

URL = "https://example.com/mcp"
BACK = "http://localhost:8080/callback"

MEANT: list[tuple[dict[str, Any], OAuth]] = [
    ({}, OAuth()),
    ({"enabled": True}, OAuth()),
    ({"clientId": "me"}, OAuth(client_id="me")),
    ({"clientId": "me", "clientSecret": None, "enabled": None}, OAuth(client_id="me")),
    ({"clientId": "me", "clientSecret": "${TOKEN}"}, OAuth(client_id="me", client_secret=SecretStr("t0ken"))),
    ({"clientSecret": "s", "clientId": "me"}, OAuth(client_id="me", client_secret=SecretStr("s"))),
    ({"scopes": "a b"}, OAuth(scopes=("a", "b"))),
    ({"scopes": ["a", "b"]}, OAuth(scopes=("a", "b"))),
    ({"scope": "a b"}, OAuth(scopes=("a", "b"))),
    ({"issuer": "https://a.example"}, OAuth(issuer="https://a.example")),
    ({"callbackPort": 8080}, OAuth(redirect_uri=BACK)),
    ({"callbackPort": "${PORT}"}, OAuth(redirect_uri=BACK)),
    ({"redirectUri": "http://127.0.0.1:7777/back"}, OAuth(redirect_uri="http://127.0.0.1:7777/back")),
]


@pytest.mark.parametrize(("written", "meant"), MEANT, ids=str)
def test_what_can_be_meant_one_way_only_is_the_way_to_sign_in(written: dict[str, Any], meant: OAuth) -> None:
    server = load_servers({"a": {"url": URL, "oauth": written}}, environ={"TOKEN": "t0ken", "PORT": "8080"})[
        "a"
    ]

    assert server.auth == meant
    assert server.extra == {}


KEPT: list[tuple[dict[str, Any], Any]] = [
    ({"url": URL, "oauth": False}, None),
    ({"url": URL, "oauth": {"enabled": False, "clientId": "me"}}, None),
    ({"url": URL, "oauth": {"clientId": "me"}, "headers": {"authorization": "Bearer t0ken"}}, None),
    ({"url": URL, "oauth": {"clientId": "${NO}", "callbackPort": "${NO}"}, "disabled": True}, None),
]


@pytest.mark.parametrize(("entry", "auth"), KEPT, ids=str)
def test_where_no_sign_in_is_wanted_or_another_is_given_it_is_kept_and_not_used(
    entry: dict[str, Any], auth: Any
) -> None:
    server = load_servers({"a": entry}, environ={})["a"]

    assert server.auth == auth
    assert server.extra == {"oauth": entry["oauth"]}


def test_a_command_keeps_it_and_does_not_use_it() -> None:
    server = load_servers({"a": {"command": "x", "oauth": {"clientId": "me"}}}, environ={})["a"]

    assert server.extra == {"oauth": {"clientId": "me"}}


def test_what_says_nothing_that_can_be_done_is_kept() -> None:
    told = {"clientId": "me", "audiences": ["a"], "authorizationUrl": "https://a", "enabled": True}
    server = load_servers({"a": {"url": URL, "oauth": told}}, environ={})["a"]

    assert server.auth == OAuth(client_id="me")
    assert server.extra == {"oauth": {"audiences": ["a"], "authorizationUrl": "https://a"}}


MISTAKES: list[tuple[dict[str, Any], str, str]] = [
    ({"clientSecret": "s3cret"}, "oauth.clientSecret", "needs 'clientId'"),
    ({"clientId": ["s3cret"]}, "oauth.clientId", "input should be a valid string"),
    ({"scopes": {"s3cret": 1}}, "oauth.scopes", "input should be a list"),
    ({"scopes": ["a", ["s3cret"]]}, "oauth.scopes[1]", "input should be a valid string"),
    ({"scope": "a", "scopes": "b"}, "oauth.scopes", "says the same as 'scope'; keep one"),
    ({"callbackPort": 1, "redirectUri": BACK}, "oauth.redirectUri", "says the same as 'callbackPort'"),
    ({"redirectUri": BACK, "callbackPort": 1}, "oauth.callbackPort", "says the same as 'redirectUri'"),
    (
        {"redirectUri": "https://s3cret.example/x"},
        "oauth.redirectUri",
        "must be of the form http://127.0.0.1",
    ),
    *(
        ({"callbackPort": port}, "oauth.callbackPort", "must be the number of a port")
        for port in (0, -1, 65536, 1.5, True, "s3cret", "", "1 ", "\u0661", [1], 10**4000)
    ),
    ({"enabled": "s3cret"}, "oauth.enabled", "must be true or false"),
    ({"clientId": "${NO}"}, "oauth.clientId", "the environment variable 'NO' is not set"),
]


@pytest.mark.parametrize(("written", "field", "told"), MISTAKES, ids=lambda value: str(value)[:60])
def test_a_mistake_is_told_in_the_words_of_the_object(written: dict[str, Any], field: str, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_servers({"a": {"url": URL, "oauth": written}}, environ={})

    [problem] = caught.value.problems
    assert (problem.server, problem.field) == ("a", field)
    assert problem.message.startswith(told)
    assert "s3cret" not in repr(caught.value) + repr(caught.value.problems)


@pytest.mark.parametrize(
    ("oauth", "more", "told"),
    [
        (True, {}, "must be an object, or false"),
        ("s3cret", {}, "must be an object, or false"),
        (["s3cret"], {}, "must be an object, or false"),
        ({"clientId": "me"}, {"auth": "s3cret"}, "says the same as 'auth'; keep one"),
    ],
)
def test_what_is_no_sign_in_or_one_too_many_is_refused(oauth: Any, more: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_servers({"a": {"url": URL, "oauth": oauth, **more}}, environ={})

    assert [(problem.field, problem.message) for problem in caught.value.problems] == [("oauth", told)]
    assert "s3cret" not in repr(caught.value)


def test_all_mistakes_are_told_at_once() -> None:
    entry = {"url": URL, "timeout": -1, "oauth": {"callbackPort": 0, "enabled": 1}}
    with pytest.raises(ConfigError) as caught:
        load_servers({"a": entry, "b": {"url": URL, "oauth": {"clientSecret": "x", "scopes": 1}}}, environ={})

    assert {(problem.server, problem.field) for problem in caught.value.problems} == {
        ("a", "oauth.enabled"),
        ("a", "oauth.callbackPort"),
        ("b", "oauth.clientSecret"),
        ("b", "oauth.scopes"),
    }
