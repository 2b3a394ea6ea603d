"""An example server that makes tasks of calls (the extension of protocol 2026-07-28), over stdio or HTTP.

Run as `python slow_server.py FOLDER`, or as `python slow_server.py FOLDER http`, which prints its address. What it
knows of its tasks is in files of the folder, so that another process of it goes on where this one was killed; the
file `ledger` gets one line for each task that begins and for each effect.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

import uvicorn
from mcp.server import ServerRequestContext
from mcp.server.extension import Extension, MethodBinding
from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolRequestParams, RequestParams

FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else Path()
STEPS = 3
AT = "2026-07-28T00:00:00Z"


def note(line: str) -> None:
    with (FOLDER / "ledger").open("a") as file:
        file.write(line + "\n")


class TaskParams(RequestParams):
    task_id: str


class UpdateParams(TaskParams):
    input_responses: dict[str, Any]


class SlowTasks(Extension):
    """Every call becomes a task that takes some looks at it, and asks once when its tool is `risky`."""

    identifier = "io.modelcontextprotocol/tasks"

    def methods(self) -> list[MethodBinding]:
        return [
            MethodBinding("tasks/get", TaskParams, self.get),
            MethodBinding("tasks/update", UpdateParams, self.update),
            MethodBinding("tasks/cancel", TaskParams, self.cancel),
        ]

    async def intercept_tool_call(
        self, params: CallToolRequestParams, ctx: ServerRequestContext[Any, Any], call_next: Any
    ) -> Any:
        capabilities = ctx.session.client_capabilities
        if self.identifier not in ((capabilities and capabilities.extensions) or {}):
            return await call_next(ctx)
        task = {"id": uuid4().hex, "tool": params.name, "looks": 0, "status": "working", "answers": {}}
        store(task)
        note(f"begins {params.name}")
        return {"resultType": "task", **shown(task)}

    async def get(self, ctx: Any, params: TaskParams) -> dict[str, Any]:
        task = load(params.task_id)
        if task["status"] == "working":
            work(task)
        return {"resultType": "complete", **shown(task)}

    async def update(self, ctx: Any, params: UpdateParams) -> dict[str, Any]:
        task = load(params.task_id)
        task["answers"].update(params.input_responses)
        task["status"] = "working"
        store(task)
        return {"resultType": "complete"}

    async def cancel(self, ctx: Any, params: TaskParams) -> dict[str, Any]:
        task = load(params.task_id)
        task["status"] = "cancelled"
        store(task)
        return {"resultType": "complete"}


def work(task: dict[str, Any]) -> None:
    """One step of a task; the tool `deadly` ends the process in the middle, once."""
    task["looks"] += 1
    store(task)
    if task["tool"] == "deadly" and task["looks"] == 2:
        os._exit(9)
    if task["tool"] == "risky" and not task["answers"]:
        task["status"] = "input_required"
    elif task["looks"] >= STEPS and task["tool"] != "endless":
        task["status"] = "completed"
        note(f"effect of {task['tool']}")
    store(task)


def shown(task: dict[str, Any]) -> dict[str, Any]:
    facts = {
        "taskId": task["id"],
        "status": task["status"],
        "statusMessage": f"step {task['looks']}",
        "createdAt": AT,
        "lastUpdatedAt": AT,
        "ttlMs": None,
        "pollIntervalMs": 20,
    }
    if task["status"] == "completed":
        said = json.dumps(task["answers"]) if task["answers"] else f"{task['tool']} is done"
        facts["result"] = {"content": [{"type": "text", "text": said}], "isError": False}
    if task["status"] == "input_required":
        schema = {"type": "object", "properties": {"sure": {"type": "boolean"}}, "required": ["sure"]}
        asked = {"message": "Go on?", "mode": "form", "requestedSchema": schema}
        facts["inputRequests"] = {"sure": {"method": "elicitation/create", "params": asked}}
    return facts


def store(task: dict[str, Any]) -> None:
    file = FOLDER / f"{task['id']}.json"
    file.with_suffix(".new").write_text(json.dumps(task))
    file.with_suffix(".new").replace(file)


def load(identifier: str) -> dict[str, Any]:
    try:
        task: dict[str, Any] = json.loads((FOLDER / f"{identifier}.json").read_text())
    except OSError:
        raise MCPError(INVALID_PARAMS, "there is no such task") from None
    return task


def make(folder: Path) -> MCPServer:
    global FOLDER
    FOLDER = folder
    server = MCPServer("slow", log_level="CRITICAL", extensions=[SlowTasks()])

    def inline() -> str:
        """Do something at once."""
        note("effect inline")
        return "done inline"

    for name in ("steady", "risky", "deadly", "endless"):
        server.add_tool(inline, name=name, structured_output=False)
    return server


def main() -> None:
    logging.disable(logging.CRITICAL)
    server = make(FOLDER)
    if sys.argv[2:] == ["http"]:
        with socket.socket() as listening:
            listening.bind(("127.0.0.1", int(os.environ.get("SLOW_PORT", "0"))))
            print(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)
            config = uvicorn.Config(server.streamable_http_app(), log_level="critical")
            uvicorn.Server(config).run(sockets=[listening])
    else:
        server.run("stdio")


if __name__ == "__main__":
    main()
