"""Two agents, one from LangChain and one from LlamaIndex, at work on a real MCP server.

In: nothing; no key and no network. The notes server of this package runs as a child process, and a
scripted chat model decides what each agent calls; all else is what a real agent goes through. Out:
the tools, and what was called and answered, as tables. The exit code is 1 if a call did not happen
as scripted or was not answered as expected.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool
from llama_index.core.agent.workflow import FunctionAgent, ToolCallResult
from llama_index.core.base.llms.types import ChatMessage, MessageRole, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM

from mcp_adapters import StdioServer, Toolbox

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ("main",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One call that a scripted model makes, and what must come back."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    expected: str
    """Text that the answer must contain."""
    fails: bool = False
    """Whether the answer must be marked as a failure, which the agent survives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One call that an agent made, and what its model got to read."""

    tool: str
    arguments: Mapping[str, Any]
    text: str
    failed: bool


LANGCHAIN_STEPS = (
    Step(
        tool="notes_add_note",
        arguments={"text": "The milk is finished", "tag": "shopping"},
        expected='"id": 1',
    ),
    Step(tool="notes_add_note", arguments={"text": "Call Ada", "tag": "people"}, expected='"id": 2'),
    Step(tool="notes_search_notes", arguments={"query": "MILK"}, expected="The milk is finished"),
    Step(tool="notes_get_note", arguments={"note_id": 99}, expected="no note has the id 99", fails=True),
    Step(tool="notes_chart", expected="people: 1, shopping: 1 [image]"),
)

LLAMAINDEX_STEPS = (
    Step(tool="notes_list_notes", arguments={"limit": 5}, expected='"total": 2'),
    Step(tool="notes_add_note", arguments={"tag": "people"}, expected="text", fails=True),
    Step(
        tool="notes_update_note", arguments={"note_id": 1, "text": "Buy milk"}, expected='"text": "Buy milk"'
    ),
    Step(tool="notes_delete_note", arguments={"note_id": 2}, expected="Call Ada"),
    Step(tool="notes_stats", expected='"notes": 1'),
)


class ScriptedChatModel(BaseChatModel):
    """A LangChain chat model that makes the calls of a script, one for each turn."""

    steps: tuple[Step, ...]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        """Turn the tools into the form that providers get, as real chat models do."""
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> ChatResult:
        answered = sum(isinstance(message, ToolMessage) for message in messages)
        message = AIMessage("All done.")
        if answered < len(self.steps):
            step = self.steps[answered]
            call = {"name": step.tool, "args": dict(step.arguments), "id": f"call-{answered}"}
            message = AIMessage("", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=message)])


def run_langchain(tools: Sequence[Any], steps: tuple[Step, ...]) -> list[Answer]:
    """Let a LangChain agent play the script, from synchronous code."""
    agent = create_agent(ScriptedChatModel(steps=steps), list(tools))
    messages = agent.invoke({"messages": [HumanMessage("Keep my notes in order.")]})["messages"]
    calls = {call["id"]: call for message in messages for call in getattr(message, "tool_calls", ())}
    return [
        Answer(
            tool=calls[message.tool_call_id]["name"],
            arguments=calls[message.tool_call_id]["args"],
            text=_readable(message),
            failed=message.status == "error",
        )
        for message in messages
        if isinstance(message, ToolMessage)
    ]


def _readable(message: ToolMessage) -> str:
    blocks = message.content_blocks
    return " ".join(
        str(block["text"]) if block["type"] == "text" else f"[{block['type']}]" for block in blocks
    )


def scripted_llm(steps: tuple[Step, ...]) -> MockFunctionCallingLLM:
    """Make a LlamaIndex model that makes the calls of a script, one for each turn."""

    def reply(messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
        answered = sum(message.role == MessageRole.TOOL for message in messages)
        if answered == len(steps):
            return ChatMessage(role=MessageRole.ASSISTANT, content="All done.")
        step = steps[answered]
        call = ToolCallBlock(
            tool_call_id=f"call-{answered}", tool_name=step.tool, tool_kwargs=dict(step.arguments)
        )
        return ChatMessage(role=MessageRole.ASSISTANT, blocks=[call])

    return MockFunctionCallingLLM(response_generator=reply)


async def run_llamaindex(tools: Sequence[Any], steps: tuple[Step, ...]) -> list[Answer]:
    """Let a LlamaIndex agent play the script, from asynchronous code."""
    agent = FunctionAgent(tools=list(tools), llm=scripted_llm(steps), streaming=False)
    run = agent.run(user_msg="Keep my notes in order.")
    answers = [
        Answer(
            tool=event.tool_name,
            arguments=event.tool_kwargs,
            text=event.tool_output.content,
            failed=event.tool_output.is_error,
        )
        async for event in run.stream_events()
        if isinstance(event, ToolCallResult)
    ]
    await run
    return answers


def differences(agent: str, steps: Sequence[Step], answers: Sequence[Answer]) -> list[str]:
    """Say, a line for each, where what happened is not what was scripted."""
    return [
        f"{agent}, step {number}: scripted {step}, but got {answer}"
        for number, (step, answer) in enumerate(zip_longest(steps, answers), start=1)
        if step is None or answer is None or not _as_scripted(step, answer)
    ]


def _as_scripted(step: Step, answer: Answer) -> bool:
    same_call = (step.tool, dict(step.arguments)) == (answer.tool, dict(answer.arguments))
    return same_call and step.fails == answer.failed and step.expected in answer.text


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, widths: Sequence[int]) -> str:
    """Lay out rows in columns of these widths, in characters; long cells go on in the next line."""
    lines = [heads, ["-" * width for width in widths]]
    for row in rows:
        cells = [textwrap.wrap(cell, width) for cell, width in zip(row, widths, strict=True)]
        lines += zip_longest(*cells, fillvalue="")
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def _tool_rows(toolbox: Toolbox) -> list[list[str]]:
    return [
        [tool.name, ", ".join(tool.input_schema["properties"]), tool.description] for tool in toolbox.tools
    ]


def _answer_rows(agent: str, answers: Sequence[Answer]) -> list[list[str]]:
    return [
        [
            agent,
            answer.tool,
            json.dumps(answer.arguments),
            ("FAILED: " if answer.failed else "") + " ".join(answer.text.split()),
        ]
        for answer in answers
    ]


def _play(toolbox: Toolbox) -> tuple[list[list[str]], list[str]]:
    """Run both agents; the answers as rows of a table, and what went otherwise than scripted."""
    langchain = run_langchain(toolbox.to("langchain"), LANGCHAIN_STEPS)
    llamaindex = asyncio.run(run_llamaindex(toolbox.to("llamaindex"), LLAMAINDEX_STEPS))
    rows = [*_answer_rows("LangChain", langchain), *_answer_rows("LlamaIndex", llamaindex)]
    problems = [
        *differences("LangChain", LANGCHAIN_STEPS, langchain),
        *differences("LlamaIndex", LLAMAINDEX_STEPS, llamaindex),
    ]
    return rows, problems


def main() -> int:
    """Play both scripts on one server; the exit code is 1 when something went otherwise."""
    with tempfile.TemporaryDirectory() as folder:
        server = StdioServer(
            command=sys.executable,
            args=["-m", "mcp_adapters.demo.notes_server", str(Path(folder) / "notes.db")],
        )
        with Toolbox({"notes": server}) as toolbox:
            print(f"{len(toolbox.tools)} tools of one MCP server (a local process):\n")
            print(table(("tool", "arguments", "what it does"), _tool_rows(toolbox), widths=(18, 20, 60)))
            rows, problems = _play(toolbox)
            heads = ("agent", "tool", "arguments", "what the model read")
            print("\nWhat the agents called, and what came back:\n")
            print(table(heads, rows, widths=(10, 18, 24, 44)))
    if problems:
        print("\nNot as scripted:", *problems, sep="\n", file=sys.stderr)
        return 1
    print(f"\nAll {len(rows)} calls were made and answered as scripted.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
