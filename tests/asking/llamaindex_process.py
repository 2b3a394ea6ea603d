"""One process of an agent that waits for the person: LlamaIndex, with its context as JSON in a file.

Run as `python llamaindex_process.py agent|workflow CONTEXT SERVER PROTOCOL CALLS [ANSWERS]`, where CALLS are the
model's tool calls, SERVER is an address or "stdio", and ANSWERS is a list with one for each question, in the order
of their messages; without it the run begins. Prints the questions and what the tools said, as JSON. ANSWERS end the
run if no question is left.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ToolCallResult
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.workflow import Context, JsonSerializer, StopEvent

from mcp_adapters import Handlers, HttpServer, Pause, StdioServer, Toolbox
from mcp_adapters_llamaindex import McpAnswerEvent, McpQuestionEvent

from ..test_llamaindex import scripted

HERE = Path(__file__).parent


def toolbox(where: str, protocol: Any) -> Toolbox:
    server = (
        HttpServer(url=where, protocol=protocol)
        if where != "stdio"
        else StdioServer(command=sys.executable, args=[str(HERE / "asking_server.py")], protocol=protocol)
    )
    return Toolbox({"s": server}, handlers=Handlers(elicitation=Pause()))


async def run(
    kind: str, file: Path, where: str, protocol: str, calls: list[Any], answers: list[Any] | None
) -> dict[str, Any]:
    async with toolbox(where, protocol) as box:
        agent: Any = FunctionAgent(
            name="a", description="d", tools=box.to("llamaindex"), llm=scripted(calls), streaming=False
        )
        if kind == "workflow":
            agent = AgentWorkflow(agents=[agent], root_agent="a")
        if answers is None:
            return await watch(agent.run(user_msg="go"), file, len(calls), {})
        stored = json.loads(file.read_text())
        context = Context.from_dict(agent, stored["context"], serializer=JsonSerializer())
        history = [ChatMessage.model_validate(message) for message in stored["memory"]]
        handler = agent.run(ctx=context)
        await handler.ctx.store.set("memory", ChatMemoryBuffer.from_defaults(chat_history=history))
        given = dict(zip(stored["questions"], answers, strict=True))
        for identifier, answer in given.items():
            handler.ctx.send_event(McpAnswerEvent(question_id=identifier, **answer))
        return await watch(handler, file, len(calls), given)


async def watch(handler: Any, file: Path, calls: int, given: dict[str, Any]) -> dict[str, Any]:
    """Follow the run until it ends, or until every call has its result or a question without an answer."""
    questions: list[McpQuestionEvent] = []
    said: list[Any] = []
    async for event in handler.stream_events():
        if isinstance(event, McpQuestionEvent) and event.question_id in given:
            handler.ctx.send_event(McpAnswerEvent(question_id=event.question_id, **given[event.question_id]))
        elif isinstance(event, McpQuestionEvent):
            questions.append(event)
        if isinstance(event, ToolCallResult):
            said.append([event.tool_output.content, event.tool_output.is_error])
        if questions and len(questions) + len(said) == calls:
            break
        if isinstance(event, StopEvent):
            return {"questions": [], "said": sorted(said), "last": str(await handler)}
    await store(handler, file, questions)
    shown = [one.model_dump(exclude={"question_id"}, exclude_none=True) for one in questions]
    return {"questions": shown, "said": sorted(said), "last": None}


async def store(handler: Any, file: Path, questions: list[McpQuestionEvent]) -> None:
    """Keep the context, and beside it the memory, which LlamaIndex does not put into it."""
    questions.sort(key=lambda one: one.message)
    memory = await handler.ctx.store.get("memory")
    kept = {
        "context": handler.ctx.to_dict(serializer=JsonSerializer()),
        "memory": [message.model_dump(mode="json") for message in await memory.aget_all()],
        "questions": [one.question_id for one in questions],
    }
    file.write_text(json.dumps(kept))
    await handler.cancel_run()


def main() -> None:
    kind, file, where, protocol, calls, *more = sys.argv[1:]
    answers = json.loads(more[0]) if more else None
    print(json.dumps(asyncio.run(run(kind, Path(file), where, protocol, json.loads(calls), answers))))


if __name__ == "__main__":
    main()
