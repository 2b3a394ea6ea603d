"""Authentication objects for the HTTP client, by what the configuration says.

In: a form of `config.auth`. Out: an `httpx2.Auth`, and the advice for the day it is refused. Tokens
are put on requests here, without a lock; getting them is the login's business.
"""

from __future__ import annotations

import inspect
import webbrowser
from collections.abc import AsyncGenerator, Callable, Generator
from dataclasses import dataclass
from typing import Any, assert_never
from urllib.parse import parse_qs, urlsplit

import anyio
import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthFlowError
from mcp.client.auth.extensions.client_credentials import (
    ClientCredentialsOAuthProvider,
    PrivateKeyJWTOAuthProvider,
    SignedJWTParameters,
)
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata
from pydantic import AnyUrl, SecretStr

from mcp_adapters._login import Drive, Login
from mcp_adapters._loopback import Loopback
from mcp_adapters._record import Record, Storage
from mcp_adapters._tokens import store_for
from mcp_adapters.config import ApiKeyAuth, AuthModel, BasicAuth, BearerAuth, ClientCredentials, OAuth
from mcp_adapters.errors import ConfigError

__all__ = ("Authentication", "authentication")

_NONE = "it wants credentials: give it 'auth', such as \"oauth\" or a bearer token"
_FIXED = "check that the secret under 'auth' is right, is meant for this server and has not run out"
_LOGIN = "sign in again, with an account that may use this server"
_PAUSE_S = 30.0
"""For how long nobody is asked again after a login that failed."""
_PROGRAM = "check 'client_id', its secret or key, 'issuer' and 'scopes'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Authentication:
    """How one server is told who asks."""

    auth: httpx2.Auth | None
    advice: str
    """What to do when it is refused: the end of a sentence."""
    patience: float = 0.0
    """Seconds that connecting may take on top, since a person has to sign in."""
    login: Login | None = None

    def stop(self) -> None:
        """End a login that is under way."""
        if self.login is not None:
            self.login.stop()


def authentication(key: str, url: str, form: Any) -> Authentication:
    """Make what shows a server who asks.

    Args:
        key: The server's key; part of the name under which tokens are kept.
        url: The server's address, without user and query.
        form: A model of `config.auth`, an `httpx2.Auth`, or None.

    Raises:
        ConfigError: The object under `auth` is no authentication object.

    """
    if form is None:
        return Authentication(auth=None, advice=_NONE)
    if isinstance(form, httpx2.Auth):
        return Authentication(auth=form, advice=_FIXED)
    if not isinstance(form, AuthModel):
        raise ConfigError(
            f"server {key!r}: a {type(form).__name__} cannot be 'auth'; use a form of mcp_adapters, such as "
            "BearerAuth or OAuth, or an httpx2.Auth",
            server=key,
        )
    return _of_model(key, url, form)


def _of_model(key: str, url: str, form: Any) -> Authentication:
    known: BearerAuth | ApiKeyAuth | BasicAuth | OAuth | ClientCredentials = form
    match known:
        case BearerAuth(token=token):
            return _fixed(_HeaderAuth("Authorization", SecretStr(f"Bearer {token.get_secret_value()}")))
        case ApiKeyAuth(header=header, key=secret):
            return _fixed(_HeaderAuth(header, secret))
        case BasicAuth(username=username, password=password):
            return _fixed(httpx2.BasicAuth(username, password.get_secret_value()))
        case OAuth():
            login = _browser_login(key, url, known)
            return Authentication(
                auth=_LoginAuth(login), advice=_LOGIN, patience=known.login_timeout, login=login
            )
        case ClientCredentials():
            login = _program_login(key, url, known)
            return Authentication(auth=_LoginAuth(login), advice=_PROGRAM, login=login)
        case _:
            assert_never(known)


def _fixed(auth: httpx2.Auth) -> Authentication:
    return Authentication(auth=auth, advice=_FIXED)


class _HeaderAuth(httpx2.Auth):
    """One header, always the same."""

    def __init__(self, name: str, value: SecretStr) -> None:
        self._name, self._value = name, value

    def auth_flow(self, request: httpx2.Request) -> Generator[httpx2.Request, httpx2.Response, None]:
        request.headers[self._name] = self._value.get_secret_value()
        yield request


class _LoginAuth(httpx2.Auth):
    """The token of a login; a refused one is renewed, then a new sign-in is tried, each once."""

    def __init__(self, login: Login) -> None:
        self._login = login

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        token = await self._login.token()
        response = yield _with(request, token)
        if token is not None and _wants_sign_in(response):
            self._login.refused(token)
        if response.status_code == 401 and token is not None:
            version = request.headers.get("mcp-protocol-version")
            token = await self._login.refreshed(token, version=version)
            if token is not None:
                response = yield _with(request, token)
        if _wants_sign_in(response):
            token = await self._login.signed_in(token, response)
            response = yield _with(request, token)
        if not _wants_sign_in(response):
            self._login.proven(token)


def _with(request: httpx2.Request, token: str | None) -> httpx2.Request:
    request.headers.pop("Authorization", None)
    if token is not None:
        request.headers["Authorization"] = f"Bearer {token}"
    return request


def _wants_sign_in(response: httpx2.Response) -> bool:
    """Whether other credentials would help.

    Source: RFC 6750, section 3.1 ("insufficient_scope").
    """
    challenge = response.headers.get("www-authenticate", "")
    return response.status_code == 401 or (response.status_code == 403 and "insufficient_scope" in challenge)


# -- a person signs in ----------------------------------------------------------------------------


def _browser_login(key: str, url: str, form: OAuth) -> Login:
    async def sign_in(record: Record, drive: Drive) -> None:
        async with Loopback(uri=form.redirect_uri, preferred_port=_registered_port(record)) as loopback:
            record.client = _client(form, record, loopback.uri)
            browser = _Browser(form, loopback, login)
            storage = Storage(record, refresh=False)
            provider = _provider(url, form, storage, loopback.uri, browser)
            await drive(provider, storage)

    login = Login(
        _name(key, url, form.client_id),
        url,
        store=store_for(form.store),
        refresher=lambda storage: _provider(url, form, storage, "http://127.0.0.1/callback", None),
        sign_in=sign_in,
        scopes=form.scopes,
        advice=_LOGIN,
        pause=_PAUSE_S,
    )
    return login


def _provider(
    url: str, form: OAuth, storage: Storage, redirect_uri: str, browser: _Browser | None
) -> OAuthClientProvider:
    return OAuthClientProvider(
        url,
        OAuthClientMetadata(
            client_name=form.client_name,
            redirect_uris=[AnyUrl(redirect_uri)],
            scope=" ".join(form.scopes) or None,
        ),
        storage,
        redirect_handler=browser.show if browser else None,
        callback_handler=browser.result if browser else None,
        client_metadata_url=form.client_metadata_url,
    )


class _Browser:
    """Sends a person to the authorization server and waits for the way back."""

    def __init__(self, form: OAuth, loopback: Loopback, login: Login) -> None:
        self._form, self._loopback, self._login = form, loopback, login

    async def show(self, address: str) -> None:
        # The address is the server's word, and goes to a program that opens more than web pages.
        self._login.check_address(address)
        self._loopback.expect(parse_qs(urlsplit(address).query)["state"][0])
        await _shown_to_a_person(self._form.open_browser, address)

    async def result(self) -> AuthorizationCodeResult:
        answer = await self._loopback.answer(self._form.login_timeout)
        if "error" in answer:
            told = answer.get("error_description", "")
            raise OAuthFlowError(f"the login was refused: {answer['error']} {told}".strip())
        return AuthorizationCodeResult(
            code=answer.get("code", ""), state=answer.get("state"), iss=answer.get("iss")
        )


async def _shown_to_a_person(function: Callable[[str], Any] | None, address: str) -> None:
    if function is None:
        if not await anyio.to_thread.run_sync(webbrowser.open, address):
            raise OAuthFlowError(
                "there is no browser to open; give 'open_browser' a function that shows the address"
            )
    elif inspect.iscoroutinefunction(function):
        await function(address)
    else:
        shown = await anyio.to_thread.run_sync(function, address)
        if inspect.isawaitable(shown):
            await shown


def _client(form: OAuth, record: Record, redirect_uri: str) -> OAuthClientInformationFull | None:
    """The client that is registered already, if it may come back to this address."""
    if form.client_id is not None:
        secret = form.client_secret.get_secret_value() if form.client_secret else None
        return OAuthClientInformationFull(
            client_id=form.client_id,
            client_secret=secret,
            redirect_uris=[AnyUrl(redirect_uri)],
            token_endpoint_auth_method="client_secret_basic" if secret else "none",
            issuer=form.issuer,
        )
    uris = [str(uri) for uri in (record.client.redirect_uris or [])] if record.client else []
    return record.client if redirect_uri in uris else None


def _registered_port(record: Record) -> int | None:
    """The port that the client is registered with; another would need another registration."""
    uris = (record.client.redirect_uris or []) if record.client else []
    return uris[0].port if uris else None


# -- a program signs in ---------------------------------------------------------------------------


def _program_login(key: str, url: str, form: ClientCredentials) -> Login:
    async def sign_in(record: Record, drive: Drive) -> None:
        storage = Storage(record, refresh=False)
        await drive(_program(url, form, storage), storage)

    return Login(
        _name(key, url, form.client_id),
        url,
        store=store_for(form.store),
        refresher=lambda storage: _program(url, form, storage),
        sign_in=sign_in,
        scopes=form.scopes,
        advice=_PROGRAM,
    )


def _program(url: str, form: ClientCredentials, storage: Storage) -> OAuthClientProvider:
    scope = " ".join(form.scopes) or None
    if form.client_secret is not None:
        return ClientCredentialsOAuthProvider(
            url,
            storage,
            form.client_id,
            form.client_secret.get_secret_value(),
            token_endpoint_auth_method=form.token_endpoint_auth_method,
            scope=scope,
            issuer=form.issuer,
        )
    assert form.private_key is not None
    signer = SignedJWTParameters(
        issuer=form.client_id,
        subject=form.client_id,
        signing_key=form.private_key.get_secret_value(),
        signing_algorithm=form.signing_algorithm,
    )
    return PrivateKeyJWTOAuthProvider(
        url, storage, form.client_id, signer.create_assertion_provider(), scope=scope, issuer=form.issuer
    )


def _name(key: str, url: str, client_id: str | None) -> str:
    """Under which tokens are kept: two servers with one address may be two accounts."""
    return " ".join(filter(None, (key, url, client_id)))
