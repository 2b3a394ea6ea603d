"""Servers ask the person in the middle of a call: over both eras, from sync and async code."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Callable
from contextvars import ContextVar
from typing import Annotated, Any

import pytest
from mcp import Client
from mcp.server.mcpserver import Elicit, MCPServer, Resolve
from pydantic import BaseModel

from mcp_adapters import (
    ElicitationAnswer,
    ElicitationRequest,
    Handlers,
    ProtocolError,
    Toolbox,
    ToolTimeoutError,
)
from mcp_adapters.elicitation import check_answer, decline, read_request, secret_fields

from .conftest import Wire, tool

ERAS = ("handshake", "modern")
FORM = {
    "message": "Delete everything?",
    "requestedSchema": {
        "type": "object",
        "properties": {
            "sure": {"type": "boolean", "default": False},
            "count": {"type": "integer", "minimum": 1},
            "colour": {"type": "string", "enum": ["red", "blue"]},
        },
        "required": ["sure"],
    },
}
PAGE = {
    "mode": "url",
    "message": "Please sign in",
    "url": "https://example.com/sign-in?state=1",
    "elicitationId": "e1",
}


def asking(wire: Wire, era: str, question: dict[str, Any] = FORM, **script: Any) -> dict[str, Any]:
    tools = [tool(name) for name in ("ask", "ask_again", "ask_model", "echo", "hang")]
    return {"wire": wire.server(tools=tools, era=era, question=question, **script)}


def answer_of(text: str) -> Any:
    return json.loads(text)["answer"]


def yes(request: ElicitationRequest) -> ElicitationAnswer:
    return ElicitationAnswer(action="accept", content={"sure": True})


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("given", "sent"),
    [
        (
            ElicitationAnswer(action="accept", content={"sure": True, "colour": "red"}),
            {"action": "accept", "content": {"sure": True, "colour": "red"}},
        ),
        (ElicitationAnswer(action="decline"), {"action": "decline"}),
        (ElicitationAnswer(action="cancel", content={"sure": True}), {"action": "cancel"}),
    ],
    ids=["accept", "decline", "cancel"],
)
def test_the_server_gets_what_the_person_says(
    wire: Wire, era: str, given: ElicitationAnswer, sent: dict[str, Any]
) -> None:
    asked: list[ElicitationRequest] = []

    def answer(request: ElicitationRequest) -> ElicitationAnswer:
        asked.append(request)
        return given

    with Toolbox(asking(wire, era), handlers=Handlers(elicitation=answer)) as toolbox:
        result = toolbox.call("wire_ask")

    assert answer_of(result.text) == sent
    assert asked == [
        ElicitationRequest(
            server="wire", message=FORM["message"], schema=FORM["requestedSchema"], tool="ask", mode="form"
        )
    ]
    assert asked[0].defaults == {"sure": False}
    assert asked[0].required == ("sure",)


@pytest.mark.parametrize("era", ERAS)
async def test_a_page_is_visited_and_no_content_goes_back(wire: Wire, era: str) -> None:
    asked: list[ElicitationRequest] = []

    async def visit(request: ElicitationRequest) -> ElicitationAnswer:
        asked.append(request)
        return ElicitationAnswer(action="accept", content={"password": "hunter2"})

    async with Toolbox(asking(wire, era, PAGE), handlers=Handlers(elicitation=visit)) as toolbox:
        result = await toolbox.acall("wire_ask")

    assert answer_of(result.text) == {"action": "accept"}
    assert (asked[0].mode, asked[0].url, asked[0].schema) == ("url", PAGE["url"], None)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (lambda _: 1 / 0, "failed"),
        (lambda _: None, "NoneType"),
        (lambda _: {"action": "accept"}, "dict"),
        (lambda _: ElicitationAnswer(action="perhaps"), "perhaps"),  # type: ignore[arg-type]
        (lambda _: ElicitationAnswer(action="accept"), "sure"),
        (lambda _: ElicitationAnswer(action="accept", content={"sure": "maybe"}), "/sure"),
        (lambda _: ElicitationAnswer(action="accept", content={"sure": True, "count": 0}), "/count"),
        (lambda _: ElicitationAnswer(action="accept", content={"sure": True, "colour": "x"}), "/colour"),
        (lambda _: ElicitationAnswer(action="accept", content={"sure": True, "more": 1}), "more"),
    ],
    ids=["raises", "none", "dict", "action", "missing", "type", "bound", "choice", "stranger"],
)
def test_a_handler_that_fails_counts_as_no_choice_and_the_connection_lives(
    wire: Wire, era: str, answer: Callable[[Any], Any], word: str, caplog: pytest.LogCaptureFixture
) -> None:
    with Toolbox(asking(wire, era), handlers=Handlers(elicitation=answer)) as toolbox:
        asked = toolbox.call("wire_ask")
        after = toolbox.call("wire_echo", {"still": "here"})

    assert answer_of(asked.text) == {"action": "cancel"}
    assert json.loads(after.text) == {"still": "here"}
    assert [event["event"] for event in wire.events()].count("start") == 1
    assert word in caplog.text


def test_what_the_person_said_is_not_logged(wire: Wire, caplog: pytest.LogCaptureFixture) -> None:
    said = ElicitationAnswer(action="accept", content={"sure": "my-own-words", "count": "other-words"})
    with Toolbox(asking(wire, "modern"), handlers=Handlers(elicitation=lambda _: said)) as toolbox:
        toolbox.call("wire_ask")

    assert "no usable answer" in caplog.text
    assert "words" not in caplog.text


@pytest.mark.parametrize("era", ERAS)
async def test_a_handler_that_never_answers_is_given_up(
    wire: Wire, era: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def think(_: ElicitationRequest) -> ElicitationAnswer:
        await asyncio.Event().wait()
        raise AssertionError

    handlers = Handlers(elicitation=think, answer_timeout=0.05)
    async with Toolbox(asking(wire, era), handlers=handlers) as toolbox:
        result = await toolbox.acall("wire_ask")

    assert answer_of(result.text) == {"action": "cancel"}
    assert "nobody answered" in caplog.text


@pytest.mark.parametrize("era", ERAS)
def test_the_idle_time_of_a_call_stands_still_while_a_person_thinks(wire: Wire, era: str) -> None:
    """The handler waits until the idle time of another call, started with it, has run out."""
    over = threading.Event()

    def answer(_: ElicitationRequest) -> ElicitationAnswer:
        with pytest.raises(ToolTimeoutError):
            toolbox.call("wire_hang" if era == "modern" else "other_hang", timeout=1)
        over.set()
        return ElicitationAnswer(action="decline")

    servers = {**asking(wire, era), "other": wire.server("other", tools=[tool("hang")])}
    with Toolbox(servers, handlers=Handlers(elicitation=answer)) as toolbox:
        result = toolbox.call("wire_ask", timeout=0.8)

    assert over.is_set()
    assert answer_of(result.text) == {"action": "decline"}


@pytest.mark.parametrize("era", ERAS)
def test_without_a_handler_servers_are_told_that_nobody_answers(wire: Wire, era: str) -> None:
    with Toolbox(asking(wire, era)) as toolbox:
        if era == "modern":
            with pytest.raises(ProtocolError, match="nobody here was said to answer"):
                toolbox.call("wire_ask")
        else:
            assert answer_of(toolbox.call("wire_ask").text)["message"] == "Elicitation not supported"
        toolbox.call("wire_echo")

    assert not [told for told in _capabilities(wire) if "elicitation" in told]


@pytest.mark.parametrize("era", ERAS)
def test_a_handler_is_announced(wire: Wire, era: str) -> None:
    with Toolbox(asking(wire, era), handlers=Handlers(elicitation=decline)) as toolbox:
        toolbox.call("wire_ask")

    assert all(told["elicitation"] == {"form": {}, "url": {}} for told in _capabilities(wire))


def _capabilities(wire: Wire) -> list[dict[str, Any]]:
    """What the client said of itself, in the handshake or with each call."""
    told = []
    for event in wire.events():
        params = event.get("params") or {}
        if event.get("method") == "initialize":
            told.append(params["capabilities"])
        elif event.get("method") == "tools/call" and "_meta" in params:
            meta = params["_meta"]
            told += [meta[key] for key in meta if key.endswith("clientCapabilities")]
    assert told
    return told


@pytest.mark.parametrize("state", [None, "opaque ü €", "x" * 5_000])
def test_the_state_of_a_question_comes_back_as_it_was(wire: Wire, state: str | None) -> None:
    script = {} if state is None else {"state": state}
    with Toolbox(asking(wire, "modern", **script), handlers=Handlers(elicitation=yes)) as toolbox:
        result = toolbox.call("wire_ask", {"given": 1})

    calls = [event["params"] for event in wire.events() if event.get("method") == "tools/call"]
    assert json.loads(result.text)["state"] == state
    assert [call["arguments"] for call in calls] == [{"given": 1}, {"given": 1}]
    assert ["requestState" in call for call in calls] == [False, state is not None]


def test_a_server_that_never_stops_asking_is_left(wire: Wire) -> None:
    with Toolbox(asking(wire, "modern"), handlers=Handlers(elicitation=yes)) as toolbox:
        with pytest.raises(ProtocolError, match="asked for input 10 times"):
            toolbox.call("wire_ask_again")
        toolbox.call("wire_echo")


def test_a_question_that_is_not_for_people_is_a_clear_error(wire: Wire) -> None:
    with (
        Toolbox(asking(wire, "modern"), handlers=Handlers(elicitation=yes)) as toolbox,
        pytest.raises(ProtocolError) as caught,
    ):
        toolbox.call("wire_ask_model")

    assert (caught.value.server, caught.value.tool) == ("wire", "ask_model")


@pytest.mark.parametrize("era", ERAS)
async def test_the_handler_runs_where_the_call_is_made(wire: Wire, era: str) -> None:
    ran: list[object] = []

    async def note(_: ElicitationRequest) -> ElicitationAnswer:
        ran.append(asyncio.get_running_loop())
        return ElicitationAnswer(action="decline")

    with Toolbox(asking(wire, era), handlers=Handlers(elicitation=note)) as toolbox:
        await toolbox.acall("wire_ask")
        toolbox.call("wire_ask")

    here = asyncio.get_running_loop()
    assert [loop is here for loop in ran] == [True, False]


async def test_a_synchronous_call_on_the_loop_that_opened_the_toolbox_gets_its_answer(wire: Wire) -> None:
    """As in a notebook: the loop stands still, so the handler runs beside it."""
    async with Toolbox(asking(wire, "handshake"), handlers=Handlers(elicitation=yes)) as toolbox:
        assert answer_of(toolbox.call("wire_ask").text)["action"] == "accept"


@pytest.mark.parametrize("era", ERAS)
async def test_the_handler_sees_the_context_of_the_call(wire: Wire, era: str) -> None:
    user: ContextVar[str] = ContextVar("user", default="nobody")
    seen: list[str] = []

    def note(_: ElicitationRequest) -> ElicitationAnswer:
        seen.append(user.get())
        return ElicitationAnswer(action="decline")

    async with Toolbox(asking(wire, era), handlers=Handlers(elicitation=note)) as toolbox:
        user.set("ada")
        await toolbox.acall("wire_ask")
        toolbox.call("wire_ask")

    assert seen == ["ada", "ada"]


SECRET = [
    ("password", {"type": "string"}),
    ("apiKey", {"type": "string"}),
    ("api_key", {"type": "string"}),
    ("accessToken", {"type": "string"}),
    ("x", {"type": "string", "title": "Your secret"}),
    ("x", {"type": "string", "title": "API key"}),
    ("x", {"type": "string", "format": "password"}),
    ("card-number", {"type": "string"}),
    ("PIN", {"type": "integer"}),
]
PLAIN = [
    ("name", {"type": "string"}),
    ("author", {"type": "string"}),
    ("shipping", {"type": "string"}),
    ("password_reset", {"type": "boolean"}),
    ("email", {"type": "string", "format": "email"}),
]


@pytest.mark.parametrize(("name", "schema"), SECRET)
def test_a_form_that_asks_for_a_secret_is_refused_unseen(
    wire: Wire, name: str, schema: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    question = {"message": "Hi", "requestedSchema": {"type": "object", "properties": {name: schema}}}
    seen: list[ElicitationRequest] = []

    def answer(request: ElicitationRequest) -> ElicitationAnswer:
        seen.append(request)
        return ElicitationAnswer(action="accept", content={name: "hunter2"})

    with Toolbox(asking(wire, "modern", question), handlers=Handlers(elicitation=answer)) as toolbox:
        result = toolbox.call("wire_ask")

    assert (answer_of(result.text), seen) == ({"action": "decline"}, [])
    assert "must use a page" in caplog.text


@pytest.mark.parametrize(("name", "schema"), PLAIN)
def test_a_form_without_secrets_is_shown(name: str, schema: dict[str, Any]) -> None:
    form = {"message": "Hi", "requestedSchema": {"type": "object", "properties": {name: schema}}}

    assert secret_fields(read_request("s", form)) == ()


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        ({}, "no message"),
        ({"message": 1}, "no message"),
        ({"message": "x"}, "no requestedSchema"),
        ({"message": "x", "mode": "url"}, "no url"),
        ({"message": "x", "mode": "url", "url": 5}, "no url"),
        ({"message": "x", "mode": "voice"}, "neither 'form' nor 'url'"),
        ({"message": "x", "mode": None}, "neither 'form' nor 'url'"),
        ({"message": "x", "requestedSchema": []}, "no requestedSchema"),
    ],
)
def test_what_is_no_question_is_said_to_be_none(params: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        read_request("s", params)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"$ref": "http://example.com/x"}}},
        {"type": "object", "properties": {"a": {"type": "no such type"}}},
        {"type": "object", "properties": []},
    ],
)
def test_a_form_that_cannot_be_checked_is_not_accepted(schema: dict[str, Any]) -> None:
    request = read_request("s", {"message": "x", "requestedSchema": schema})
    with pytest.raises(ValueError, match="does not fit the form"):
        check_answer(request, ElicitationAnswer(action="accept", content={"a": 1}))


class Sure(BaseModel):
    sure: bool


async def ask() -> Elicit[Sure]:
    return Elicit("Sure?", Sure)


async def test_a_server_of_the_sdk_gets_its_answer() -> None:
    server = MCPServer("sdk", log_level="CRITICAL")

    @server.tool(structured_output=False)
    async def erase(sure: Annotated[Sure, Resolve(ask)]) -> str:
        """Erase, if the person is sure."""
        return f"sure: {sure.sure}"

    async with Toolbox({"sdk": server}, handlers=Handlers(elicitation=yes)) as toolbox:
        assert toolbox["sdk_erase"].model_schema["properties"] == {}
        assert (await toolbox.acall("sdk_erase")).text == "sure: True"


async def test_a_guest_answers_for_itself(wire: Wire) -> None:
    """A client of the user's keeps its own callbacks for what is asked on its own way."""
    server = MCPServer("sdk", log_level="CRITICAL")

    @server.tool(structured_output=False)
    def plain() -> str:
        """Say yes."""
        return "yes"

    async with (
        Client(server) as client,
        Toolbox({"sdk": client}, handlers=Handlers(elicitation=yes)) as toolbox,
    ):
        assert (await toolbox.acall("sdk_plain")).text == "yes"


def test_decline_says_no_to_everything() -> None:
    request = read_request("s", FORM)

    assert check_answer(request, decline(request)) == ElicitationAnswer(action="decline")


@pytest.fixture(autouse=True)
def warnings_are_kept(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "mcp_adapters")
