"""What lies between a toolbox and its servers: certificates of one's own, and proxies."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme

from mcp_adapters import ConnectError, HttpServer, OAuth, ServerStartError, SseServer, Toolbox
from mcp_adapters._tls import tls_context
from mcp_adapters.config import ProtocolChoice

from .auth.authority import Authority, Browser, protected
from .proxy import Proxy, proxy
from .web import ERAS, Web, tools_app, tools_server

QUICK: dict[str, Any] = {"call_timeout": 20.0, "connect_timeout": 20.0}
NAME = "mcp.invalid"
"""A name that leads nowhere, but for those who ask a proxy."""
PROXY_VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No proxies and no certificates but those of the test; the context of the process is made anew."""
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR", *PROXY_VARIABLES, *map(str.upper, PROXY_VARIABLES)):
        monkeypatch.delenv(name, raising=False)
    tls_context.cache_clear()
    yield
    tls_context.cache_clear()


@pytest.fixture
def authority_file(tmp_path: Path) -> Path:
    return tmp_path / "authority.pem"


@pytest.fixture
def certificate(tmp_path: Path, authority_file: Path) -> str:
    """A key and certificate for this machine and for NAME, by an authority that only its file knows."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(authority_file)
    file = tmp_path / "server.pem"
    authority.issue_cert("127.0.0.1", NAME).private_key_and_cert_chain_pem.write_to_path(file)
    return str(file)


# -- certificates ---------------------------------------------------------------------------------


def test_a_certificate_of_ones_own_is_refused_until_its_authority_is_named(
    certificate: str, authority_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Web(tools_app(), certificate=certificate) as web:
        with pytest.raises(ServerStartError, match="SSL_CERT_FILE"):
            Toolbox({"web": web.mcp}, **QUICK).open()
        assert web.seen == []
        monkeypatch.setenv("SSL_CERT_FILE", str(authority_file))
        tls_context.cache_clear()
        with Toolbox({"web": web.mcp}, **QUICK) as toolbox:
            assert toolbox.call("web_echo", {"text": "x"}).text == "x"


@pytest.mark.parametrize("era", ERAS)
def test_a_trusted_certificate_serves_both_eras(
    certificate: str, authority_file: Path, monkeypatch: pytest.MonkeyPatch, era: ProtocolChoice
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority_file))
    with (
        Web(tools_app(), certificate=certificate) as web,
        Toolbox({"web": HttpServer(url=web.mcp, protocol=era)}, **QUICK) as toolbox,
    ):
        assert toolbox.call("web_echo", {"text": "x"}).text == "x"


def test_a_trusted_certificate_serves_the_older_kind_of_server(
    certificate: str, authority_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority_file))
    with (
        Web(lambda _: tools_server().sse_app(), certificate=certificate) as web,
        Toolbox({"web": SseServer(url=f"{web.url}/sse")}, **QUICK) as toolbox,
    ):
        assert toolbox.call("web_echo", {"text": "x"}).text == "x"


def test_a_certificate_for_another_name_is_refused_whoever_vouches_for_it(
    certificate: str, authority_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority_file))
    with Web(tools_app(), host="localhost", certificate=certificate) as web:
        with pytest.raises(ServerStartError, match=r"(?i)certificate"):
            Toolbox({"web": web.mcp}, **QUICK).open()
        assert web.seen == []


def test_a_login_trusts_the_same_authorities(
    certificate: str, authority_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority_file))
    authority, browser = Authority(), Browser()
    with protected(authority, certificate=certificate) as web:
        server = HttpServer(url=web.mcp, auth=OAuth(open_browser=browser))
        with Toolbox({"web": server}, **QUICK) as toolbox:
            assert toolbox.call("web_echo", {"text": "x"}).text == "x"

    assert authority.logins == 1


# -- proxies --------------------------------------------------------------------------------------


@pytest.mark.parametrize("variable", ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"])
def test_https_goes_through_a_tunnel_that_sees_neither_addresses_nor_tokens(
    certificate: str, authority_file: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority_file))
    with proxy() as between, Web(tools_app(host=NAME), host=NAME, certificate=certificate) as web:
        monkeypatch.setenv(variable, between.url)
        server = HttpServer(url=f"{web.mcp}?key=k3y", auth="t0ken")
        with Toolbox({"web": server}, **QUICK) as toolbox:
            assert toolbox.call("web_echo", {"text": "x"}).text == "x"

    assert set(between.asked) == {("CONNECT", f"{NAME}:{web.port}")}
    assert not [head for head in between.heads if "t0ken" in head or "k3y" in head]
    assert {seen.headers["authorization"] for seen in web.posts()} == {"Bearer t0ken"}


@pytest.mark.parametrize("variable", ["http_proxy", "all_proxy"])
def test_http_is_forwarded_with_everything_on_it(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    with proxy() as between, Web(tools_app(host=NAME), host=NAME) as web:
        monkeypatch.setenv(variable, between.url)
        server = HttpServer(url=f"{web.mcp}?key=k3y", auth="t0ken")
        with Toolbox({"web": server}, **QUICK) as toolbox:
            assert toolbox.call("web_echo", {"text": "x"}).text == "x"

    assert {target for _, target in between.asked} == {f"http://{NAME}:{web.port}/mcp?key=k3y"}
    assert {(seen.headers["authorization"], seen.query["key"][0]) for seen in web.posts()} == {
        ("Bearer t0ken", "k3y")
    }


def test_the_older_kind_of_server_is_reached_through_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    with proxy() as between, Web(lambda _: tools_server().sse_app(host=NAME), host=NAME) as web:
        monkeypatch.setenv("http_proxy", between.url)
        with Toolbox({"web": SseServer(url=f"{web.url}/sse")}, **QUICK) as toolbox:
            assert toolbox.call("web_echo", {"text": "x"}).text == "x"

    assert ("GET", f"{web.url}/sse") in between.asked


@pytest.mark.parametrize("exempt", ["127.0.0.1", "other.invalid, 127.0.0.1", "*"])
def test_what_needs_no_proxy_is_reached_without_it(monkeypatch: pytest.MonkeyPatch, exempt: str) -> None:
    with proxy() as between, Web(tools_app()) as web:
        monkeypatch.setenv("http_proxy", between.url)
        monkeypatch.setenv("no_proxy", exempt)
        with Toolbox({"web": web.mcp}, **QUICK) as toolbox:
            assert toolbox.call("web_echo", {"text": "x"}).text == "x"

    assert between.asked == []


@pytest.mark.parametrize("tls", [False, True], ids=["http", "https"])
def test_a_proxys_password_is_for_the_proxy_alone(
    certificate: str, authority_file: Path, monkeypatch: pytest.MonkeyPatch, tls: bool
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority_file))
    place: dict[str, Any] = {"host": NAME, "certificate": certificate if tls else None}
    with proxy(password="pa55word") as between, Web(tools_app(host=NAME), **place) as web:
        monkeypatch.setenv("all_proxy", with_password(between, "pa55word"))
        with Toolbox({"web": HttpServer(url=web.mcp, auth="t0ken")}, **QUICK) as toolbox:
            assert toolbox.call("web_echo", {"text": "x"}).text == "x"

    assert {seen.headers["authorization"] for seen in web.posts()} == {"Bearer t0ken"}


@pytest.mark.parametrize("tls", [False, True], ids=["http", "https"])
def test_a_proxy_that_refuses_is_an_error_without_its_password(
    monkeypatch: pytest.MonkeyPatch, tls: bool
) -> None:
    with proxy(password="another") as between:
        monkeypatch.setenv("all_proxy", with_password(between, "pa55word"))
        server = HttpServer(url=f"http{'s' if tls else ''}://{NAME}/mcp")
        with pytest.raises(ConnectError, match=r"407 .*the proxy wants a user and password") as caught:
            Toolbox({"web": server}, **QUICK).open()

    assert "pa55word" not in told(caught.value)


def test_a_proxy_that_is_not_there_is_an_error_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        monkeypatch.setenv("all_proxy", f"http://ada:pa55word@127.0.0.1:{nobody.getsockname()[1]}")
        with pytest.raises(ServerStartError) as caught:
            Toolbox({"web": f"http://{NAME}/mcp"}, **QUICK).open()

    assert "pa55word" not in told(caught.value)


def test_a_login_goes_through_the_proxy_too(
    certificate: str, authority_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority_file))
    authority, browser = Authority(), Browser()
    with proxy() as between, protected(authority, host=NAME, certificate=certificate) as web:
        monkeypatch.setenv("https_proxy", between.url)
        server = HttpServer(url=web.mcp, auth=OAuth(open_browser=browser))
        with Toolbox({"web": server}, **QUICK) as toolbox:
            assert toolbox.call("web_echo", {"text": "x"}).text == "x"

    assert authority.logins == 1
    assert set(between.asked) == {("CONNECT", f"{NAME}:{web.port}")}


def with_password(between: Proxy, password: str) -> str:
    return f"http://ada:{password}@127.0.0.1:{between.port}"


def told(error: BaseException | None) -> str:
    """An error and all that are chained to it."""
    return "" if error is None else repr(error) + str(error) + told(error.__cause__ or error.__context__)
