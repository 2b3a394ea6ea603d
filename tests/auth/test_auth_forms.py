"""The forms of `auth` in a configuration, and what of them reaches a server."""

from __future__ import annotations

import pickle
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr

from mcp_adapters import (
    ApiKeyAuth,
    AuthError,
    BasicAuth,
    BearerAuth,
    ClientCredentials,
    ConfigError,
    HttpServer,
    OAuth,
    Toolbox,
    load_servers,
)
from tests.web import Web, tools_app, tools_server

URL = "https://example.com/mcp"

FORMS: list[tuple[Any, Any]] = [
    ("oauth", OAuth()),
    ("t0ken", BearerAuth(token=SecretStr("t0ken"))),
    (SecretStr("t0ken"), BearerAuth(token=SecretStr("t0ken"))),
    ({"type": "bearer", "token": "${TOKEN}"}, BearerAuth(token=SecretStr("t0ken"))),
    ({"type": "api_key", "key": "${TOKEN}"}, ApiKeyAuth(key=SecretStr("t0ken"))),
    ({"type": "api_key", "key": "k", "header": "X-K"}, ApiKeyAuth(key=SecretStr("k"), header="X-K")),
    (
        {"type": "basic", "username": "ada", "password": "p"},
        BasicAuth(username="ada", password=SecretStr("p")),
    ),
    ({"type": "oauth", "scopes": "a b"}, OAuth(scopes=("a", "b"))),
    ({"type": "oauth", "scopes": ["a", "b"], "store": "file"}, OAuth(scopes=("a", "b"), store="file")),
    (
        {"CLIENT_ID": "me", "CLIENT_SECRET": "${TOKEN}", "scopes": ["a"]},
        OAuth(client_id="me", client_secret=SecretStr("t0ken"), scopes=("a",)),
    ),
    (
        {
            "type": "client_credentials",
            "client_id": "me",
            "client_secret": "s",
            "issuer": "https://a.example",
        },
        ClientCredentials(client_id="me", client_secret=SecretStr("s"), issuer="https://a.example"),
    ),
]


@pytest.mark.parametrize(("written", "meant"), FORMS, ids=str)
def test_a_form_can_be_written_in_a_configuration_and_in_python(written: Any, meant: Any) -> None:
    configured = load_servers({"a": {"url": URL, "auth": written}}, environ={"TOKEN": "t0ken"})["a"]

    assert configured.auth == meant
    assert HttpServer(url=URL, auth=meant).auth is meant
    assert pickle.loads(pickle.dumps(configured)) == configured


MISTAKES: list[tuple[Any, str]] = [
    ({"token": "s3cret"}, "needs a 'type', which is one of 'bearer', 'api_key', 'basic', 'oauth' and"),
    ({"type": "s3cret"}, "needs a 'type'"),
    ({"type": "bearer"}, "'token' field required"),
    ({"type": "bearer", "token": "s3cret\nx"}, "'token' must be a single line"),
    ({"type": "bearer", "token": ["s3cret"]}, "'token' input should be a valid string"),
    ({"type": "bearer", "token": "s3cret", "tokn": "s3cret"}, "'tokn' unknown option"),
    ({"type": "api_key", "key": "s3cret", "header": "X Y"}, "'header' cannot be the name of an HTTP header"),
    ({"type": "oauth", "client_secret": "s3cret"}, "'client_secret' needs 'client_id'"),
    ({"type": "oauth", "store": "s3cret"}, "'store' must be 'memory', 'file', 'keyring'"),
    ({"type": "oauth", "redirect_uri": "https://s3cret.example/x"}, "'redirect_uri' must be of the form"),
    ({"type": "oauth", "redirect_uri": "http://127.0.0.1/x"}, "'redirect_uri' must be of the form"),
    (
        {"type": "oauth", "client_metadata_url": "http://s3cret.example/x"},
        "must be an https address with a path",
    ),
    ({"type": "oauth", "login_timeout": -1}, "'login_timeout' input should be greater than 0"),
    ({"type": "client_credentials", "client_id": "a", "issuer": "https://a"}, "either 'client_secret' or"),
    ({"type": "client_credentials", "client_id": "a", "client_secret": "s3cret"}, "'issuer' field required"),
]


@pytest.mark.parametrize(("written", "told"), MISTAKES, ids=str)
def test_a_mistake_is_told_without_the_value(written: Any, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_servers({"a": {"url": URL, "auth": written}}, environ={})

    (problem,) = caught.value.problems
    assert (problem.server, problem.field) == ("a", "auth")
    assert told in problem.message
    assert "s3cret" not in repr(caught.value) + repr(caught.value.problems)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("auth", "header"), [("t", "authorization"), ({"type": "api_key", "key": "k"}, "x-api-key")]
)
def test_one_header_cannot_come_from_two_places(auth: Any, header: str) -> None:
    with pytest.raises(ConfigError, match="keep one of them"):
        HttpServer(url=URL, auth=auth, headers={header: "other"})


@pytest.mark.parametrize("form", [form for _, form in FORMS], ids=repr)
def test_no_form_shows_its_secrets(form: Any) -> None:
    server = HttpServer(url=URL, auth=form)
    shown = repr(form) + str(form) + form.model_dump_json() + repr(server) + server.model_dump_json()

    assert [secret for secret in form.secret_values() if len(secret) > 1 and secret in shown] == []
    assert server.redact("here: t0ken") == ("here: ***" if "t0ken" in form.secret_values() else "here: t0ken")


class Own(httpx2.Auth):
    """A way of one's own."""

    def auth_flow(self, request: httpx2.Request) -> Any:
        request.headers["X-Signature"] = f"{request.method} {len(request.content) > 0}"
        yield request


ARRIVING = [
    ("t0ken", "authorization", "Bearer t0ken"),
    ({"type": "api_key", "key": "k3y"}, "x-api-key", "k3y"),
    ({"type": "basic", "username": "ada", "password": "p4ss"}, "authorization", "Basic YWRhOnA0c3M="),
    (Own(), "x-signature", "POST True"),
]


@pytest.mark.parametrize(("auth", "header", "value"), ARRIVING, ids=lambda case: type(case).__name__)
@pytest.mark.parametrize("path", ["/mcp", "/sse"])
def test_what_a_form_says_arrives_with_every_message(auth: Any, header: str, value: str, path: str) -> None:
    with (
        Web(tools_app() if path == "/mcp" else lambda _: tools_server().sse_app()) as web,
        Toolbox({"web": {"url": web.url + path, "auth": auth}}, call_timeout=20) as toolbox,
    ):
        assert toolbox.call("web_header", {"name": header}).text == value

    assert {seen.headers.get(header) for seen in web.seen if seen.method == "POST"} == {value}


def test_an_object_that_cannot_authenticate_is_told() -> None:
    with (
        pytest.raises(ConfigError, match=r"httpx2\.Auth"),
        Toolbox({"a": HttpServer(url=URL, auth=object())}),
    ):
        pass


def test_an_own_form_that_fails_is_one_calls_error_with_its_cause() -> None:
    class Moody(httpx2.Auth):
        broken = False

        def auth_flow(self, request: httpx2.Request) -> Any:
            if self.broken:
                raise LookupError("s3cret")
            yield request

    moody = Moody()
    with (
        Web(tools_app()) as web,
        Toolbox({"web": HttpServer(url=web.mcp, auth=moody)}, call_timeout=20) as toolbox,
    ):
        moody.broken = True
        with pytest.raises(AuthError) as caught:
            toolbox.call("web_echo", {"text": "x"})
        moody.broken = False

        assert toolbox.call("web_echo", {"text": "next"}).text == "next"

    assert "LookupError" in str(caught.value)
    assert "s3cret" not in str(caught.value)
