"""Servers over HTTP: what fails stays with the call that failed, and the error says what happened."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import pickle
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import JSONResponse, RedirectResponse, Response

from mcp_adapters import (
    AuthError,
    ConfigError,
    ConnectionLostError,
    DiscoveryError,
    HandshakeError,
    HttpServer,
    McpAdaptersError,
    ServerStartError,
    SseServer,
    Toolbox,
    ToolExecutionError,
    call_headers,
)
from mcp_adapters._faults import FAULT_CODE, NEVER_ASKED_CODE
from mcp_adapters.config import ProtocolChoice

from .web import ERAS, Gate, Script, Seen, Web, tools_app, tools_server

QUICK = {"call_timeout": 20.0, "connect_timeout": 20.0}


@pytest.fixture
def web() -> Iterator[Web]:
    with Web(tools_app()) as server:
        yield server


def calls_only(response: Response) -> Script:
    """Answer every tool call like this; leave all else to the server."""
    return lambda seen: response if seen.method == "POST" and is_call(seen) else None


def is_call(seen: Seen) -> bool:
    return seen.rpc == "tools/call"


def error_of(toolbox: Toolbox, name: str = "web_echo", **arguments: Any) -> McpAdaptersError:
    with pytest.raises(McpAdaptersError) as caught:
        toolbox.call(name, arguments or {"text": "x"})
    return caught.value


@pytest.mark.parametrize("json_response", [False, True], ids=["stream", "json"])
@pytest.mark.parametrize("era", ERAS)
def test_a_tool_is_called_in_both_eras(era: ProtocolChoice, json_response: bool) -> None:
    with (
        Web(tools_app(json_response=json_response)) as web,
        Toolbox({"web": HttpServer(url=web.mcp, protocol=era)}, **QUICK) as toolbox,
    ):
        assert toolbox.call("web_echo", {"text": "hello"}).text == "hello"
        version = toolbox.status["web"].protocol_version

    assert version == (era if era != "legacy" else "2025-11-25")


def test_the_protocol_is_found_out_without_being_told(web: Web) -> None:
    with Toolbox({"web": web.mcp}, **QUICK) as toolbox:
        assert toolbox.call("web_echo", {"text": "hello"}).text == "hello"
        assert toolbox.status["web"].protocol_version == "2026-07-28"


def test_a_server_of_the_older_kind_is_used_from_end_to_end() -> None:
    with (
        Web(lambda _: tools_server().sse_app()) as web,
        Toolbox({"web": f"{web.url}/sse"}, **QUICK) as toolbox,
    ):
        assert toolbox.call("web_echo", {"text": "hello"}).text == "hello"


def test_a_server_of_the_older_kind_is_not_looked_for_unasked() -> None:
    """The error says how to ask for it."""
    with (
        Web(lambda _: tools_server().sse_app(sse_path="/mcp")) as web,
        pytest.raises(HandshakeError, match="type 'sse'") as caught,
        Toolbox({"web": web.mcp}, **QUICK),
    ):
        pass

    assert caught.value.status in (404, 405)
    assert not [seen for seen in web.seen if seen.method == "GET"]


STATUSES: list[tuple[Response, type[McpAdaptersError], dict[str, Any]]] = [
    (Response(status_code=401), AuthError, {"status": 401, "phase": "call", "retriable": False}),
    (Response(status_code=403), AuthError, {"status": 403, "phase": "call", "retriable": False}),
    (Response(status_code=404), ToolExecutionError, {"status": 404, "retriable": False}),
    (
        Response(status_code=429, headers={"Retry-After": "7"}),
        ToolExecutionError,
        {"status": 429, "retry_after": 7.0, "retriable": True},
    ),
    (Response(status_code=503), ToolExecutionError, {"status": 503, "retry_after": None, "retriable": False}),
    (
        JSONResponse(
            {"jsonrpc": "2.0", "id": None, "error": {"code": -1, "message": "oh no"}}, status_code=500
        ),
        ToolExecutionError,
        {"status": 500, "retriable": False},
    ),
    (Response(status_code=502, content="<html>"), ToolExecutionError, {"status": 502}),
]


@pytest.mark.parametrize(
    ("answer", "kind", "facts"), STATUSES, ids=lambda case: getattr(case, "status_code", "")
)
def test_a_refusing_status_is_one_calls_error_and_visible(
    web: Web, answer: Response, kind: type[McpAdaptersError], facts: dict[str, Any]
) -> None:
    with Toolbox({"web": web.mcp}, **QUICK) as toolbox:
        web.front.script = calls_only(answer)
        error = error_of(toolbox)
        web.front.script = lambda _: None

        assert toolbox.call("web_echo", {"text": "next"}).text == "next"

    assert type(error) is kind
    assert {name: getattr(error, name) for name in facts} == facts
    assert (error.server, error.tool) == ("web", "echo")
    assert str(answer.status_code) in str(error)
    assert pickle.loads(pickle.dumps(error)).__dict__ == error.__dict__


def test_an_error_in_the_servers_words_is_told_at_any_status(web: Web) -> None:
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": -32602, "message": "no such room"}}
    with Toolbox({"web": web.mcp}, **QUICK) as toolbox:
        web.front.script = calls_only(JSONResponse(body, status_code=400))
        error = error_of(toolbox)

    assert isinstance(error, ToolExecutionError)
    assert (error.code, error.status) == (-32602, None)
    assert "no such room" in str(error)


CONNECTS: list[tuple[int, type[McpAdaptersError], str]] = [
    (401, AuthError, "'auth'"),
    (403, AuthError, "'auth'"),
    (404, HandshakeError, "address"),
    (405, HandshakeError, "type 'sse'"),
    (429, ServerStartError, "later"),
    (500, ServerStartError, "HTTP 500"),
    (503, ServerStartError, "later"),
]


@pytest.mark.parametrize(("status", "kind", "advice"), CONNECTS)
@pytest.mark.parametrize("address", ["/mcp", "/sse"])
def test_a_refusing_status_at_the_start_says_what_to_do(
    web: Web, status: int, kind: type[McpAdaptersError], advice: str, address: str
) -> None:
    web.front.script = lambda _: Response(status_code=status)
    with pytest.raises(kind) as caught, Toolbox({"web": web.url + address}, **QUICK):
        pass

    assert (caught.value.server, caught.value.phase, caught.value.status) == ("web", "connect", status)  # type: ignore[attr-defined]
    assert advice in str(caught.value)


def test_a_refusing_status_of_the_listing_is_told(web: Web) -> None:
    web.front.script = lambda seen: Response(status_code=503) if seen.rpc == "tools/list" else None
    with pytest.raises(DiscoveryError) as caught, Toolbox({"web": web.mcp}, **QUICK):
        pass

    assert caught.value.status == 503


@pytest.mark.parametrize("era", ERAS)
def test_a_call_that_nobody_listened_to_was_not_sent_and_the_next_works_when_the_server_is_back(
    web: Web, era: ProtocolChoice
) -> None:
    with Toolbox({"web": HttpServer(url=web.mcp, protocol=era)}, **QUICK) as toolbox:
        web.stop()
        error = error_of(toolbox)
        web.start()

        assert toolbox.call("web_echo", {"text": "back"}).text == "back"

    assert isinstance(error, ConnectionLostError)
    assert (error.outcome, error.retriable, error.phase) == ("not_sent", True, "call")


@pytest.mark.parametrize("kind", [b"application/json", b"text/event-stream"])
async def test_a_call_whose_answer_breaks_off_is_unknown_and_ends_no_other_call(kind: bytes) -> None:
    """One is answered with half a document while another waits at the server."""

    async def half(scope: Any, receive: Any, send: Any) -> None:
        head = [(b"content-type", kind), (b"content-length", b"1000")]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        await send({"type": "http.response.body", "body": b'{"jsonrpc"', "more_body": True})
        raise ConnectionResetError

    gate = Gate(2)
    with Web(tools_app(gate)) as web:
        async with Toolbox({"web": web.mcp}, **QUICK) as toolbox:
            first = asyncio.create_task(toolbox.acall("web_meet", {"name": "x-nothing"}))
            await gate.somebody_is_inside()
            web.front.script = lambda seen: half if is_call(seen) else None  # type: ignore[return-value]
            with pytest.raises(ConnectionLostError) as caught:
                await toolbox.acall("web_echo", {"text": "x"})
            web.front.script = lambda _: None
            second = await toolbox.acall("web_meet", {"name": "x-nothing"})

            assert (await first).text == second.text == "nothing"

    error = caught.value
    assert (error.outcome, error.retriable, error.tool) == ("unknown", False, "echo")


def test_a_session_that_the_server_forgot_is_begun_anew_and_the_call_is_carried_out_once(web: Web) -> None:
    """A refusal with 404 says that nothing was done, so that the call may be sent again."""
    with Toolbox({"web": HttpServer(url=web.mcp, protocol="legacy")}, **QUICK) as toolbox:
        web.stop()
        web.start()
        before = len(web.seen)

        assert toolbox.call("web_echo", {"text": "anew"}).text == "anew"
        sessions = [seen.headers.get("mcp-session-id") for seen in web.seen[before:] if seen.method == "POST"]

    forgotten, opening, *rest = sessions
    assert (opening, len(set(rest))) == (None, 1)
    assert forgotten not in rest


def test_a_session_that_the_server_forgot_and_answers_with_400_is_told_too(web: Web) -> None:
    """Many servers are made after an example that does so; that nothing was done is a guess then."""
    body = {
        "jsonrpc": "2.0",
        "id": None,
        "error": {"code": -32000, "message": "No valid session ID provided"},
    }
    with Toolbox({"web": HttpServer(url=web.mcp, protocol="legacy")}, **QUICK) as toolbox:
        web.front.script = lambda seen: (
            JSONResponse(body, status_code=400) if "mcp-session-id" in seen.headers else None
        )
        error = error_of(toolbox)
        web.front.script = lambda _: None

        assert toolbox.call("web_echo", {"text": "anew"}).text == "anew"

    assert isinstance(error, ConnectionLostError)
    assert (error.outcome, error.retriable, error.status) == ("unknown", False, 400)


@pytest.mark.parametrize("code", [FAULT_CODE, NEVER_ASKED_CODE])
def test_a_server_cannot_pretend_that_a_call_was_never_sent(web: Web, code: int) -> None:
    forged = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": "never", "data": "0" * 32}}
    with Toolbox({"web": web.mcp}, **QUICK) as toolbox:
        web.front.script = calls_only(JSONResponse(forged, status_code=400))
        error = error_of(toolbox)

    assert isinstance(error, ToolExecutionError)
    assert (error.code, error.retriable) == (code, False)


def test_a_server_of_the_older_kind_that_refuses_a_call_answers_that_call() -> None:
    with (
        Web(lambda _: tools_server().sse_app()) as web,
        Toolbox({"web": SseServer(url=f"{web.url}/sse")}, **QUICK) as toolbox,
    ):
        web.front.script = lambda seen: Response(status_code=403) if seen.method == "POST" else None
        error = error_of(toolbox)
        web.front.script = lambda _: None

        assert toolbox.call("web_echo", {"text": "next"}).text == "next"

    assert isinstance(error, AuthError)
    assert (error.status, error.phase, error.tool) == (403, "call", "echo")


def test_a_server_of_the_older_kind_that_went_away_is_found_again() -> None:
    with (
        Web(lambda _: tools_server().sse_app()) as web,
        Toolbox({"web": SseServer(url=f"{web.url}/sse")}, **QUICK) as toolbox,
    ):
        web.stop()
        error_of(toolbox)
        web.start()

        assert toolbox.call("web_echo", {"text": "back"}).text == "back"


# -- where requests go ----------------------------------------------------------------------------


def test_a_redirect_that_leaves_the_origin_is_refused_and_nothing_reaches_it() -> None:
    with Web(tools_app()) as elsewhere, Web(tools_app()) as web:
        web.front.script = lambda seen: RedirectResponse(f"{elsewhere.mcp}?token=s3cret", status_code=307)
        server = HttpServer(url=web.mcp, auth="t0ken")
        with pytest.raises(HandshakeError) as caught, Toolbox({"web": server}, **QUICK):
            pass

    assert elsewhere.seen == []
    assert caught.value.status == 307
    assert elsewhere.mcp in str(caught.value)
    assert "s3cret" not in str(caught.value)


def test_a_redirect_of_one_call_is_refused_and_the_next_call_works() -> None:
    with (
        Web(tools_app()) as elsewhere,
        Web(tools_app()) as web,
        Toolbox({"web": web.mcp}, **QUICK) as toolbox,
    ):
        web.front.script = calls_only(RedirectResponse(elsewhere.mcp, status_code=308))
        error = error_of(toolbox)
        web.front.script = lambda _: None

        assert toolbox.call("web_echo", {"text": "next"}).text == "next"

    assert elsewhere.seen == []
    assert isinstance(error, ToolExecutionError)
    assert error.status == 308


def test_a_redirect_within_the_origin_is_followed_with_everything_on_it() -> None:
    with Web(tools_app(streamable_http_path="/mcp/")) as web:
        server = HttpServer(url=f"{web.mcp}?key=k3y", auth="t0ken")
        web.front.script = lambda seen: (
            RedirectResponse("/mcp/?key=k3y", status_code=307) if seen.path == "/mcp" else None
        )
        with Toolbox({"web": server}, **QUICK) as toolbox:
            assert toolbox.call("web_echo", {"text": "x"}).text == "x"

    arrived = [(seen.headers.get("authorization"), seen.query) for seen in web.posts("/mcp/")]
    assert set(map(str, arrived)) == {str(("Bearer t0ken", {"key": ["k3y"]}))}


def test_an_untrusted_certificate_is_refused(tls_port: int) -> None:
    server = HttpServer(url=f"https://127.0.0.1:{tls_port}/mcp")
    with pytest.raises(ServerStartError, match="SSL_CERT_FILE"), Toolbox({"web": server}, **QUICK):
        pass


def test_a_certificate_that_the_environment_vouches_for_is_trusted(certificate: Path) -> None:
    """In a process of its own: the certificates are read once for each process."""
    program = (
        "import sys; from mcp_adapters import HttpServer, Toolbox\n"
        "with Toolbox({'web': HttpServer(url=sys.argv[1])}, connect_timeout=60) as toolbox:\n"
        "    print(toolbox.call('web_echo', {'text': 'trusted'}).text)"
    )
    with Web(tools_app(), certificate=str(certificate)) as web:
        ended = subprocess.run(
            [sys.executable, "-c", program, web.mcp],
            env={**os.environ, "SSL_CERT_FILE": str(certificate)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    assert ended.stdout.strip() == "trusted", ended.stderr


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A key and the certificate for 127.0.0.1 that it signed itself."""
    import datetime as dt
    from ipaddress import ip_address

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = tmp_path / "server.pem"
    pem.write_bytes(
        certificate.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return pem


@pytest.fixture
def tls_port(certificate: Path) -> Iterator[int]:
    """A listener that shows a certificate nobody vouches for."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)

    async def serve() -> None:
        listener = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0, ssl=context)
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda *_: None)
        nonlocal stop
        stop = asyncio.Event()
        started.append((loop, listener.sockets[0].getsockname()[1]))
        ready.set()
        await stop.wait()
        listener.close()

    stop: asyncio.Event | None = None
    started: list[tuple[asyncio.AbstractEventLoop, int]] = []
    ready = threading.Event()
    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    assert ready.wait(20)
    loop, port = started[0]
    yield port
    assert stop is not None
    loop.call_soon_threadsafe(stop.set)
    thread.join(20)


def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """The proxy is a server that answers in the name of one that is nowhere to be found."""
    monkeypatch.setenv("no_proxy", "")
    nowhere = "http://mcp.invalid/mcp"
    with Web(tools_app(host="mcp.invalid")) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        with Toolbox({"web": HttpServer(url=f"{nowhere}?key=k3y", auth="t0ken")}, **QUICK) as toolbox:
            assert toolbox.call("web_echo", {"text": "x"}).text == "x"

    assert {seen.headers["host"] for seen in proxy.seen} == {"mcp.invalid"}
    assert {seen.query["key"][0] for seen in proxy.seen} == {"k3y"}


# -- headers --------------------------------------------------------------------------------------


async def test_headers_of_a_call_go_with_that_call_alone(web: Web) -> None:
    async with Toolbox({"web": HttpServer(url=web.mcp, headers={"X-All": "all"})}, **QUICK) as toolbox:
        token = call_headers.set({"X-Tenant": "ada"})
        inside = await toolbox.acall("web_header", {"name": "x-tenant"})
        call_headers.reset(token)
        outside = await toolbox.acall("web_header", {"name": "x-tenant"})
        always = await toolbox.acall("web_header", {"name": "x-all"})

    assert (inside.text, outside.text, always.text) == ("ada", "nothing", "all")


@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_two_users_over_one_connection_are_never_mixed(kind: str) -> None:
    """All calls are at the server at the same time; each sees the token of its own user."""
    from contextvars import ContextVar

    user: ContextVar[str] = ContextVar("user", default="nobody")

    def provide() -> dict[str, str]:
        return {"Authorization": f"Bearer {user.get()}"}

    async def aprovide() -> dict[str, str]:
        await asyncio.sleep(0)
        return provide()

    gate = Gate(20)
    with Web(tools_app(gate)) as web:
        server = HttpServer(url=web.mcp, headers_provider=provide if kind == "sync" else aprovide)
        async with Toolbox({"web": server}, **QUICK) as toolbox:

            async def as_user(name: str) -> list[str]:
                user.set(name)
                calls = (toolbox.acall("web_meet", {"name": "authorization"}) for _ in range(10))
                return [result.text for result in await asyncio.gather(*calls)]

            ada, bob = await asyncio.gather(
                asyncio.create_task(as_user("ada")), asyncio.create_task(as_user("bob"))
            )

    assert (set(ada), set(bob)) == ({"Bearer ada"}, {"Bearer bob"})
    assert gate.most == 20


def test_a_session_belongs_to_whoever_opened_it(web: Web) -> None:
    """Servers of the handshake versions may look at a session's first message alone."""
    with Toolbox({"web": HttpServer(url=web.mcp, protocol="legacy")}, **QUICK) as toolbox:
        before = len(web.posts())
        token = call_headers.set({"X-Tenant": "bob"})
        error = error_of(toolbox)
        call_headers.reset(token)
        after = len(web.posts())

        assert toolbox.call("web_echo", {"text": "mine"}).text == "mine"

    assert isinstance(error, ConnectionLostError)
    assert (error.outcome, error.retriable) == ("not_sent", False)
    assert before == after
    assert "bob" not in str(error)


def test_a_stream_of_the_older_kind_belongs_to_whoever_opened_it() -> None:
    with (
        Web(lambda _: tools_server().sse_app()) as web,
        Toolbox({"web": SseServer(url=f"{web.url}/sse")}, **QUICK) as toolbox,
    ):
        token = call_headers.set({"X-Tenant": "bob"})
        error = error_of(toolbox)
        call_headers.reset(token)

        assert toolbox.call("web_echo", {"text": "mine"}).text == "mine"

    assert isinstance(error, ConnectionLostError)
    assert error.outcome == "not_sent"


def test_headers_that_say_nothing_about_the_user_go_into_any_session(web: Web) -> None:
    with Toolbox({"web": HttpServer(url=web.mcp, protocol="legacy")}, **QUICK) as toolbox:
        token = call_headers.set({"traceparent": "00-1-2-01"})
        result = toolbox.call("web_header", {"name": "traceparent"})
        call_headers.reset(token)

    assert result.text == "00-1-2-01"


RESERVED = [
    "Host",
    "Content-Length",
    "content-type",
    "Accept",
    "MCP-Protocol-Version",
    "mcp-session-id",
    "Mcp-Name",
]


@pytest.mark.parametrize("name", [*RESERVED, "Authorization"])
def test_a_call_cannot_replace_what_belongs_to_the_protocol(web: Web, name: str) -> None:
    with Toolbox({"web": HttpServer(url=web.mcp, auth="t0ken")}, **QUICK) as toolbox:
        before = len(web.posts())
        token = call_headers.set({name: "s3cret"})
        error = error_of(toolbox)
        call_headers.reset(token)

        assert len(web.posts()) == before
        assert toolbox.call("web_header", {"name": "authorization"}).text == "Bearer t0ken"

    assert isinstance(error, ConfigError)
    assert repr(name) in str(error)
    assert "s3cret" not in str(error)


@pytest.mark.parametrize(
    "given", [["no mapping"], {"X-A": 1}, {"X-A": "a\r\nX-B: b"}, {"X\nA": "a"}, {"X-Ä": "a"}]
)
def test_unusable_headers_are_one_calls_error(web: Web, given: Any) -> None:
    with Toolbox({"web": web.mcp}, **QUICK) as toolbox:
        token = call_headers.set(given)
        error = error_of(toolbox)
        call_headers.reset(token)

        assert toolbox.call("web_echo", {"text": "next"}).text == "next"

    assert isinstance(error, ConfigError)


def test_a_provider_that_fails_is_one_calls_error_with_its_cause(web: Web) -> None:
    broken: list[Exception] = []

    def provide() -> dict[str, str]:
        if broken:
            raise broken[0]
        return {}

    with Toolbox({"web": HttpServer(url=web.mcp, headers_provider=provide)}, **QUICK) as toolbox:
        broken.append(LookupError("s3cret"))
        error = error_of(toolbox)
        broken.clear()

        assert toolbox.call("web_echo", {"text": "next"}).text == "next"

    assert isinstance(error, ConfigError)
    assert "LookupError" in str(error)
    assert "s3cret" not in str(error)


# -- secrets --------------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("path", ["/mcp", "/sse"])
def test_no_secret_gets_into_a_log_an_error_or_the_status(
    caplog: pytest.LogCaptureFixture, era: ProtocolChoice, path: str
) -> None:
    caplog.set_level(logging.DEBUG)
    make = tools_app() if path == "/mcp" else lambda _: tools_server().sse_app()
    with Web(make) as web:
        address = web.url.replace("//", "//ada:p4ssw0rd@") + f"{path}?api_key=qu3ry"
        kind = HttpServer if path == "/mcp" else SseServer
        server = kind(url=address, headers={"X-Key": "h3ader"}, protocol=era)
        with Toolbox({"web": server}, **QUICK) as toolbox:
            assert toolbox.call("web_header", {"name": "x-key"}).text == "h3ader"
            caplog.clear()
            toolbox.call("web_echo", {"text": "x"})
            web.front.script = lambda _: JSONResponse({"error": "bad p4ssw0rd qu3ry h3ader"}, status_code=401)
            error = error_of(toolbox)
            texts = [
                str(error),
                repr(error),
                repr(toolbox.status),
                repr(toolbox),
                repr(server),
                *map(str, error.__dict__),
            ]
            web.stop()
            texts.append(str(error_of(toolbox)))

    arrived = [seen for seen in web.seen if seen.path == path]
    assert {seen.query.get("api_key", [""])[0] for seen in arrived} == {"qu3ry"}
    assert {seen.headers["authorization"] for seen in arrived} == {"Basic YWRhOnA0c3N3MHJk"}
    texts += [record.getMessage() for record in caplog.records if "h3ader" not in str(record.args)]
    assert len(caplog.records) > 3
    shown = json.dumps(texts) + pickle.dumps(error).decode("latin-1")
    assert [secret for secret in ("qu3ry", "p4ssw0rd", "YWRhOnA0c3N3MHJk", "h3ader") if secret in shown] == []
