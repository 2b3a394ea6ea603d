"""How cassettes are recorded, scrubbed and matched.

Playing back needs no server and no network. `make record` starts the real servers, each on a fixed
port, and writes every cassette anew.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest
from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel
from starlette.responses import Response

from mcp_adapters import HttpServer
from mcp_adapters.config import ProtocolChoice
from tests.real_servers import everything_over_http
from tests.web import Script, Seen, Web

PORT = 18_741
TOKEN = "t0p-s3cret-token"
COOKIE = "c00kie-of-the-user"
SECRETS = (TOKEN, COOKIE)
"""What is sent while recording, and must not be in any cassette."""

_HIDDEN = ("authorization", "cookie", "set-cookie", "mcp-session-id", "x-api-key")
_VARYING = ("date", "etag", "server", "user-agent", "keep-alive")


class Weather(BaseModel):
    celsius: float
    words: str


def sdk_app(*, json_response: bool) -> Callable[[str], Any]:
    def app(_: str) -> Any:
        server = MCPServer("recorded", version="1.0", instructions="Ask for weather.", log_level="CRITICAL")

        @server.tool()
        async def weather(city: str) -> Weather:
            """Tell the weather of a city."""
            return Weather(celsius=21.5, words=f"sunny in {city}")

        @server.tool(structured_output=False)
        async def broken() -> str:
            """Fail."""
            raise ValueError("it broke")

        return server.streamable_http_app(json_response=json_response)

    return app


def only_with_the_token(seen: Seen) -> Response | None:
    if seen.headers.get("authorization") == f"Bearer {TOKEN}":
        return None
    challenge = {"WWW-Authenticate": 'Bearer error="invalid_token"', "Set-Cookie": f"user={COOKIE}"}
    return Response(status_code=401, headers=challenge)


class Forgetful:
    """Knows the session of the first two calls no more when the third comes."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, seen: Seen) -> Response | None:
        # initialize, initialized, tools/list and one call come before.
        self.calls += seen.method == "POST"
        return Response(status_code=404) if self.calls == 5 else None


@contextmanager
def sdk(*, json_response: bool, script: Script) -> Iterator[None]:
    with Web(sdk_app(json_response=json_response), port=PORT) as web:
        web.front.script = script
        yield


@pytest.fixture
def serving(record_mode: str) -> Callable[[AbstractContextManager[Any]], AbstractContextManager[Any]]:
    """Run a server while recording; playing back runs none."""

    @contextmanager
    def maybe(server: AbstractContextManager[Any]) -> Iterator[None]:
        if record_mode == "none":
            yield
            return
        with server:
            yield

    return maybe


@contextmanager
def everything() -> Iterator[None]:
    with everything_over_http(port=PORT):
        yield


def server(protocol: ProtocolChoice, *, token: str | None = TOKEN) -> HttpServer:
    return HttpServer(url=f"http://127.0.0.1:{PORT}/mcp", protocol=protocol, auth=token)


@pytest.fixture(scope="module")
def vcr_config() -> dict[str, Any]:
    return {
        "match_on": ["method", "uri", "message"],
        "before_record_request": scrubbed_request,
        "before_record_response": scrubbed_response,
        "decode_compressed_response": True,
    }


def pytest_recording_configure(config: Any, vcr: Any) -> None:
    vcr.register_matcher("message", same_message)


def same_message(first: Any, second: Any) -> None:
    """Two requests carry the same JSON, but for the version that this package has."""
    assert message_of(first) == message_of(second)


def message_of(request: Any) -> Any:
    body = request.body or b""
    text = body.decode() if isinstance(body, bytes) else body
    return json.loads(re.sub(r'("name":"mcp-adapters","version":)"[^"]*"', r'\1"*"', text) or "null")


def scrubbed_request(request: Any) -> Any:
    _scrub_headers(request.headers, "scrubbed")
    request.body = _without_secrets(request.body)
    return request


def scrubbed_response(response: dict[str, Any]) -> dict[str, Any]:
    _scrub_headers(response["headers"], ["scrubbed"])
    response["body"]["string"] = _without_secrets(response["body"]["string"])
    return response


def _scrub_headers(headers: Any, put: Any) -> None:
    for name in list(headers):
        if name.lower() in _HIDDEN:
            headers[name] = put
        elif name.lower() in _VARYING:
            del headers[name]


def _without_secrets(body: Any) -> Any:
    for secret in SECRETS if isinstance(body, bytes) else ():
        body = body.replace(secret.encode(), b"scrubbed")
    return body
