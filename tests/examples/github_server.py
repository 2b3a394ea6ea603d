"""A small server with the names and the arguments of GitHub's reading tools, and one that writes.

Run it to record the session that the example's test plays:

    python -m tests.examples.github_server examples/release_notes/session.json
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any, Literal

from mcp.server.mcpserver import MCPServer
from mcp_types import ToolAnnotations

READS = ToolAnnotations(read_only_hint=True)
PULLS: list[dict[str, Any]] = [
    {
        "number": 41,
        "title": "Draw charts in colour",
        "merged_at": "2026-11-20T10:00:00Z",
        "user": {"login": "ada"},
    },
    {
        "number": 42,
        "title": "Do not lose the last line",
        "merged_at": "2026-11-21T10:00:00Z",
        "user": {"login": "bo"},
    },
    {"number": 43, "title": "Tidy the tests", "merged_at": "2026-11-22T10:00:00Z", "user": {"login": "cy"}},
]


def make() -> MCPServer:
    server = MCPServer("github-like", log_level="CRITICAL")

    @server.tool(annotations=READS)
    def get_latest_release(owner: str, repo: str) -> dict[str, Any]:
        """Get the latest release in a repository."""
        return {"tag_name": "v1.0", "published_at": "2026-11-01T00:00:00Z"}

    @server.tool(annotations=READS)
    def list_releases(owner: str, repo: str, page: int = 1) -> dict[str, Any]:
        """List releases in a repository."""
        return {"releases": [get_latest_release(owner, repo)]}

    @server.tool(annotations=READS)
    def list_commits(owner: str, repo: str, sha: str | None = None, page: int = 1) -> dict[str, Any]:
        """List commits of a branch."""
        return {"commits": []}

    @server.tool(annotations=READS)
    def list_pull_requests(
        owner: str, repo: str, state: Literal["open", "closed", "all"] = "open", page: int = 1
    ) -> dict[str, Any]:
        """List pull requests in a repository."""
        return {"pull_requests": PULLS if state != "open" else []}

    @server.tool(annotations=READS)
    def pull_request_read(
        owner: str, repo: str, pullNumber: int, method: Literal["get", "get_diff", "get_files"]
    ) -> dict[str, Any]:
        """Get information on a pull request."""
        [found] = [one for one in PULLS if one["number"] == pullNumber]
        return {**found, "body": "Charts had no colour. Now they do."}

    @server.tool()
    def merge_pull_request(owner: str, repo: str, pullNumber: int) -> str:
        """Merge a pull request."""
        raise AssertionError("nobody may do this")

    return server


async def record(path: str) -> None:
    """Use the server over HTTP as the example's agent does in its test, and write the session to a file."""
    from examples.release_notes.agent import reading, release_notes
    from mcp_adapters import HttpServer
    from mcp_adapters.testing import Recording
    from tests.examples.test_release_notes import scripted_model
    from tests.web import Web

    with Web(lambda _: make().streamable_http_app()) as web:
        session = Recording(path, HttpServer(url=web.mcp), mode="record")
        async with reading(session) as toolbox:
            print(await release_notes("octocat/hello-world", scripted_model(), toolbox))


if __name__ == "__main__":
    asyncio.run(record(sys.argv[1]))
