"""Signing in by OAuth, against real authorization servers on this machine."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import time
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from mcp.shared.auth import OAuthClientInformationFull
from starlette.responses import Response

from mcp_adapters import (
    AuthError,
    ClientCredentials,
    HttpServer,
    MemoryTokenStore,
    OAuth,
    Toolbox,
)
from mcp_adapters.config import ProtocolChoice
from tests.web import ERAS, Gate, Seen, Web, tools_app

from .authority import Authority, Browser, ProgramAuthority, protected

QUICK = {"call_timeout": 20.0, "connect_timeout": 20.0}


@pytest.fixture
def authority() -> Authority:
    return Authority()


@pytest.fixture
def browser() -> Browser:
    return Browser()


@pytest.fixture
def web(authority: Authority) -> Iterator[Web]:
    with protected(authority) as server:
        yield server


def with_login(web: Web, browser: Browser, **options: Any) -> dict[str, HttpServer]:
    protocol = options.pop("protocol", "auto")
    return {"web": HttpServer(url=web.mcp, protocol=protocol, auth=OAuth(open_browser=browser, **options))}


@pytest.mark.parametrize("era", ERAS)
def test_a_person_signs_in_once_and_every_call_has_the_token(
    web: Web, authority: Authority, browser: Browser, era: ProtocolChoice
) -> None:
    with Toolbox(with_login(web, browser, protocol=era), **QUICK) as toolbox:
        for text in ("one", "two"):
            assert toolbox.call("web_echo", {"text": text}).text == text

    assert (authority.logins, len(browser.opened)) == (1, 1)
    assert "You are signed in" in browser.pages[0]
    (token,) = authority.access
    assert {seen.headers.get("authorization") for seen in web.posts()[-2:]} == {f"Bearer {token}"}


async def test_many_first_calls_make_one_login_and_are_at_the_server_together(
    authority: Authority, browser: Browser
) -> None:
    """The server lets nobody go before ten are inside: calls in a row would never end."""
    gate = Gate(10)
    with protected(authority, gate) as web:
        async with Toolbox(with_login(web, browser), **QUICK) as toolbox:
            authority.access.clear()
            authority.refresh.clear()
            calls = (toolbox.acall("web_meet", {"name": "authorization"}) for _ in range(10))
            texts = {result.text for result in await asyncio.gather(*calls)}

    assert texts == {f"Bearer {token}" for token in authority.access}
    assert (gate.most, authority.logins) == (10, 2)


def test_a_token_whose_time_is_over_is_renewed_before_it_is_sent(
    web: Web, authority: Authority, browser: Browser
) -> None:
    authority.lifetime = 1
    with Toolbox(with_login(web, browser), **QUICK) as toolbox:
        authority.lifetime = 3600
        before = [seen.headers.get("authorization") for seen in web.posts()]
        refreshes = authority.refreshes
        toolbox.call("web_echo", {"text": "x"})

    assert (authority.logins, authority.refreshes) == (1, refreshes + 1)
    assert len(web.posts()) == len(before) + 1


async def test_a_token_that_the_server_revokes_in_the_middle_of_a_run_is_renewed_once_for_all(
    authority: Authority, browser: Browser
) -> None:
    gate = Gate(5)
    with protected(authority, gate) as web:
        async with Toolbox(with_login(web, browser), **QUICK) as toolbox:
            authority.access.clear()
            calls = (toolbox.acall("web_meet", {"name": "authorization"}) for _ in range(5))
            texts = {result.text for result in await asyncio.gather(*calls)}

    assert len(texts) == 1
    assert (authority.logins, authority.refreshes) == (1, 1)


def test_a_login_that_cannot_be_renewed_begins_anew(web: Web, authority: Authority, browser: Browser) -> None:
    with Toolbox(with_login(web, browser), **QUICK) as toolbox:
        authority.access.clear()
        authority.refresh.clear()

        assert toolbox.call("web_echo", {"text": "anew"}).text == "anew"

    assert authority.logins == 2


def test_a_kept_login_serves_the_next_toolbox_and_its_expiry_is_known(
    web: Web, authority: Authority, browser: Browser
) -> None:
    store = MemoryTokenStore()
    servers = with_login(web, browser, store=store)
    with Toolbox(servers, **QUICK):
        pass
    (name,) = store._texts
    kept = json.loads(store.load(name) or "")
    kept["expires_at"] = time.time() - 1
    store.save(name, json.dumps(kept))
    old = kept["tokens"]["access_token"]
    before = len(web.posts())

    with Toolbox(servers, **QUICK) as toolbox:
        assert toolbox.call("web_echo", {"text": "again"}).text == "again"

    assert (authority.logins, authority.refreshes) == (1, 1)
    assert f"Bearer {old}" not in {seen.headers.get("authorization") for seen in web.posts()[before:]}
    assert json.loads(store.load(name) or "")["tokens"]["access_token"] != old


def test_a_kept_login_that_cannot_be_read_is_made_anew(
    web: Web, authority: Authority, browser: Browser
) -> None:
    store = MemoryTokenStore()
    servers = with_login(web, browser, store=store)
    with Toolbox(servers, **QUICK):
        pass
    (name,) = store._texts
    store.save(name, "{not json")

    with Toolbox(servers, **QUICK) as toolbox:
        assert toolbox.call("web_echo", {"text": "again"}).text == "again"

    assert authority.logins == 2


def test_a_token_for_somebody_else_is_an_error_and_nobody_is_asked_twice(browser: Browser) -> None:
    authority = Authority(audience="https://elsewhere.example/mcp")
    with protected(authority) as web:
        server = with_login(web, browser, store=MemoryTokenStore())
        with pytest.raises(AuthError, match="sign in again") as caught, Toolbox(server, **QUICK):
            pass

    assert caught.value.phase == "connect"
    assert len(browser.opened) == 1


def test_the_scopes_of_the_settings_are_asked_for(web: Web, authority: Authority, browser: Browser) -> None:
    with Toolbox(with_login(web, browser, scopes=["tools", "admin"]), **QUICK):
        pass

    (token,) = authority.access.values()
    assert token.scopes == ["tools", "admin"]


def test_a_right_that_one_call_lacks_is_asked_for_once_and_the_call_goes_through(
    web: Web, authority: Authority, browser: Browser
) -> None:
    wider = 'Bearer error="insufficient_scope", scope="admin"'

    def only_admins(seen: Seen) -> Response | None:
        token = authority.access.get(seen.headers.get("authorization", "").removeprefix("Bearer "))
        if seen.rpc != "tools/call" or token is None or "admin" in token.scopes:
            return None
        return Response(status_code=403, headers={"WWW-Authenticate": wider})

    with Toolbox(with_login(web, browser), **QUICK) as toolbox:
        web.front.script = only_admins
        assert toolbox.call("web_echo", {"text": "wider"}).text == "wider"

    assert [sorted(token.scopes) for token in authority.access.values()] == [["tools"], ["admin", "tools"]]


def test_a_right_that_is_never_given_is_an_error_and_nobody_is_asked_again_for_it(
    web: Web, browser: Browser
) -> None:
    never = Response(
        status_code=403, headers={"WWW-Authenticate": 'Bearer error="insufficient_scope", scope="admin"'}
    )
    with Toolbox(with_login(web, browser), **QUICK) as toolbox:
        web.front.script = lambda seen: never if seen.rpc == "tools/call" else None
        for _ in range(2):
            with pytest.raises(AuthError) as caught:
                toolbox.call("web_echo", {"text": "x"})

    assert (caught.value.phase, caught.value.tool) == ("call", "echo")
    assert len(browser.opened) == 2


def test_an_authority_that_is_down_is_an_error_and_nobody_is_asked_to_sign_in(
    web: Web, authority: Authority, browser: Browser
) -> None:
    with Toolbox(with_login(web, browser), **QUICK) as toolbox:
        authority.access.clear()
        web.front.script = lambda seen: Response(status_code=503) if seen.path == "/token" else None
        with pytest.raises(AuthError, match="HTTP 503"):
            toolbox.call("web_echo", {"text": "x"})
        web.front.script = lambda _: None

        assert toolbox.call("web_echo", {"text": "next"}).text == "next"

    assert (authority.logins, authority.refreshes, len(browser.opened)) == (1, 1, 1)


def test_a_person_who_says_no_is_an_error_with_the_reason(
    web: Web, authority: Authority, browser: Browser
) -> None:
    """And is not asked again by the next calls."""
    with Toolbox(with_login(web, browser), **QUICK) as toolbox:
        authority.deny = True
        authority.access.clear()
        authority.refresh.clear()
        for _ in range(3):
            with pytest.raises(AuthError, match="access_denied not you"):
                toolbox.call("web_echo", {"text": "x"})

    assert "The login failed" in browser.pages[1]
    assert len(browser.opened) == 2


def test_a_person_who_never_comes_back_is_not_waited_for_for_ever(web: Web) -> None:
    shown: list[str] = []
    auth = OAuth(open_browser=shown.append, login_timeout=0.2)
    with (
        pytest.raises(AuthError, match="nobody signed in in time"),
        Toolbox({"web": HttpServer(url=web.mcp, auth=auth)}, **QUICK),
    ):
        pass

    assert len(shown) == 1


def test_a_browser_that_cannot_be_shown_is_an_error(web: Web) -> None:
    def broken(_: str) -> None:
        raise OSError("no display")

    with (
        pytest.raises(AuthError, match="no display"),
        Toolbox({"web": HttpServer(url=web.mcp, auth=OAuth(open_browser=broken))}, **QUICK),
    ):
        pass


async def test_a_browser_may_be_shown_by_an_async_function(web: Web, authority: Authority) -> None:
    async def show(address: str) -> None:
        async with httpx2.AsyncClient(follow_redirects=True) as client:
            await client.get(address)

    async with Toolbox({"web": HttpServer(url=web.mcp, auth=OAuth(open_browser=show))}, **QUICK):
        pass

    assert authority.logins == 1


def test_a_client_that_is_registered_already_does_not_register(
    web: Web, authority: Authority, browser: Browser, unused_port: int
) -> None:
    redirect = f"http://localhost:{unused_port}/back"
    authority.clients["known"] = OAuthClientInformationFull(
        client_id="known",
        client_secret="s3cret",
        redirect_uris=[redirect],  # type: ignore[list-item]
        token_endpoint_auth_method="client_secret_basic",
        scope="tools",
    )
    login = with_login(
        web, browser, client_id="known", client_secret="s3cret", issuer=web.url, redirect_uri=redirect
    )
    with Toolbox(login, **QUICK) as toolbox:
        assert toolbox.call("web_echo", {"text": "x"}).text == "x"

    assert list(authority.clients) == ["known"]


def test_a_login_that_another_program_describes_is_done(
    web: Web,
    authority: Authority,
    browser: Browser,
    unused_port: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The file is one of Claude Code's; its client may come back to one address alone."""
    authority.clients["known"] = OAuthClientInformationFull(
        client_id="known",
        redirect_uris=[f"http://localhost:{unused_port}/callback"],  # type: ignore[list-item]
        token_endpoint_auth_method="none",
        scope="tools",
    )
    told = {"clientId": "known", "callbackPort": unused_port, "scopes": "tools"}
    file = tmp_path / ".mcp.json"
    file.write_text(json.dumps({"mcpServers": {"web": {"type": "http", "url": web.mcp, "oauth": told}}}))
    monkeypatch.setattr(webbrowser, "open", lambda address: browser(address) is None)
    with Toolbox(file, **QUICK) as toolbox:
        assert toolbox.call("web_echo", {"text": "x"}).text == "x"

    assert list(authority.clients) == ["known"]
    assert authority.logins == 1


@pytest.fixture
def unused_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.mark.parametrize("name", ["authorization_servers", "authorization_endpoint", "token_endpoint"])
def test_a_login_never_leads_to_an_insecure_address(browser: Browser, name: str) -> None:
    """Neither a browser nor a request goes where a server's metadata would lead it in plain text."""
    bad = "http://authority.example/x"
    with Web(tools_app()) as web:
        replaced = {
            name: [bad] if name.endswith("s") else bad,
            "registration_endpoint": f"{web.url}/register",
        }
        web.front.script = ProgramAuthority(web.url, replaced=replaced)
        login = with_login(web, browser, client_id="known")
        with pytest.raises(AuthError, match="not https"), Toolbox(login, **QUICK):
            pass

    assert [address for address in browser.opened if address.startswith(bad)] == []


# -- programs -------------------------------------------------------------------------------------


def test_a_program_signs_in_with_its_secret_and_again_when_the_token_is_refused() -> None:
    with Web(tools_app()) as web:
        authority = web.front.script = ProgramAuthority(web.url)
        auth = ClientCredentials(
            client_id="robot", client_secret="r0b0t", issuer=web.url, scopes="tools more"
        )
        with Toolbox({"web": HttpServer(url=web.mcp, auth=auth)}, **QUICK) as toolbox:
            authority.tokens.clear()

            assert (
                toolbox.call("web_header", {"name": "authorization"}).text == f"Bearer {authority.tokens[0]}"
            )

    assert [form["grant_type"] for form in authority.asked] == ["client_credentials"] * 2
    assert {form["scope"] for form in authority.asked} == {"tools more"}


def test_a_program_signs_in_with_a_signed_assertion() -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    with Web(tools_app()) as web:
        authority = web.front.script = ProgramAuthority(web.url, public_key=key.public_key())
        auth = {
            "type": "client_credentials",
            "client_id": "robot",
            "private_key": pem.decode(),
            "signing_algorithm": "ES256",
            "issuer": web.url,
        }
        with Toolbox({"web": {"url": web.mcp, "auth": auth}}, **QUICK) as toolbox:
            assert toolbox.call("web_echo", {"text": "x"}).text == "x"

    assert len(authority.tokens) == 1


@pytest.mark.parametrize(("secret", "issuer"), [("wrong", None), ("r0b0t", "https://other.example")])
def test_a_program_that_may_not_sign_in_is_an_error_that_says_what_to_check(
    secret: str, issuer: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with Web(tools_app()) as web:
        authority = web.front.script = ProgramAuthority(web.url)
        auth = ClientCredentials(client_id="robot", client_secret=secret, issuer=issuer or web.url)
        server = HttpServer(url=web.mcp, auth=auth)
        with pytest.raises(AuthError, match="'client_id'") as caught, Toolbox({"web": server}, **QUICK):
            pass

    assert len(authority.tokens) == 0
    shown = caplog.text + str(caught.value) + repr(server) + repr(auth) + server.model_dump_json()
    assert secret not in shown


def test_no_token_gets_into_a_log(
    web: Web, authority: Authority, browser: Browser, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with Toolbox(with_login(web, browser), **QUICK) as toolbox:
        authority.access.clear()
        toolbox.call("web_echo", {"text": "x"})
        status = repr(toolbox.status)

    given = [*authority.access, *authority.refresh]
    assert len(given) >= 2
    # Of the library's own traffic; the tests' browser runs in this process too.
    ours = [r.getMessage() for r in caplog.records if "code=" not in r.getMessage()]
    assert [token for token in given if token in status + "".join(ours)] == []
