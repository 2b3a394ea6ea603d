"""The real servers whose sessions are recorded, and what is secret about them.

Each runs on one fixed port, so that recorded addresses stay the same. Playing back starts none.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel
from starlette.responses import Response

from mcp_adapters import ClientCredentials, HttpServer
from mcp_adapters.config import ProtocolChoice
from tests.auth.authority import ProgramAuthority
from tests.real_servers import everything_over_http
from tests.web import Script, Seen, Web, tools_app

PORT = 18_741
URL = f"http://127.0.0.1:{PORT}"
TOKEN = "t0p-s3cret-token"
COOKIE = "c00kie-of-the-user"
CLIENT_SECRET = "s3cret-of-the-robot"
BASIC = base64.b64encode(f"robot:{CLIENT_SECRET}".encode()).decode()
SECRETS = (TOKEN, COOKIE, CLIENT_SECRET, BASIC)
"""What goes over the wire while recording, and must not be in any cassette; `BASIC` is how one is sent."""


def server(protocol: ProtocolChoice, *, auth: Any = TOKEN) -> HttpServer:
    """One of the servers below, as a toolbox gets it."""
    return HttpServer(url=f"{URL}/mcp", protocol=protocol, auth=auth)


def robot() -> ClientCredentials:
    return ClientCredentials(client_id="robot", client_secret=CLIENT_SECRET, issuer=URL)


class Weather(BaseModel):
    celsius: float
    words: str


class OneToken:
    """Knows one token, and nobody else's."""

    async def verify_token(self, token: str) -> AccessToken | None:
        if token != TOKEN:
            return None
        return AccessToken(token=token, client_id="recorder", scopes=["tools"], resource=f"{URL}/mcp")


def _weather_server() -> MCPServer:
    settings = AuthSettings(
        issuer_url=f"{URL}/login",  # type: ignore[arg-type]
        resource_server_url=f"{URL}/mcp",  # type: ignore[arg-type]
        required_scopes=["tools"],
        validate_token_resource=True,
    )
    server = MCPServer(
        "recorded",
        version="1.0",
        instructions="Ask for weather.",
        log_level="CRITICAL",
        auth=settings,
        token_verifier=OneToken(),
    )

    @server.tool()
    async def weather(city: str) -> Weather:
        """Tell the weather of a city."""
        return Weather(celsius=21.5, words=f"sunny in {city}")

    @server.tool(structured_output=False)
    async def forecast(city: str, ctx: Context) -> str:
        """Tell the weather to come; says how far it is, so that a server that may stream does."""
        await ctx.report_progress(1, 2, "looking at the sky")
        return f"sunny in {city}"

    @server.tool(structured_output=False)
    async def broken() -> str:
        """Fail."""
        raise ValueError("it broke")

    return server


def _with_a_cookie(app: Any) -> Any:
    """Have every answer set a cookie, as servers behind load balancers do."""

    async def served(scope: Any, receive: Any, send: Any) -> None:
        async def sent(message: Any) -> None:
            if message["type"] == "http.response.start":
                cookie = (b"set-cookie", f"user={COOKIE}".encode())
                message = {**message, "headers": [*message.get("headers", ()), cookie]}
            await send(message)

        await app(scope, receive, sent if scope["type"] == "http" else send)

    return served


class Forgetful:
    """Knows the session no more when the second call comes."""

    def __init__(self) -> None:
        self._posts = 0

    def __call__(self, seen: Seen) -> Response | None:
        # initialize, initialized, tools/list and one call come before.
        self._posts += seen.method == "POST"
        return Response(status_code=404) if self._posts == 5 else None


@contextmanager
def sdk(*, json_response: bool, script: Script = lambda _: None) -> Iterator[None]:
    """The SDK's server, for whoever has the token; it speaks both eras."""

    def app(_: str) -> Any:
        return _with_a_cookie(_weather_server().streamable_http_app(json_response=json_response))

    with Web(app, port=PORT) as web:
        web.front.script = script
        yield


@contextmanager
def sdk_for_programs() -> Iterator[None]:
    """The SDK's server behind an authorization server, which gives tokens to programs."""
    with Web(tools_app(json_response=True), port=PORT) as web:
        web.front.script = ProgramAuthority(url=URL, secret=CLIENT_SECRET)
        yield


@contextmanager
def everything() -> Iterator[None]:
    """The reference server in TypeScript."""
    with everything_over_http(port=PORT):
        yield
