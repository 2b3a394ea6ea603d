"""A LangGraph agent is interrupted by a server's question and goes on in another process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from mcp_adapters import CallNext, CallRequest, Handlers, Pause, Toolbox, ToolResult

from ..conftest import Wire, tool
from ..test_elicitation import FORM, PAGE
from ..test_langchain import ScriptedModel, calling, said_by_tools
from .warm import Programs, programs

YES = {"action": "accept", "content": {"sure": True}}
NO = {"action": "decline"}


@pytest.fixture(scope="module")
def process() -> Iterator[Programs]:
    with programs("langgraph_process") as ready:
        yield ready


@pytest.mark.parametrize(("how", "over"), [("sync", "stdio"), ("async", "http")])
def test_another_process_resumes_and_the_tool_has_its_effect_once(
    process: Programs, asking_url: str, tmp_path: Path, how: str, over: str
) -> None:
    """Over stdio another process of the server, too."""
    calls = json.dumps([("s_erase", {"path": str(tmp_path / name)}) for name in "ab"])
    where = asking_url if over == "http" else "stdio"
    given = (how, str(tmp_path / "state.db"), where, "auto", calls)
    begun = process("langgraph_process", *given)
    resumed = process("langgraph_process", *given, json.dumps([YES, NO]))

    assert [(one["type"], one["server"], one["tool"], one["message"]) for one in begun["interrupts"]] == [
        ("mcp_elicitation", "s", "erase", "Erase a?"),
        ("mcp_elicitation", "s", "erase", "Erase b?"),
    ]
    assert begun["said"] == []
    assert resumed["interrupts"] == []
    assert resumed["said"] == [["a is gone", "success"], ["b stays", "success"]]
    assert resumed["last"] == "done"
    assert sorted((tmp_path / "ledger").read_text().splitlines()) == [
        "calls a",
        "calls b",
        "erased a",
        "goes on with a",
        "goes on with b",
    ]


def test_every_question_of_a_call_is_an_interrupt_and_a_process_of_its_own(
    process: Programs, asking_url: str, tmp_path: Path
) -> None:
    """Also an answer that does not fit: it is asked for again with the reason."""
    calls = json.dumps([("s_greet", {"path": str(tmp_path / "a")})])
    given = ("sync", str(tmp_path / "state.db"), asking_url, "auto", calls)
    steps = [process("langgraph_process", *given)]
    for answer in (
        {"action": "accept", "content": {"name": "A"}},
        {"action": "accept", "content": {"name": "Ada"}},
        YES,
    ):
        steps.append(process("langgraph_process", *given, json.dumps([answer])))

    assert [[one["message"] for one in step["interrupts"]] for step in steps] == [
        ["What is your name?"],
        ["What is your name?"],
        ["Erase a?"],
        [],
    ]
    assert "/name" in steps[1]["interrupts"][0]["problem"]
    assert steps[-1]["said"] == [["Ada True", "success"]]
    assert (tmp_path / "ledger").read_text().splitlines() == [
        "calls a",
        "goes on with a",
        "named Ada a",
    ]


def test_a_server_of_the_handshake_years_is_told_that_nobody_is_there(
    process: Programs, asking_url: str, tmp_path: Path
) -> None:
    """It keeps its call open while it waits; a graph that is interrupted cannot."""
    calls = json.dumps([("s_erase", {"path": str(tmp_path / "a")})])
    given = ("sync", str(tmp_path / "state.db"), asking_url, "legacy", calls)
    done = process("langgraph_process", *given)

    assert (done["interrupts"], done["last"]) == ([], "done")
    assert [status for _, status in done["said"]] == ["error"]
    assert (tmp_path / "ledger").read_text().splitlines() == ["calls a"]


CONFIG: Any = {"configurable": {"thread_id": "1"}}


def paused(wire: Wire, question: dict[str, Any] = FORM, **options: Any) -> Toolbox:
    server = wire.server(tools=[tool("ask"), tool("echo")], era="modern", question=question, state="s")
    return Toolbox({"wire": server}, handlers=Handlers(elicitation=Pause()), **options)


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_interceptors_see_each_request_once(wire: Wire, asynchronous: bool) -> None:
    seen: list[str] = []

    def note(request: CallRequest, call_next: CallNext) -> ToolResult:
        seen.append("begin")
        result = call_next(request)
        seen.append("end")
        return result

    model = ScriptedModel(script=[calling(("wire_ask", {})), AIMessage("done")])
    with paused(wire, interceptors=[note]) as toolbox:
        agent = create_agent(model, toolbox.to("langchain"), checkpointer=InMemorySaver())
        for step in ({"messages": [("user", "go")]}, Command(resume=YES)):
            state = await agent.ainvoke(step, CONFIG) if asynchronous else agent.invoke(step, CONFIG)

    assert state["messages"][-1].content == "done"
    assert seen == ["begin", "begin", "end"]


def test_a_page_is_an_interrupt_with_its_address_and_host(wire: Wire) -> None:
    model = ScriptedModel(script=[calling(("wire_ask", {})), AIMessage("done")])
    with paused(wire, PAGE) as toolbox:
        agent = create_agent(model, toolbox.to("langchain"), checkpointer=InMemorySaver())
        [interrupt] = agent.invoke({"messages": [("user", "go")]}, CONFIG)["__interrupt__"]
        state = agent.invoke(Command(resume={"action": "accept"}), CONFIG)

    assert interrupt.value == {
        "type": "mcp_elicitation",
        "server": "wire",
        "tool": "ask",
        "message": "Please sign in",
        "mode": "url",
        "url": "https://example.com/sign-in?state=1",
        "host": "example.com",
    }
    assert json.loads(said_by_tools(state["messages"])[0].content)["answer"] == {"action": "accept"}


@pytest.mark.parametrize(
    "answer", ["yes", {"action": "perhaps"}, {"action": "accept", "content": []}, {"sure": True}]
)
def test_whatever_is_no_answer_is_asked_for_again(wire: Wire, answer: Any) -> None:
    model = ScriptedModel(script=[calling(("wire_ask", {})), AIMessage("done")])
    with paused(wire) as toolbox:
        agent = create_agent(model, toolbox.to("langchain"), checkpointer=InMemorySaver())
        agent.invoke({"messages": [("user", "go")]}, CONFIG)
        [again] = agent.invoke(Command(resume=answer), CONFIG)["__interrupt__"]
        state = agent.invoke(Command(resume=NO), CONFIG)

    assert again.value["problem"]
    assert state["messages"][-1].content == "done"
    assert wire.count("tools/call") == 2


def test_tools_that_do_not_ask_go_on_as_always(wire: Wire) -> None:
    model = ScriptedModel(script=[calling(("wire_echo", {"a": 1})), AIMessage("done")])
    with paused(wire) as toolbox:
        agent = create_agent(model, toolbox.to("langchain"))
        state = agent.invoke({"messages": [("user", "go")]})

    assert [message.content for message in said_by_tools(state["messages"])] == ['{"a": 1}']


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_outside_of_a_graph_the_question_is_a_failed_tool_call(wire: Wire, asynchronous: bool) -> None:
    call = {"name": "wire_ask", "args": {}, "id": "1", "type": "tool_call"}
    with paused(wire) as toolbox:
        [native, _] = toolbox.to("langchain")
        message = await native.ainvoke(call) if asynchronous else native.invoke(call)

    assert message.status == "error"
    assert FORM["message"] in message.content
