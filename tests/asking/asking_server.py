"""An example server that asks the person before it does anything; both eras, over stdio.

Run as `python asking_server.py LEDGER`. The ledger gets one line for each call that begins ("calls"), for each
that goes on with answers ("goes on with"), and for each effect ("erased", "named").
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Annotated, Any

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

LEDGER = Path(sys.argv[1])

# The state of a question must be valid in the next process of the server too.
SECURITY = RequestStateSecurity(keys=["k" * 32])


def record(line: str) -> None:
    with LEDGER.open("a") as file:
        file.write(line + "\n")


async def note_calls(ctx: Any, call_next: Any) -> Any:
    if ctx.method == "tools/call":
        path = ctx.params["arguments"].get("path")
        record(f"goes on with {path}" if "inputResponses" in ctx.params else f"calls {path}")
    return await call_next(ctx)


server = MCPServer("asking", log_level="CRITICAL", request_state_security=SECURITY, middleware=[note_calls])


class Sure(BaseModel):
    sure: bool = Field(description="Whether to go on")


class Name(BaseModel):
    name: str = Field(min_length=2)


def whether_to_erase(path: str) -> Elicit[Sure]:
    return Elicit(f"Erase {path}?", Sure)


def for_a_name() -> Elicit[Name]:
    return Elicit("What is your name?", Name)


@server.tool(structured_output=False)
def erase(path: str, sure: Annotated[ElicitationResult[Sure], Resolve(whether_to_erase)]) -> str:
    """Erase a file for good, if the person is sure."""
    if not (isinstance(sure, AcceptedElicitation) and sure.data.sure):
        return f"{path} stays"
    record(f"erased {path}")
    return f"{path} is gone"


@server.tool(structured_output=False)
def greet(
    path: str,
    name: Annotated[Name, Resolve(for_a_name)],
    sure: Annotated[Sure, Resolve(whether_to_erase)],
) -> str:
    """Ask two questions."""
    record(f"named {name.name} {path} {sure.sure}")
    return f"{name.name} {sure.sure}"


def for_a_word(topic: str) -> Sample:
    return Sample([SamplingMessage(role="user", content=TextContent(text=topic))], max_tokens=50)


@server.tool(structured_output=False)
def describe(topic: str, said: Annotated[CreateMessageResult, Resolve(for_a_word)]) -> str:
    """Describe a topic in the words of a model."""
    return f"{said.model} said: {getattr(said.content, 'text', '')} ({said.stop_reason})"


def main() -> None:
    logging.disable(logging.CRITICAL)
    server.run("stdio")


if __name__ == "__main__":
    main()
