"""Servers ask for the word of a model and for roots: over both eras."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mcp_adapters import (
    ConfigError,
    ElicitationAnswer,
    Handlers,
    McpAdaptersError,
    Root,
    SamplingAnswer,
    SamplingMessage,
    SamplingRefusal,
    SamplingRequest,
    SamplingTool,
    TextPart,
    Toolbox,
    ToolCancelledError,
    ToolResultPart,
    ToolUsePart,
)
from mcp_adapters.asking import SamplingContent
from mcp_adapters.sampling import read_sampling, write_sampling
from mcp_adapters.spec import AudioPart, ImagePart, UnknownPart

from ..conftest import Wire, tool
from ..real_servers import everything

ERAS = ("handshake", "modern")
QUESTION = {
    "messages": [{"role": "user", "content": {"type": "text", "text": "Hello?"}}],
    "maxTokens": 10,
    "systemPrompt": "Be brief.",
    "temperature": 0.5,
    "stopSequences": ["END"],
    "modelPreferences": {"hints": [{"name": "small"}, {}]},
}
TOOLS = {
    **QUESTION,
    "tools": [{"name": "add", "inputSchema": {"type": "object"}}],
    "toolChoice": {"mode": "required"},
}


def asking(wire: Wire, era: str, method: str, question: Any = None) -> dict[str, Any]:
    tools = [tool(name) for name in ("ask", "echo")]
    return {"wire": wire.server(tools=tools, era=era, question=question, asks=method)}


def capabilities(wire: Wire) -> list[dict[str, Any]]:
    """What the client said that it answers, in the handshake or with each call."""
    told = []
    for event in wire.events():
        params = event.get("params") or {}
        if event.get("method") == "initialize":
            told.append(params["capabilities"])
        elif event.get("method") == "tools/call" and "_meta" in params:
            told += [value for key, value in params["_meta"].items() if key.endswith("clientCapabilities")]
    assert told
    return [{name: value for name, value in one.items() if name != "extensions"} for one in told]


@pytest.mark.parametrize("era", ERAS)
def test_a_model_answers(wire: Wire, era: str) -> None:
    asked: list[SamplingRequest] = []

    def answer(request: SamplingRequest) -> SamplingAnswer:
        asked.append(request)
        return SamplingAnswer(content="Hello.", model="parrot", stop_reason="maxTokens")

    servers = asking(wire, era, "sampling/createMessage", QUESTION)
    with Toolbox(servers, handlers=Handlers(sampling=answer)) as toolbox:
        came = json.loads(toolbox.call("wire_ask").text)["answer"]

    assert asked == [
        SamplingRequest(
            server="wire",
            tool="ask",
            messages=(SamplingMessage(role="user", parts=(TextPart(text="Hello?"),)),),
            max_tokens=10,
            system_prompt="Be brief.",
            temperature=0.5,
            stop_sequences=("END",),
            model_hints=("small",),
        )
    ]
    assert came == {
        "role": "assistant",
        "content": {"type": "text", "text": "Hello."},
        "model": "parrot",
        "stopReason": "maxTokens",
    }
    assert all(told == {"sampling": {}} for told in capabilities(wire))


class Caller:
    """Uses the tool that it is offered."""

    takes_tools = True

    def __call__(self, request: SamplingRequest) -> SamplingAnswer:
        use = ToolUsePart(id="1", name=request.tools[0].name, input={"a": 1})
        return SamplingAnswer(content=(use,), model="m", stop_reason="toolUse")


@pytest.mark.parametrize("era", ERAS)
def test_a_model_that_takes_tools_may_use_one(wire: Wire, era: str) -> None:
    servers = asking(wire, era, "sampling/createMessage", TOOLS)
    with Toolbox(servers, handlers=Handlers(sampling=Caller())) as toolbox:
        came = json.loads(toolbox.call("wire_ask").text)["answer"]

    assert came["content"] == {"type": "tool_use", "id": "1", "name": "add", "input": {"a": 1}}
    assert all(told == {"sampling": {"tools": {}}} for told in capabilities(wire))


def fails(_: SamplingRequest) -> SamplingAnswer:
    raise OSError("secret detail")


async def hangs(_: SamplingRequest) -> SamplingAnswer:
    import asyncio

    await asyncio.Event().wait()
    raise AssertionError


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("answer", "told", "logged"),
    [
        (fails, "no answer could be given", "failed"),
        (hangs, "no answer could be given", "nobody answered"),
        (lambda _: "hello", "no answer could be given", "gave str"),
        (lambda _: SamplingAnswer(content=(), model="m"), "no answer could be given", "no content"),
        (lambda _: Caller()(read_sampling("s", TOOLS)), "no answer could be given", "offered none"),
        (lambda _: SamplingRefusal(reason="the user said no"), "the user said no", ""),
    ],
    ids=["raises", "hangs", "type", "empty", "tool", "refusal"],
)
def test_a_model_that_does_not_answer_is_a_clear_error_and_the_connection_lives(
    wire: Wire, era: str, answer: Any, told: str, logged: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "mcp_adapters")
    servers = asking(wire, era, "sampling/createMessage", QUESTION)
    with Toolbox(servers, handlers=Handlers(sampling=answer, answer_timeout=0.5)) as toolbox:
        if era == "modern":
            with pytest.raises(ToolCancelledError, match=told) as caught:
                toolbox.call("wire_ask")
            assert "secret detail" not in str(caught.value)
        else:
            assert json.loads(toolbox.call("wire_ask").text)["answer"]["message"] == told
        assert toolbox.call("wire_echo").text == "{}"

    assert wire.starts() == 1
    assert logged in caplog.text


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    "method", ["sampling/createMessage", "roots/list", "elicitation/create", "other/thing"]
)
def test_what_nobody_answers_is_an_error_and_the_connection_lives(wire: Wire, era: str, method: str) -> None:
    with Toolbox(asking(wire, era, method, QUESTION)) as toolbox:
        if era == "modern":
            with pytest.raises(McpAdaptersError) as caught:
                toolbox.call("wire_ask")
            assert (caught.value.server, caught.value.tool) == ("wire", "ask")
        else:
            assert "code" in json.loads(toolbox.call("wire_ask").text)["answer"]
        assert toolbox.call("wire_echo").text == "{}"

    assert all(told == {} for told in capabilities(wire))


def test_the_requests_of_one_call_are_counted(wire: Wire) -> None:
    numbers: list[int] = []

    def answer(request: SamplingRequest) -> SamplingAnswer:
        numbers.append(request.number)
        return SamplingAnswer(content="x", model="m")

    servers = {
        "wire": wire.server(
            tools=[tool("ask_again")], era="modern", question=QUESTION, asks="sampling/createMessage"
        )
    }
    with Toolbox(servers, handlers=Handlers(sampling=answer)) as toolbox:
        for _ in range(2):
            with pytest.raises(McpAdaptersError, match="10 times"):
                toolbox.call("wire_ask_again")

    assert numbers == [*range(1, 11), *range(1, 11)]


EVERY_KIND: dict[str, tuple[dict[str, Any], SamplingContent]] = {
    "text": ({"type": "text", "text": "x"}, TextPart(text="x")),
    "image": (
        {"type": "image", "data": "aGk=", "mimeType": "image/png"},
        ImagePart(data="aGk=", mime_type="image/png"),
    ),
    "audio": (
        {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
        AudioPart(data="aGk=", mime_type="audio/wav"),
    ),
    "use": (
        {"type": "tool_use", "id": "1", "name": "add", "input": {"a": 1}},
        ToolUsePart(id="1", name="add", input={"a": 1}),
    ),
    "result": (
        {
            "type": "tool_result",
            "toolUseId": "1",
            "content": [{"type": "text", "text": "3"}],
            "isError": True,
        },
        ToolResultPart(tool_use_id="1", parts=(TextPart(text="3"),), is_error=True),
    ),
    "unknown": ({"type": "video"}, UnknownPart(raw={"type": "video"}, problem="unknown type 'video'")),
}


@pytest.mark.parametrize("kind", EVERY_KIND)
@pytest.mark.parametrize("listed", [True, False])
def test_every_kind_of_content_is_read(kind: str, listed: bool) -> None:
    entry, part = EVERY_KIND[kind]
    messages = [{"role": "assistant", "content": [entry] if listed else entry}]

    assert read_sampling("s", {"messages": messages, "maxTokens": 1}).messages == (
        SamplingMessage(role="assistant", parts=(part,)),
    )


@pytest.mark.parametrize("kind", ["text", "image", "audio", "use"])
def test_what_a_model_can_say_is_written_as_it_is_read(kind: str) -> None:
    entry, part = EVERY_KIND[kind]
    answer = SamplingAnswer(content=(part, part), model="m")

    assert write_sampling(read_sampling("s", TOOLS), answer)["content"] == [entry, entry]


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        ({}, "no messages"),
        ({**QUESTION, "messages": []}, "no messages"),
        ({**QUESTION, "maxTokens": 0}, "how many tokens"),
        ({**QUESTION, "maxTokens": True}, "how many tokens"),
        ({**QUESTION, "messages": [{"role": "system", "content": []}]}, "neither the user nor the assistant"),
        ({**QUESTION, "systemPrompt": 3}, "systemPrompt"),
        ({**QUESTION, "tools": [{}]}, "no name"),
        ({**QUESTION, "toolChoice": {"mode": "maybe"}}, "tool choice"),
    ],
)
def test_what_is_no_question_to_a_model_is_said_to_be_none(params: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        read_sampling("s", params)


def test_offered_tools_are_read() -> None:
    request = read_sampling("s", TOOLS)

    assert (request.tools, request.tool_choice) == ((SamplingTool(name="add"),), "required")


def of_function() -> list[str]:
    return ["/srv/data"]


async def of_coroutine() -> list[str]:
    return ["/srv/data"]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("given", "listed"),
    [
        (["/srv/data"], [{"uri": "file:///srv/data"}]),
        ([Path("/srv/with space")], [{"uri": "file:///srv/with%20space"}]),
        (["file:///srv"], [{"uri": "file:///srv"}]),
        ([Root(uri="file:///srv", name="Data")], [{"uri": "file:///srv", "name": "Data"}]),
        (["here"], [{"uri": Path("here").absolute().as_uri()}]),
        ([], []),
        (of_function, [{"uri": "file:///srv/data"}]),
        (of_coroutine, [{"uri": "file:///srv/data"}]),
    ],
)
def test_servers_are_told_the_roots(wire: Wire, era: str, given: Any, listed: list[Any]) -> None:
    with Toolbox(asking(wire, era, "roots/list", {}), handlers=Handlers(roots=given)) as toolbox:
        came = json.loads(toolbox.call("wire_ask").text)["answer"]

    assert came == {"roots": listed}
    assert all("roots" in told for told in capabilities(wire))


@pytest.mark.parametrize("given", ["/srv", ["https://example.com"], [3], 3])
def test_what_is_no_list_of_roots_is_refused_at_start(wire: Wire, given: Any) -> None:
    toolbox = Toolbox(asking(wire, "modern", "roots/list"), handlers=Handlers(roots=given))
    with pytest.raises(ConfigError, match="roots"):
        toolbox.open()


@pytest.mark.parametrize("given", [lambda: 1 / 0, lambda: "/srv", lambda: None])
def test_a_function_that_gives_no_roots_harms_nobody(wire: Wire, given: Callable[[], Any]) -> None:
    with Toolbox(asking(wire, "handshake", "roots/list", {}), handlers=Handlers(roots=given)) as toolbox:
        came = json.loads(toolbox.call("wire_ask").text)["answer"]
        assert toolbox.call("wire_echo").text == "{}"

    assert came == {"code": -32603, "message": "no answer could be given"}


async def test_servers_hear_that_the_roots_have_changed(wire: Wire) -> None:
    """Those of the handshake years; newer ones ask with each call."""
    servers = {
        **asking(wire, "handshake", "roots/list", {}),
        "modern": wire.server("modern", era="modern", tools=[tool("echo")]),
    }
    roots = ["/a"]
    async with Toolbox(servers, handlers=Handlers(roots=lambda: roots)) as toolbox:
        first = json.loads((await toolbox.acall("wire_ask")).text)["answer"]
        roots.append("/b")
        await toolbox.aroots_changed()
        second = json.loads((await toolbox.acall("wire_ask")).text)["answer"]
        await toolbox.acall("modern_echo")

    assert (len(first["roots"]), len(second["roots"])) == (1, 2)
    assert wire.count("notifications/roots/list_changed") == 1
    assert wire.count("notifications/roots/list_changed", "modern") == 0


def test_the_reference_server_gets_a_form_with_every_kind_of_field() -> None:
    content = {
        "name": "Ada",
        "check": True,
        "email": "ada@example.com",
        "birthdate": "1815-12-10",
        "integer": 36,
        "number": 1.5,
        "untitledSingleSelectEnum": "Ross",
        "untitledMultipleSelectEnum": ["Drums", "Bass"],
        "titledSingleSelectEnum": "hero-2",
        "titledMultipleSelectEnum": ["fish-3"],
        "legacyTitledEnum": "pet-5",
    }
    answer = ElicitationAnswer(action="accept", content=content)
    with Toolbox({"e": everything()}, handlers=Handlers(elicitation=lambda _: answer)) as toolbox:
        result = toolbox.call("e_trigger-elicitation-request")

    raw = result.text[result.text.index("{") :]
    assert json.loads(raw) == {"action": "accept", "content": content}


def test_the_reference_server_asks_a_model_and_for_roots() -> None:
    roots = ["/first"]
    handlers = Handlers(sampling=lambda r: SamplingAnswer(content="Aye.", model="m"), roots=lambda: roots)
    with Toolbox({"e": everything()}, handlers=handlers) as toolbox:
        said = toolbox.call("e_trigger-sampling-request", {"prompt": "Well?", "maxTokens": 7}).text
        before = toolbox.call("e_get-roots-list").text

    assert '"text": "Aye."' in said
    assert "file:///first" in before


async def test_with_several_calls_in_flight_nobody_says_which_one_asks() -> None:
    """Requests of their own carry no word about the call; each such time is counted anew."""
    name, call = "e_trigger-sampling-request", {"prompt": "Well?", "maxTokens": 7}
    seen: list[tuple[str | None, int]] = []

    async def answer(request: SamplingRequest) -> SamplingAnswer:
        seen.append((request.tool, request.number))
        if request.tool is not None:
            await toolbox.acall(name, call)
        return SamplingAnswer(content="Aye.", model="m")

    async with Toolbox({"e": everything()}, handlers=Handlers(sampling=answer)) as toolbox:
        for _ in range(2):
            await toolbox.acall(name, call)

    assert seen == [("trigger-sampling-request", 1), (None, 1)] * 2
