"""An agent that draws diagrams when a server for them is configured, and works without.

In: a question, an LLM, and the diagram server from the environment. Out: an answer, and the diagrams as
files.
"""

from __future__ import annotations

import asyncio
import base64
import os
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llama_index.core.agent.workflow import FunctionAgent, ToolCallResult

from mcp_adapters import Bubblewrap, HttpServer, Install, StdioServer, Toolbox
from mcp_adapters.spec import ImagePart

TASK = "Answer the question. Draw a diagram where it helps."
WITHOUT = "Answer the question in words: diagrams cannot be drawn now ({reason})."


@dataclass(frozen=True, slots=True)
class Answer:
    """What the agent said and drew."""

    text: str
    images: tuple[ImagePart, ...]


def diagram_server(environ: Mapping[str, str]) -> HttpServer | StdioServer | None:
    """Describe the diagram server; None when none is configured."""
    if url := environ.get("DIAGRAM_MCP_URL"):
        return HttpServer(url=url, auth=environ.get("DIAGRAM_MCP_TOKEN"))
    if command := environ.get("DIAGRAM_MCP_COMMAND"):
        program, *arguments = shlex.split(command)
        folder = environ.get("DIAGRAM_MCP_FOLDER")
        return StdioServer(
            command=program,
            args=arguments,
            cwd=folder,
            sandbox=None if folder is None else Bubblewrap(write=[folder]),
            install=installation(environ.get("DIAGRAM_MCP_INSTALL")),
        )
    return None


def installation(command: str | None) -> Install | None:
    """What has to be done before the server's first start; it may use the network."""
    if not command:
        return None
    program, *arguments = shlex.split(command)
    return Install(command=program, args=arguments, network=True)


def drawing(server: Any) -> Toolbox:
    """A toolbox of the diagram server, or of none; it opens also when the server does not start."""
    return Toolbox({} if server is None else {"diagrams": server}, on_server_failure="skip")


def prompt(toolbox: Toolbox) -> str:
    """What the agent is told of its abilities."""
    if len(toolbox):
        return TASK
    failures = [status.last_error for status in toolbox.status.values() if status.last_error]
    return WITHOUT.format(reason=failures[0] if failures else "no server is configured")


async def answer(question: str, llm: Any, toolbox: Toolbox) -> Answer:
    """Let the agent answer.

    Args:
        question: The question.
        llm: An LLM of LlamaIndex that can call functions.
        toolbox: What `drawing` gave, open.

    """
    tools: Any = toolbox.to("llamaindex")
    agent = FunctionAgent(tools=tools, llm=llm, system_prompt=prompt(toolbox), streaming=False)
    run = agent.run(user_msg=question)
    images: list[ImagePart] = []
    async for event in run.stream_events():
        if isinstance(event, ToolCallResult):
            images += [part for part in event.tool_output.raw_output.parts if isinstance(part, ImagePart)]
    return Answer(str(await run), tuple(images))


async def answered(question: str) -> Answer:
    """Answer with the servers and the key of the environment."""
    from llama_index.llms.openai import OpenAI

    async with drawing(diagram_server(os.environ)) as toolbox:
        return await answer(question, OpenAI(model="gpt-5.1"), toolbox)


def main(question: str) -> None:
    """Run from the command line."""
    said = asyncio.run(answered(question))
    print(said.text)
    for number, image in enumerate(said.images, 1):
        file = Path(f"diagram-{number}.{image.mime_type.rpartition('/')[2]}")
        file.write_bytes(base64.b64decode(image.data))
        print(file)


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]))
