"""A server for the tests of LlamaIndex's drop-in, in a process of its own or over HTTP."""

from __future__ import annotations

import os
from typing import Any

from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360f8cf500f00030c01800568d1f6af0000000049454e44ae426082"
)


class Name(BaseModel):
    name: str


def make() -> MCPServer:
    server = MCPServer("li", log_level="CRITICAL")
    users = {"123": "Ann"}

    @server.tool()
    def add(a: float, b: float) -> float:
        """Add two numbers."""
        return a + b

    @server.tool()
    def process() -> int:
        """The number of the process."""
        return os.getpid()

    @server.tool()
    def greet(name: Name, user_id: str = "nobody") -> str:
        """Greet by a nested model."""
        return f"Hello {name.name}, {user_id}"

    @server.tool()
    def rename_user(user_id: str, name: str) -> str:
        """Rename a user."""
        users[user_id] = name
        return name

    @server.tool()
    async def work(steps: int, ctx: Context) -> str:
        """Report each step."""
        for step in range(steps):
            await ctx.report_progress(step + 1, steps, f"step {step + 1}")
        return "worked"

    @server.tool()
    def paint() -> Image:
        """Paint a pixel."""
        return Image(data=PIXEL, format="png")

    @server.tool()
    def fail() -> str:
        """Fail."""
        raise ToolError("it did not work")

    @server.resource(
        "config://app", name="app_config", mime_type="text/plain", description="The configuration."
    )
    def config() -> str:
        return "level = 3"

    @server.resource("users://{user_id}/profile", name="user_profile", mime_type="text/plain")
    def profile(user_id: str) -> str:
        return users[user_id]

    @server.prompt()
    def analyze(data: str) -> list[dict[str, Any]]:
        return [{"role": "user", "content": f"Look at {data}."}, {"role": "assistant", "content": "I do."}]

    return server


if __name__ == "__main__":
    make().run("stdio")
