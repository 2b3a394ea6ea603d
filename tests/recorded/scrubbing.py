"""What a cassette keeps of an exchange, and when a request counts as the recorded one.

In: requests and responses as vcrpy holds them. Out: the same without secrets, and without what would
be another at each recording. What is scrubbed already stays as it is: vcrpy scrubs what it plays back
too, so that both sides of a comparison look alike.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

HIDDEN = ("authorization", "cookie", "proxy-authorization", "set-cookie", "x-api-key")
"""Headers whose values are secret as a whole."""
VARYING = ("date", "etag", "keep-alive", "server", "user-agent")
"""Headers that say nothing about the protocol and change by themselves."""
COMPARED = (
    "accept",
    "authorization",
    "content-type",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
)
"""Headers that belong to what a request says; of credentials it counts whether there are any."""

_SESSION = "mcp-session-id"
_TOKENS = re.compile(
    rb'("(?:access_token|client_secret|id_token|refresh_token)"\s*:\s*")[^"]*'
    rb"|(\b(?:assertion|client_assertion|client_secret|code|code_verifier|refresh_token)=)[^&\s\"]*"
)
_UUID = re.compile(rb"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
_OWN_VERSION = re.compile(r'("name":"mcp-adapters","version":)"[^"]*"')


class Scrubber:
    """Scrubs one cassette; sessions and UUIDs become numbers, so that different ones stay different.

    Args:
        secrets: What must not be in a body.

    """

    def __init__(self, secrets: Iterable[str]) -> None:
        self._secrets = [secret.encode() for secret in secrets]
        self._sessions: dict[str, str] = {}
        self._uuids: dict[bytes, bytes] = {}

    def request(self, request: Any) -> Any:
        """The request as it is kept; None for one that is not kept."""
        if request.method == "GET" and "text/event-stream" in request.headers.get("accept", ""):
            return None  # a stream for messages of the server has no end, and so cannot be recorded
        for name, values in self._headers(request.headers).items():
            request.headers[name] = values
        for name in [name for name in request.headers if name.lower() in VARYING]:
            del request.headers[name]
        request.body = self._body(request.body)
        return request

    def response(self, response: dict[str, Any]) -> dict[str, Any]:
        headers = {
            name: [self._header(name, value) for value in values]
            for name, values in response["headers"].items()
            if name.lower() not in VARYING
        }
        return {**response, "headers": headers, "body": {"string": self._body(response["body"]["string"])}}

    def _headers(self, headers: Any) -> dict[str, str]:
        return {name: self._header(name, value) for name, value in headers.items()}

    def _header(self, name: str, value: str) -> str:
        if name.lower() in HIDDEN:
            return "scrubbed"
        if name.lower() == _SESSION and not re.fullmatch(r"session-\d+", value):
            return self._sessions.setdefault(value, f"session-{len(self._sessions) + 1}")
        return value

    def _body(self, body: Any) -> Any:
        if not isinstance(body, bytes):
            return body
        for secret in self._secrets:
            body = body.replace(secret, b"scrubbed")
        body = _TOKENS.sub(lambda found: (found[1] or found[2]) + b"scrubbed", body)
        return _UUID.sub(lambda found: self._numbered(found[0]), body)

    def _numbered(self, uuid: bytes) -> bytes:
        if uuid.startswith(b"00000000-"):
            return uuid
        number = len(self._uuids) + 1
        return self._uuids.setdefault(uuid, b"00000000-0000-4000-8000-%012d" % number)


def same_message(first: Any, second: Any) -> None:
    """Fail unless two requests carry the same JSON, but for the version that this package has."""
    assert message_of(first) == message_of(second)


def same_headers(first: Any, second: Any) -> None:
    """Fail unless two requests say the same in their headers."""
    assert _said(first) == _said(second)


def message_of(request: Any) -> Any:
    """What a request carries: parsed where it is JSON, else its text."""
    body = request.body or b""
    text = _OWN_VERSION.sub(r'\1"*"', body.decode() if isinstance(body, bytes) else body)
    try:
        return json.loads(text)
    except ValueError:
        return text


def _said(request: Any) -> dict[str, str | None]:
    return {name: request.headers.get(name) for name in COMPARED}
