"""One process of an agent that is interrupted: LangGraph, with its state in an SQLite file.

Run as `python langgraph_process.py sync|async DATABASE SERVER PROTOCOL CALLS [RESUME]`, where CALLS are the
model's tool calls, SERVER is an address or "stdio", and RESUME is a list of answers, one for each interrupt, as
JSON; without it the run begins. Prints the interrupts and what the tools said, as JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command

from mcp_adapters import Handlers, HttpServer, Pause, StdioServer, Toolbox

from ..test_langchain import ScriptedModel, calling

HERE = Path(__file__).parent
CONFIG: Any = {"configurable": {"thread_id": "one"}}


def toolbox(where: str, protocol: Any) -> Toolbox:
    server = (
        HttpServer(url=where, protocol=protocol)
        if where != "stdio"
        else StdioServer(command=sys.executable, args=[str(HERE / "asking_server.py")], protocol=protocol)
    )
    return Toolbox({"s": server}, handlers=Handlers(elicitation=Pause()))


def question(state: Any, resume: list[Any] | None) -> Any:
    """What the graph is run with: the beginning, or the answers in the order of what was asked."""
    if resume is None:
        return {"messages": [("user", "go")]}
    waiting = sorted(
        (one for each in state.tasks for one in each.interrupts), key=lambda one: one.value["message"]
    )
    return Command(resume={one.id: answer for one, answer in zip(waiting, resume, strict=True)})


def told(result: Any) -> str:
    interrupts = sorted((one.value for one in result.get("__interrupt__", ())), key=lambda v: v["message"])
    said = [[m.content, m.status] for m in result["messages"] if isinstance(m, ToolMessage)]
    return json.dumps(
        {"interrupts": interrupts, "said": sorted(said), "last": result["messages"][-1].content}
    )


def run(database: str, where: str, protocol: str, model: ScriptedModel, resume: list[Any] | None) -> str:
    with SqliteSaver.from_conn_string(database) as saver, toolbox(where, protocol) as box:
        agent = create_agent(model, box.to("langchain"), checkpointer=saver)
        return told(agent.invoke(question(agent.get_state(CONFIG), resume), CONFIG))


async def arun(
    database: str, where: str, protocol: str, model: ScriptedModel, resume: list[Any] | None
) -> str:
    async with AsyncSqliteSaver.from_conn_string(database) as saver, toolbox(where, protocol) as box:
        agent = create_agent(model, box.to("langchain"), checkpointer=saver)
        return told(await agent.ainvoke(question(await agent.aget_state(CONFIG), resume), CONFIG))


def main() -> None:
    how, database, where, protocol, calls, *more = sys.argv[1:]
    model = ScriptedModel(script=[calling(*json.loads(calls)), AIMessage("done")])
    given = (database, where, protocol, model, json.loads(more[0]) if more else None)
    print(run(*given) if how == "sync" else asyncio.run(arun(*given)))


if __name__ == "__main__":
    main()
