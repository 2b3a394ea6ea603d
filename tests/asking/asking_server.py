"""An example server that asks the person before it does anything; both eras, over stdio or HTTP.

Run as `python asking_server.py`, or as `python asking_server.py http`, which prints its address. In the folder of
the file that a call is about, the file `ledger` gets one line for each call that begins ("calls"), for each that
goes on with answers ("goes on with"), and for each effect ("erased", "named").
"""

from __future__ import annotations

import logging
import socket
import sys
from pathlib import Path
from typing import Annotated, Any

import uvicorn
from mcp.server.mcpserver import (
    AcceptedElicitation,
    Elicit,
    ElicitationResult,
    MCPServer,
    RequestStateSecurity,
    Resolve,
    Sample,
)
from mcp_types import CreateMessageResult, SamplingMessage, TextContent
from pydantic import BaseModel, Field

# The state of a question must be valid in the next process of the server too.
SECURITY = RequestStateSecurity(keys=["k" * 32])


def record(path: str, what: str) -> None:
    with Path(path).with_name("ledger").open("a") as file:
        file.write(f"{what} {Path(path).name}\n")


async def note_calls(ctx: Any, call_next: Any) -> Any:
    if ctx.method == "tools/call" and (path := ctx.params["arguments"].get("path")):
        record(path, "goes on with" if "inputResponses" in ctx.params else "calls")
    return await call_next(ctx)


server = MCPServer("asking", log_level="CRITICAL", request_state_security=SECURITY, middleware=[note_calls])


class Sure(BaseModel):
    sure: bool = Field(description="Whether to go on")


class Name(BaseModel):
    name: str = Field(min_length=2)


def whether_to_erase(path: str) -> Elicit[Sure]:
    return Elicit(f"Erase {Path(path).name}?", Sure)


def for_a_name() -> Elicit[Name]:
    return Elicit("What is your name?", Name)


@server.tool(structured_output=False)
def erase(path: str, sure: Annotated[ElicitationResult[Sure], Resolve(whether_to_erase)]) -> str:
    """Erase a file for good, if the person is sure."""
    if not (isinstance(sure, AcceptedElicitation) and sure.data.sure):
        return f"{Path(path).name} stays"
    record(path, "erased")
    return f"{Path(path).name} is gone"


@server.tool(structured_output=False)
def greet(
    path: str,
    name: Annotated[Name, Resolve(for_a_name)],
    sure: Annotated[Sure, Resolve(whether_to_erase)],
) -> str:
    """Ask two questions."""
    record(path, f"named {name.name}")
    return f"{name.name} {sure.sure}"


def for_a_word(topic: str) -> Sample:
    return Sample([SamplingMessage(role="user", content=TextContent(text=topic))], max_tokens=50)


@server.tool(structured_output=False)
def describe(topic: str, said: Annotated[CreateMessageResult, Resolve(for_a_word)]) -> str:
    """Describe a topic in the words of a model."""
    return f"{said.model} said: {getattr(said.content, 'text', '')} ({said.stop_reason})"


def main() -> None:
    logging.disable(logging.CRITICAL)
    if sys.argv[1:] == ["http"]:
        with socket.socket() as listening:
            listening.bind(("127.0.0.1", 0))
            print(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)
            config = uvicorn.Config(server.streamable_http_app(), log_level="critical")
            uvicorn.Server(config).run(sockets=[listening])
    else:
        server.run("stdio")


if __name__ == "__main__":
    main()
