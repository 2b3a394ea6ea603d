"""An authorization server and a server that trusts it, both real, both on this machine.

The authorization server for people is the SDK's, over a provider that keeps everything in memory and
says yes to everybody. The one for programs is a few lines of its own, since the SDK has none.
"""

from __future__ import annotations

import base64
import secrets
import time
from dataclasses import dataclass, field
from typing import Any

import httpx2
import jwt
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    TokenError,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from tests.web import Gate, Seen, Web, tools_server

SCOPE = "tools"


@dataclass
class Authority(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    """Says yes to everybody, and remembers what it gave out."""

    lifetime: int = 3600
    rotate: bool = True
    audience: str | None = None
    """Whom tokens are for; None means whom the client asks for."""
    deny: bool = False
    clients: dict[str, OAuthClientInformationFull] = field(default_factory=dict)
    codes: dict[str, AuthorizationCode] = field(default_factory=dict)
    access: dict[str, AccessToken] = field(default_factory=dict)
    refresh: dict[str, RefreshToken] = field(default_factory=dict)
    logins: int = 0
    refreshes: int = 0

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        client_info.scope = f"{SCOPE} admin"  # more than asked for, as RFC 7591 allows
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        if self.deny:
            return construct_redirect_uri(
                str(params.redirect_uri),
                error="access_denied",
                error_description="not you",
                state=params.state,
            )
        code = AuthorizationCode(
            code=secrets.token_hex(20),
            scopes=params.scopes or [SCOPE],
            expires_at=time.time() + 60,
            client_id=client.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        self.codes[code.code] = code
        return construct_redirect_uri(str(params.redirect_uri), code=code.code, state=params.state)

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        del self.codes[authorization_code.code]
        self.logins += 1
        return self._tokens(client.client_id, authorization_code.scopes, authorization_code.resource)

    async def load_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: str
    ) -> RefreshToken | None:
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        if self.refresh.pop(refresh_token.token, None) is None:
            raise TokenError("invalid_grant")
        self.refreshes += 1
        return self._tokens(client.client_id, scopes, refresh_token.resource)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    def _tokens(self, client_id: str, scopes: list[str], resource: str | None) -> OAuthToken:
        token, again = secrets.token_hex(20), secrets.token_hex(20)
        self.access[token] = AccessToken(
            token=token, client_id=client_id, scopes=scopes, resource=self.audience or resource
        )
        self.refresh[again] = RefreshToken(token=again, client_id=client_id, scopes=scopes, resource=resource)
        return OAuthToken(
            access_token=token, expires_in=self.lifetime, scope=" ".join(scopes), refresh_token=again
        )


def protected(
    authority: Authority, gate: Gate | None = None, *, scopes: list[str] | None = None, **place: Any
) -> Web:
    """A server whose tools need a token of the authority, which lives at the same address (see `Web`)."""

    def app(url: str) -> Any:
        settings = AuthSettings(
            issuer_url=url,  # type: ignore[arg-type]
            resource_server_url=f"{url}/mcp",  # type: ignore[arg-type]
            required_scopes=scopes or [SCOPE],
            validate_token_resource=True,
            client_registration_options=ClientRegistrationOptions(
                enabled=True, valid_scopes=[SCOPE, "admin"], default_scopes=[SCOPE]
            ),
        )
        server = tools_server(gate, auth_server_provider=authority, auth=settings)
        return server.streamable_http_app(host=place.get("host", "127.0.0.1"))

    return Web(app, **place)


@dataclass
class Browser:
    """A person with a browser who signs in at once."""

    pages: list[str] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)

    def __call__(self, address: str) -> None:
        self.opened.append(address)
        with httpx2.Client(follow_redirects=True) as client:
            self.pages.append(client.get(address).text)


@dataclass
class ProgramAuthority:
    """Gives tokens to programs: by a secret, or by a signed assertion; as a script for a `Web`'s front."""

    url: str
    client_id: str = "robot"
    secret: str = "r0b0t"
    public_key: Any = None
    lifetime: int = 3600
    replaced: dict[str, Any] = field(default_factory=dict)
    """What its metadata says instead."""
    tokens: list[str] = field(default_factory=list)
    asked: list[dict[str, str]] = field(default_factory=list)

    def __call__(self, seen: Seen) -> Response | None:
        if seen.path.startswith("/.well-known/oauth-protected-resource"):
            body = {"resource": f"{self.url}/mcp", "authorization_servers": [self.url]}
            return JSONResponse({**body, **self.replaced})
        if seen.path.startswith("/.well-known/oauth-authorization-server"):
            return JSONResponse(
                {
                    "issuer": self.url,
                    "authorization_endpoint": f"{self.url}/authorize",
                    "token_endpoint": f"{self.url}/token",
                    "response_types_supported": ["code"],
                    "grant_types_supported": ["client_credentials"],
                    **self.replaced,
                }
            )
        if seen.path == "/authorize":
            return_to = construct_redirect_uri(
                seen.query["redirect_uri"][0], code="c0de", state=seen.query["state"][0]
            )
            return RedirectResponse(return_to)
        if seen.path == "/token":
            return self._token  # type: ignore[return-value]
        if seen.headers.get("authorization") not in [f"Bearer {token}" for token in self.tokens]:
            return Response(status_code=401, headers={"WWW-Authenticate": "Bearer"})
        return None

    async def _token(self, scope: Any, receive: Any, send: Any) -> None:
        request = Request(scope, receive)
        form = {name: str(value) for name, value in (await request.form()).items()}
        self.asked.append(form)
        if self._knows(request, form):
            self.tokens.append(secrets.token_hex(20))
            body = {"access_token": self.tokens[-1], "token_type": "bearer", "expires_in": self.lifetime}
            await JSONResponse(body)(scope, receive, send)
        else:
            await JSONResponse({"error": "invalid_client"}, status_code=401)(scope, receive, send)

    def _knows(self, request: Request, form: dict[str, str]) -> bool:
        if (assertion := form.get("client_assertion")) is not None:
            claims = jwt.decode(assertion, self.public_key, algorithms=["ES256"], audience=self.url)
            return claims["sub"] == self.client_id
        expected = base64.b64encode(f"{self.client_id}:{self.secret}".encode()).decode()
        return request.headers.get("authorization") == f"Basic {expected}"
