"""A server whose tools, resources and prompts answer what a test says.

In: what it offers and answers. Out: an MCP server in this process, of either protocol era, to be given to a
`Toolbox` as it is. It speaks JSON-RPC itself, so that it can also say what an SDK would not let it.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from mcp_adapters.testing.answers import Answer, Die, Refuse, Silence, written
from mcp_adapters.testing.expecting import Expecting, Sent
from mcp_adapters.testing.wire import Say

__all__ = ("ScriptedServer",)

Era: TypeAlias = Literal["2026-07-28", "2025-11-25"]

_UNKNOWN_METHOD = -32601
"""By JSON-RPC 2.0, section 5.1."""


class ScriptedServer(Expecting):
    """A server in memory that answers by a script.

    Use it as a server of a `Toolbox`, as often as you like; `sent` and `calls` tell what came. As a context
    manager it fails at the end for what it had no answer to.

    Args:
        name: What it calls itself.
        protocol: The version that it speaks; a client that asks for another one is told so.
        instructions: What it tells models about its use.

    """

    def __init__(
        self, name: str = "scripted", *, protocol: Era = "2026-07-28", instructions: str | None = None
    ) -> None:
        super().__init__()
        self.name = name
        self.protocol = protocol
        self.instructions = instructions
        self._tools: dict[str, dict[str, Any]] = {}
        self._answers: dict[str, list[Answer]] = {}
        self._repeats: dict[str, bool] = {}
        self._resources: dict[str, dict[str, Any]] = {}
        self._prompts: dict[str, tuple[dict[str, Any], list[dict[str, Any]]]] = {}

    def tool(
        self,
        name: str,
        *answers: Answer,
        schema: Mapping[str, Any] | None = None,
        description: str | None = None,
        **definition: Any,
    ) -> None:
        """Offer a tool, or replace it.

        Args:
            name: Its name.
            answers: One is given for every call; of several, each is given once, and a call more is not
                expected. None at all: its arguments, as JSON text.
            schema: Its input schema; None takes any arguments.
            description: What it does; None sends none.
            definition: Further fields of its definition, by the protocol's names: `outputSchema`,
                `annotations`, `title`, `_meta`.

        """
        described = {} if description is None else {"description": description}
        self._tools[name] = {
            "name": name,
            "inputSchema": {"type": "object"} if schema is None else schema,
            **described,
            **definition,
        }
        self._answers[name] = list(answers) or [lambda arguments: json.dumps(arguments, ensure_ascii=False)]
        self._repeats[name] = len(answers) < 2

    def resource(
        self, uri: str, text: str, *, name: str | None = None, mime_type: str = "text/plain"
    ) -> None:
        """Offer a resource with a text, or replace it.

        Args:
            uri: Its address.
            text: What is read there.
            name: Its name; None takes the address.
            mime_type: Its type.

        """
        self._resources[uri] = {"uri": uri, "name": name or uri, "mimeType": mime_type, "text": text}

    def prompt(self, name: str, *messages: tuple[str, str], arguments: Sequence[str] = ()) -> None:
        """Offer a prompt, or replace it.

        Args:
            name: Its name.
            messages: A role ("user" or "assistant") and a text each; `{argument}` in a text is replaced.
            arguments: The names of its arguments, all required.

        """
        listed = {"name": name, "arguments": [{"name": one, "required": True} for one in arguments]}
        shown = [{"role": role, "content": {"type": "text", "text": text}} for role, text in messages]
        self._prompts[name] = (listed, shown)

    async def _respond(self, request: Sent, message: Mapping[str, Any], say: Say) -> bool:
        try:
            outcome = await self._outcome(request)
        except Refuse as refused:
            outcome = {"error": {"code": refused.code, "message": refused.message}}
        except Silence:
            return True
        except Die:
            return False
        await say({"id": message["id"], **outcome})
        return True

    async def _outcome(self, request: Sent) -> dict[str, Any]:
        """What a request is answered with."""
        if request.method == "tools/call":
            outcome = await self._called(request)
        else:
            answers: dict[str, Callable[[Sent], dict[str, Any]]] = {
                "server/discover": self._greeting,
                "initialize": self._greeting,
                "resources/read": self._read,
                "prompts/get": self._prompted,
            }
            outcome = answers.get(request.method, self._listing)(request)
        if "result" in outcome and self.protocol == "2026-07-28":
            return {"result": {"resultType": "complete", **outcome["result"]}}
        return outcome

    def _listing(self, request: Sent) -> dict[str, Any]:
        listings: dict[str, dict[str, Any]] = {
            "ping": {},
            "logging/setLevel": {},
            "tools/list": {"tools": list(self._tools.values())},
            "resources/list": {"resources": [_listed(one) for one in self._resources.values()]},
            "resources/templates/list": {"resourceTemplates": []},
            "prompts/list": {"prompts": [listed for listed, _ in self._prompts.values()]},
        }
        if request.method not in listings:
            raise Refuse(f"Method not found: {request.method}", _UNKNOWN_METHOD)
        return {"result": listings[request.method]}

    def _greeting(self, request: Sent) -> dict[str, Any]:
        modern = request.method == "server/discover"
        if modern != (self.protocol == "2026-07-28"):
            raise Refuse(f"Method not found: {request.method}", _UNKNOWN_METHOD)
        offers: dict[str, Any] = {"tools": {}}
        offers |= {"resources": {}} if self._resources else {}
        offers |= {"prompts": {}} if self._prompts else {}
        said = {} if self.instructions is None else {"instructions": self.instructions}
        info = {"name": self.name, "version": "1"}
        greeting = {"capabilities": offers, **said}
        if modern:
            meta = {"io.modelcontextprotocol/serverInfo": info}
            return {"result": {"supportedVersions": [self.protocol], "_meta": meta, **greeting}}
        return {"result": {"protocolVersion": self.protocol, "serverInfo": info, **greeting}}

    async def _called(self, request: Sent) -> dict[str, Any]:
        name, arguments = str(request.params.get("name")), dict(request.params.get("arguments") or {})
        if name not in self._tools:
            return self.refuse(request, f"there is no tool {name!r}")
        if not self._answers[name]:
            return self.refuse(request, f"all answers of the tool {name!r} were given")
        answer = self._answers[name][0] if self._repeats[name] else self._answers[name].pop(0)
        if callable(answer):
            given = answer(arguments)
            answer = await given if inspect.isawaitable(given) else given
        if isinstance(answer, Refuse | Die | Silence):
            raise answer
        return {"result": written(answer)}

    def _read(self, request: Sent) -> dict[str, Any]:
        resource = self._resources.get(str(request.params.get("uri")))
        if resource is None:
            raise Refuse(f"no resource {request.params.get('uri')!r}", -32602)
        contents = {key: value for key, value in resource.items() if key != "name"}
        return {"result": {"contents": [contents]}}

    def _prompted(self, request: Sent) -> dict[str, Any]:
        name = str(request.params.get("name"))
        if name not in self._prompts:
            raise Refuse(f"no prompt {name!r}", -32602)
        given = {str(key): str(value) for key, value in (request.params.get("arguments") or {}).items()}
        messages = [_filled(message, given) for message in self._prompts[name][1]]
        return {"result": {"messages": messages}}


def _listed(resource: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in resource.items() if key != "text"}


def _filled(message: Mapping[str, Any], arguments: Mapping[str, str]) -> dict[str, Any]:
    text = message["content"]["text"]
    for name, value in arguments.items():
        text = text.replace(f"{{{name}}}", value)
    return {**message, "content": {**message["content"], "text": text}}
