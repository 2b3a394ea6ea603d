"""A LlamaIndex agent waits for the person and goes on in another process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent, ToolCallResult
from llama_index.core.workflow import Context

from mcp_adapters import Handlers, Pause, Toolbox
from mcp_adapters_llamaindex import McpAnswerEvent, McpQuestionEvent

from ..conftest import Wire, tool
from ..test_elicitation import FORM, PAGE
from ..test_llamaindex import scripted
from .test_langgraph import NO, YES
from .warm import Programs, programs


@pytest.fixture(scope="module")
def process() -> Iterator[Programs]:
    with programs("llamaindex_process") as ready:
        yield ready


@pytest.mark.parametrize(("kind", "over"), [("agent", "stdio"), ("workflow", "http")])
def test_another_process_resumes_and_the_tool_has_its_effect_once(
    process: Programs, asking_url: str, tmp_path: Path, kind: str, over: str
) -> None:
    """Over stdio another process of the server, too."""
    where = asking_url if over == "http" else "stdio"
    calls = json.dumps([("s_erase", {"path": str(tmp_path / "a")})])
    given = (kind, str(tmp_path / "context.json"), where, "auto", calls)
    begun = process("llamaindex_process", *given)
    resumed = process("llamaindex_process", *given, json.dumps([YES]))

    assert [(one["server"], one["tool"], one["message"]) for one in begun["questions"]] == [
        ("s", "erase", "Erase a?")
    ]
    assert (resumed["said"], resumed["last"]) == ([["a is gone", False]], "done")
    assert (tmp_path / "ledger").read_text().splitlines() == ["calls a", "goes on with a", "erased a"]


@pytest.mark.parametrize("names", ["ab", "aa"])
def test_two_calls_at_once_each_get_their_own_answer(
    process: Programs, asking_url: str, tmp_path: Path, names: str
) -> None:
    """Also when both answers come before LlamaIndex knows again who waits for which."""
    calls = json.dumps([("s_erase", {"path": str(tmp_path / name)}) for name in names])
    given = ("agent", str(tmp_path / "context.json"), asking_url, "auto", calls)
    process("llamaindex_process", *given)
    resumed = process("llamaindex_process", *given, json.dumps([YES, NO]))

    assert sorted(resumed["said"]) == sorted([["a is gone", False], [f"{names[1]} stays", False]])
    ledger = (tmp_path / "ledger").read_text().splitlines()
    assert [line for line in ledger if line.startswith("erased")] == ["erased a"]
    assert sorted(line.split()[0] for line in ledger) == ["calls", "calls", "erased", "goes", "goes"]


def test_every_question_of_a_call_can_be_answered_in_a_process_of_its_own(
    process: Programs, asking_url: str, tmp_path: Path
) -> None:
    """Also an answer that does not fit: it is asked for again with the reason."""
    calls = json.dumps([("s_greet", {"path": str(tmp_path / "a")})])
    given = ("agent", str(tmp_path / "context.json"), asking_url, "auto", calls)
    steps = [process("llamaindex_process", *given)]
    for answer in (
        {"action": "accept", "content": {"name": "A"}},
        {"action": "accept", "content": {"name": "Ada"}},
        YES,
    ):
        steps.append(process("llamaindex_process", *given, json.dumps([answer])))

    assert [[one["message"] for one in step["questions"]] for step in steps] == [
        ["What is your name?"],
        ["What is your name?"],
        ["Erase a?"],
        [],
    ]
    assert "/name" in steps[1]["questions"][0]["problem"]
    assert steps[-1]["said"] == [["Ada True", False]]
    assert (tmp_path / "ledger").read_text().splitlines() == [
        "calls a",
        "goes on with a",
        "named Ada a",
    ]


def test_a_server_of_the_handshake_years_is_told_that_nobody_is_there(
    process: Programs, asking_url: str, tmp_path: Path
) -> None:
    calls = json.dumps([("s_erase", {"path": str(tmp_path / "a")})])
    given = ("agent", str(tmp_path / "context.json"), asking_url, "legacy", calls)
    done = process("llamaindex_process", *given)

    assert (done["questions"], done["last"]) == ([], "done")
    assert [failed for _, failed in done["said"]] == [True]


def paused(wire: Wire, question: dict[str, Any] = FORM) -> Toolbox:
    server = wire.server(tools=[tool("ask"), tool("echo")], era="modern", question=question, state="s")
    return Toolbox({"wire": server}, handlers=Handlers(elicitation=Pause()))


async def conversation(agent: Any, answers: list[Any], context: Any = None) -> list[Any]:
    """Run an agent, give the answers in order (each a list of events' fields), and tell what happened."""
    handler = agent.run(user_msg="go", ctx=context) if context else agent.run(user_msg="go")
    happened: list[Any] = []
    pending = iter(answers)
    async for event in handler.stream_events():
        if isinstance(event, McpQuestionEvent):
            happened.append(event)
            for fields in next(pending):
                handler.ctx.send_event(McpAnswerEvent(**{"question_id": event.question_id, **fields}))
        if isinstance(event, ToolCallResult):
            happened.append(event.tool_output.content)
    happened.append(str(await handler))
    return happened


async def test_a_page_is_an_event_with_its_address_and_host(wire: Wire) -> None:
    async with paused(wire, PAGE) as toolbox:
        agent = FunctionAgent(
            tools=toolbox.to("llamaindex"), llm=scripted([("wire_ask", {})]), streaming=False
        )
        question, said, last = await conversation(agent, [[{"action": "accept"}]])

    assert (question.mode, question.url, question.host, question.form) == (
        "url",
        PAGE["url"],
        "example.com",
        None,
    )
    assert json.loads(said) == {"answer": {"action": "accept"}, "state": "s"}
    assert last == "done"


async def test_an_answer_that_is_given_twice_has_its_effect_once(wire: Wire) -> None:
    async with paused(wire) as toolbox:
        agent = FunctionAgent(
            tools=toolbox.to("llamaindex"), llm=scripted([("wire_ask", {})]), streaming=False
        )
        _, said, last = await conversation(agent, [[YES, YES]])

    assert json.loads(said)["answer"] == YES
    assert last == "done"
    assert wire.count("tools/call") == 2


async def test_the_answer_to_another_question_changes_nothing(wire: Wire) -> None:
    async with paused(wire) as toolbox:
        agent = FunctionAgent(
            tools=toolbox.to("llamaindex"), llm=scripted([("wire_ask", {})]), streaming=False
        )
        _, said, _ = await conversation(agent, [[{"question_id": "other", **YES}, NO]])

    assert json.loads(said)["answer"] == NO


@pytest.mark.filterwarnings("ignore:Skipping serialization of known unserializable key")
async def test_the_same_call_can_ask_again_in_a_later_run_with_the_same_context(wire: Wire) -> None:
    async with paused(wire) as toolbox:
        llm = scripted([("wire_ask", {})])
        agent = FunctionAgent(tools=toolbox.to("llamaindex"), llm=llm, streaming=False)
        context = Context(agent)
        first = await conversation(agent, [[YES]], context)
        second = await conversation(agent, [[NO]], context)

    assert (len(first), len(second)) == (3, 3)
    assert wire.count("tools/call") == 4


async def test_outside_of_an_agent_the_question_is_a_failed_tool_call(wire: Wire) -> None:
    async with paused(wire) as toolbox:
        output = await toolbox.to("llamaindex")[0].acall()

    assert output.is_error
    assert FORM["message"] in output.content
