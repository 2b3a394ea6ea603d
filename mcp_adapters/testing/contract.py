"""What every framework package keeps, as tests that its authors inherit.

In: a framework, and a few words on how its native tools are used. Out: test methods. Subclass
`FrameworkContract`, fill in what is abstract, and let pytest or another runner collect it. The tools are
those of servers in this process; nothing else is needed.
"""

from __future__ import annotations

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any

from mcp_adapters._toolbox import Toolbox
from mcp_adapters.frameworks import available
from mcp_adapters.testing.answers import Answer, Die, Refuse, Silence, failure, image, said
from mcp_adapters.testing.scripted import ScriptedServer

__all__ = ("FrameworkContract",)

ODD_ARGUMENTS = (
    *("config", "self", "cls", "ctx", "context", "callbacks", "run_manager", "runtime", "args", "kwargs"),
    *("input", "tool_input", "name", "x-y", "a.b", "$c", "_d", "class", "schema", "model_config"),
)
"""Names that tools of real servers have for arguments, and that machinery likes to keep for itself."""
KINDS: Mapping[str, Mapping[str, Any]] = {
    "text": said("one"),
    "texts": said("one", "two"),
    "image": image(b"\x89PNG\r\n\x1a\n", text="a picture"),
    "image alone": image(b"\x89PNG\r\n\x1a\n"),
    "audio": {"content": [{"type": "audio", "data": "AAAA", "mimeType": "audio/wav"}]},
    "link": {"content": [{"type": "resource_link", "uri": "file:///a", "name": "a"}]},
    "embedded": {"content": [{"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}}]},
    "bytes": {"content": [{"type": "resource", "resource": {"uri": "file:///a", "blob": "AAAA"}}]},
    "structured": {"structuredContent": {"rows": [1, 2]}},
    "unknown": {"content": [{"type": "hologram", "data": "?"}]},
    "nothing": {},
}
"""A result of each kind of content."""
FAILURES: Mapping[str, Answer] = {
    "failed": failure("it did not work"),
    "refused": Refuse("no such thing"),
    "lost": Die(),
    "silent": Silence(),
}
"""What a model can act on; the call with wrong arguments is made from these tools too."""


class FrameworkContract(ABC):
    """The behaviours of a framework's tools; each test makes its own toolbox."""

    framework: str
    """The name of the framework, as in `Toolbox.to`."""

    @abstractmethod
    def name_of(self, native: Any) -> str:
        """The name under which models know a native tool."""

    @abstractmethod
    def description_of(self, native: Any) -> str:
        """What models are told that it does."""

    @abstractmethod
    def schema_of(self, native: Any) -> Mapping[str, Any]:
        """The JSON Schema of its arguments, as models get it."""

    @abstractmethod
    def call(self, native: Any, arguments: Mapping[str, Any]) -> tuple[str, bool]:
        """Call a tool as an agent does, and wait.

        Args:
            native: The framework's tool.
            arguments: As a model gives them, by the names of the schema that models see.

        Returns:
            The text that a model reads, and whether it is told of a failure.

        """

    @abstractmethod
    async def acall(self, native: Any, arguments: Mapping[str, Any]) -> tuple[str, bool]:
        """Call a tool as an asynchronous agent does; as `call`."""

    def toolbox(self, server: ScriptedServer, **options: Any) -> AbstractContextManager[Toolbox]:
        """A toolbox of one server with the key `s`.

        Args:
            server: The server.
            options: Further options of `Toolbox`.

        """
        return Toolbox({"s": server}, **options)

    def natives(self, toolbox: Toolbox) -> dict[str, Any]:
        """Its tools, by the name that models see."""
        return {self.name_of(native): native for native in toolbox.to(self.framework)}

    # -- what models see ----------------------------------------------------------------------

    def test_the_framework_is_found_by_its_name(self) -> None:
        """An installed distribution offers it."""
        assert self.framework in available()

    def test_every_tool_is_made_with_its_exposed_name(self) -> None:
        """Also tools whose names no provider would take."""
        server = ScriptedServer()
        for name in ("plain", "with space", "dotted.name", "ünïcode", "x" * 100):
            server.tool(name)
        with self.toolbox(server) as toolbox:
            assert list(self.natives(toolbox)) == [tool.name for tool in toolbox]

    def test_the_description_is_the_tools(self) -> None:
        """Whole, also with several lines and with what could be taken for a template."""
        server = ScriptedServer()
        texts = {
            "one": "Does one thing.",
            "lines": "Does.\n\nAnd more.",
            "braces": "Takes {this} and %s and ${that}.",
        }
        for name, text in texts.items():
            server.tool(name, description=text)
        with self.toolbox(server) as toolbox:
            natives = self.natives(toolbox)
            assert {
                key: text
                for key, text in texts.items()
                if text not in self.description_of(natives[f"s_{key}"])
            } == {}

    def test_the_schema_is_the_projection_for_models(self) -> None:
        """With every property, also of references and of schemas that refer to themselves."""
        server = ScriptedServer()
        node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}
        server.tool(
            "tree",
            schema={
                "type": "object",
                "properties": {"root": {"$ref": "#/$defs/node"}},
                "$defs": {"node": node},
            },
        )
        server.tool("none")
        with self.toolbox(server) as toolbox:
            natives = self.natives(toolbox)
            for tool in toolbox:
                shown = self.schema_of(natives[tool.name])
                assert shown["properties"] == tool.model_schema["properties"]

    # -- arguments ----------------------------------------------------------------------------

    def test_arguments_of_every_name_reach_the_server(self) -> None:
        """Synchronously and asynchronously."""
        server = ScriptedServer()
        server.tool(
            "take",
            schema={"type": "object", "properties": {name: {"type": "string"} for name in ODD_ARGUMENTS}},
        )
        with self.toolbox(server) as toolbox:
            native = self.natives(toolbox)["s_take"]
            properties = list(self.schema_of(native)["properties"])
            for shown, name in zip(properties, ODD_ARGUMENTS, strict=True):
                self.call(native, {shown: "a"})
                asyncio.run(_awaited(self.acall(native, {shown: "b"})))
                assert server.calls[-2:] == [("take", {name: "a"}), ("take", {name: "b"})], name

    def test_what_was_left_out_stays_out(self) -> None:
        """Nothing is filled in: no null, and no default of the schema."""
        server = ScriptedServer()
        properties = {
            "a": {"type": "string"},
            "b": {"type": "integer", "default": 3},
            "c": {"type": ["string", "null"]},
        }
        server.tool("take", schema={"type": "object", "properties": properties, "required": ["a"]})
        with self.toolbox(server) as toolbox:
            self.call(self.natives(toolbox)["s_take"], {"a": "x"})
        assert server.calls == [("take", {"a": "x"})]

    def test_wrong_arguments_are_told_to_the_model_and_not_sent(self) -> None:
        """With the place of what is wrong."""
        server = ScriptedServer()
        server.tool(
            "take", schema={"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
        )
        with self.toolbox(server) as toolbox:
            text, failed = self.call(self.natives(toolbox)["s_take"], {"n": "many"})
        assert failed
        assert "/n" in text
        assert server.calls == []

    # -- answers ------------------------------------------------------------------------------

    def test_every_kind_of_content_reaches_the_model_as_something_to_read(self) -> None:
        """In both forms of call, without an exception and without a failure."""
        server = ScriptedServer()
        for kind, result in KINDS.items():
            server.tool(kind.replace(" ", "_"), result)
        with self.toolbox(server) as toolbox:
            for name, native in self.natives(toolbox).items():
                for text, failed in (self.call(native, {}), asyncio.run(_awaited(self.acall(native, {})))):
                    assert text.strip(), name
                    assert not failed, name

    def test_what_a_model_can_act_on_is_told_to_it_and_raises_nothing(self) -> None:
        """A failed tool, a refusal, a lost connection, a call without an answer; the next call works."""
        server = ScriptedServer()
        for name, answer in FAILURES.items():
            server.tool(name, answer)
        server.tool("well")
        with self.toolbox(server, call_timeout=0.5) as toolbox:
            natives = self.natives(toolbox)
            for name in FAILURES:
                text, failed = self.call(natives[f"s_{name}"], {})
                assert (bool(text.strip()), failed) == (True, True), name
                assert self.call(natives["s_well"], {"n": 1}) == (json.dumps({"n": 1}), False), name

    # -- where it is used ---------------------------------------------------------------------

    def test_calls_from_many_threads_and_loops_are_not_mixed_up(self) -> None:
        """One tool, one connection, callers everywhere."""
        server = ScriptedServer()
        server.tool("echo")

        def both(number: int) -> list[tuple[str, bool]]:
            return [
                self.call(native, {"n": number}),
                asyncio.run(_awaited(self.acall(native, {"n": number}))),
            ]

        with self.toolbox(server) as toolbox:
            native = self.natives(toolbox)["s_echo"]
            with ThreadPoolExecutor(8) as threads:
                answers = list(threads.map(both, range(40)))
        assert answers == [[(json.dumps({"n": n}), False)] * 2 for n in range(40)]
        assert len([one for one in server.sent if one.method in ("initialize", "server/discover")]) == 1


async def _awaited(call: Any) -> tuple[str, bool]:
    answer: tuple[str, bool] = await call
    return answer
