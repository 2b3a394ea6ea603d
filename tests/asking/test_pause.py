"""A question ends the call, and the call goes on later with the answers: `Handlers(elicitation=Pause())`."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

from mcp_adapters import (
    ElicitationAnswer,
    Handlers,
    InputRequiredError,
    Pause,
    PendingCall,
    Root,
    Toolbox,
    ToolTimeoutError,
)

from ..conftest import Wire, tool
from ..test_elicitation import FORM, PAGE, yes
from .test_models_and_roots import capabilities

SURE = ElicitationAnswer(action="accept", content={"sure": True})


def asking(wire: Wire, question: dict[str, Any] = FORM, era: str = "modern", **script: Any) -> dict[str, Any]:
    tools = [tool("ask"), tool("echo")]
    return {"wire": wire.server(tools=tools, era=era, question=question, state="s1", **script)}


def calls(wire: Wire) -> list[dict[str, Any]]:
    params = [event["params"] for event in wire.events() if event.get("method") == "tools/call"]
    return [{key: value for key, value in each.items() if key != "_meta"} for each in params]


def test_a_paused_call_goes_on_in_another_toolbox_without_being_made_again(wire: Wire) -> None:
    """The pending call travels as JSON, as it would to another process."""
    servers, handlers = asking(wire), Handlers(elicitation=Pause())
    with Toolbox(servers, handlers=handlers) as toolbox, pytest.raises(InputRequiredError) as caught:
        toolbox.call("wire_ask", {"n": 1})
    stored = json.dumps(caught.value.pending.to_json())
    pending = PendingCall.from_json(json.loads(stored))
    with Toolbox(servers, handlers=handlers) as toolbox:
        result = toolbox.call("wire_ask", {"n": 1}, resume=pending.answered({"q": SURE}))

    assert json.loads(result.text) == {
        "answer": {"action": "accept", "content": {"sure": True}},
        "state": "s1",
    }
    assert calls(wire) == [
        {"name": "ask", "arguments": {"n": 1}},
        {
            "name": "ask",
            "arguments": {"n": 1},
            "inputResponses": {"q": {"action": "accept", "content": {"sure": True}}},
            "requestState": "s1",
        },
    ]
    assert all(told == {"elicitation": {"form": {}, "url": {}}} for told in capabilities(wire))


async def test_the_error_says_what_is_asked_and_pickles(wire: Wire) -> None:
    async with Toolbox(asking(wire), handlers=Handlers(elicitation=Pause())) as toolbox:
        with pytest.raises(InputRequiredError) as caught:
            await toolbox.acall("wire_ask")

    error = pickle.loads(pickle.dumps(caught.value))
    assert FORM["message"] in str(error)
    assert "s1" not in repr(error.pending)
    assert error.pending == caught.value.pending
    [(name, question)] = error.pending.questions.items()
    assert (name, question.server, question.tool, question.schema) == (
        "q",
        "wire",
        "ask",
        FORM["requestedSchema"],
    )


@pytest.mark.parametrize(
    ("answers", "problem"),
    [
        ({}, "no answer to 'q'"),
        ({"q": None}, "NoneType"),
        ({"q": ElicitationAnswer(action="accept", content={"sure": "perhaps"})}, "/sure"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused_before_anything_is_sent(
    answers: dict[str, Any], problem: str
) -> None:
    pending = PendingCall(server="s", tool="t", asked={"q": FORM})
    with pytest.raises(ValueError, match=problem):
        pending.answered(answers)


def test_what_needs_no_person_is_answered_before_the_pause(wire: Wire) -> None:
    requests = {
        "person": {"method": "elicitation/create", "params": FORM},
        "roots": {"method": "roots/list", "params": {}},
        "secret": {
            "method": "elicitation/create",
            "params": {
                "message": "Hi",
                "requestedSchema": {"type": "object", "properties": {"password": {"type": "string"}}},
            },
        },
    }
    odd = {"result": {"resultType": "input_required", "inputRequests": requests}}
    server = wire.server(era="modern", tools=[tool("odd")], answers={"odd": odd})
    handlers = Handlers(elicitation=Pause(), roots=[Root(uri="file:///srv")])
    with Toolbox({"wire": server}, handlers=handlers) as toolbox, pytest.raises(InputRequiredError) as caught:
        toolbox.call("wire_odd")

    pending = caught.value.pending
    assert list(pending.questions) == ["person"]
    assert pending.responses == {
        "roots": {"roots": [{"uri": "file:///srv"}]},
        "secret": {"action": "decline"},
    }
    assert pending.answered({"person": SURE}).responses.keys() == requests.keys()


def test_servers_of_the_handshake_years_are_told_that_nobody_is_there(wire: Wire) -> None:
    """They keep the call open while they wait, so that no call can end with the question."""
    with Toolbox(asking(wire, era="handshake"), handlers=Handlers(elicitation=Pause())) as toolbox:
        answer = json.loads(toolbox.call("wire_ask").text)["answer"]

    assert "code" in answer
    assert capabilities(wire) == [{}]


def test_servers_of_the_handshake_years_can_have_a_handler_of_their_own(wire: Wire) -> None:
    handlers = Handlers(elicitation=Pause(otherwise=yes))
    with Toolbox(asking(wire, era="handshake"), handlers=handlers) as toolbox:
        answer = json.loads(toolbox.call("wire_ask").text)["answer"]

    assert answer["action"] == "accept"


@pytest.mark.parametrize("era", ["handshake", "modern"])
@pytest.mark.parametrize(("mode", "other"), [("form", PAGE), ("url", FORM)])
def test_only_the_modes_that_can_be_shown_are_announced_and_answered(
    wire: Wire, era: str, mode: Any, other: dict[str, Any]
) -> None:
    handlers = Handlers(elicitation=yes, elicitation_modes=(mode,))
    with Toolbox(asking(wire, other, era=era), handlers=handlers) as toolbox:
        if era == "modern":
            with pytest.raises(Exception, match="nobody here answers questions of the mode"):
                toolbox.call("wire_ask")
        else:
            assert json.loads(toolbox.call("wire_ask").text)["answer"]["code"] == -32602
        assert toolbox.call("wire_echo").text == "{}"

    assert all(told == {"elicitation": {mode: {}}} for told in capabilities(wire))


async def test_the_time_of_the_whole_call_counts_while_a_person_thinks(wire: Wire) -> None:
    import asyncio

    async def think(_: Any) -> ElicitationAnswer:
        await asyncio.Event().wait()
        raise AssertionError

    for era in ("handshake", "modern"):
        async with Toolbox(
            asking(wire, era=era), handlers=Handlers(elicitation=think), total_timeout=0.5
        ) as toolbox:
            with pytest.raises(ToolTimeoutError) as caught:
                await toolbox.acall("wire_ask")

        assert (caught.value.limit, caught.value.timeout) == ("total", 0.5)
