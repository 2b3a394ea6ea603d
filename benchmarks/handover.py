"""What it costs, for each turn of a model, to hand 100 MCP tools to LangChain and to LlamaIndex.

Both convert every tool anew for every request. Compared are the frameworks' own tools with the same
schemas: LangChain's with the schema as a dict, both frameworks' with the schema as a pydantic model,
and LangChain's with the server's schema as it came, references included.

Run with `python benchmarks/handover.py`. Printed is the best of some rounds, in milliseconds, and its
ratio to the tools of this project: above 1, the others cost more.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Literal

from langchain_core.tools import StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from llama_index.core.tools import FunctionTool
from pydantic import BaseModel, Field

from mcp_adapters import NamePolicy, SchemaLimits, Tool
from mcp_adapters.catalog import build, read_listing
from mcp_adapters_langchain import McpTool as LangChainTool
from mcp_adapters_llamaindex import McpTool as LlamaIndexTool

TOOLS = 100


class Place(BaseModel):
    """Where to look."""

    latitude: float = Field(ge=-90, le=90)
    longitude: float = Field(ge=-180, le=180)


class Search(BaseModel):
    """Arguments of an ordinary tool: eight properties, two of them by reference."""

    query: str = Field(description="What to look for.")
    limit: int = Field(default=10, ge=1, le=100, description="Most results.")
    order: Literal["newest", "oldest"] = "newest"
    tags: list[str] = Field(default_factory=list)
    near: Place | None = None
    area: list[Place] = Field(default_factory=list)
    exact: bool = False
    language: str | None = None


def answer(**_: Any) -> str:
    """Stand for any tool's work."""
    return ""


def ours() -> list[Tool]:
    """The tools as a toolbox makes them; nobody calls them here."""
    schema = Search.model_json_schema()
    entries = [
        {"name": f"search{n}", "description": "Searches.", "inputSchema": schema} for n in range(TOOLS)
    ]
    catalog = build(
        [read_listing("bench", [{"tools": entries}])],
        filters=None,
        names=NamePolicy(),
        kept={},
        dialect="portable",
        provider=None,
        limits=SchemaLimits(),
        on_bad_tool="fail",
    )
    return [Tool(spec, caller=None) for spec in catalog.specs]


def best_ms(convert: Callable[[Any], object], tools: Sequence[Any], *, rounds: int = 15) -> float:
    """Best time of some rounds, after one that fills the caches."""
    best = float("inf")
    for _ in range(rounds + 1):
        start = time.perf_counter()
        for tool in tools:
            convert(tool)
        best = min(best, time.perf_counter() - start)
    return best * 1_000


def langchain_tools(tools: Sequence[Tool]) -> dict[str, list[Any]]:
    """Label -> LangChain tools; the first are this project's."""

    def native(schemas: Sequence[Any]) -> list[Any]:
        return [
            StructuredTool(name=tool.name, description=tool.description, args_schema=schema, func=answer)
            for tool, schema in zip(tools, schemas, strict=True)
        ]

    return {
        "McpTool": [LangChainTool.of(tool) for tool in tools],
        "StructuredTool, the same schema": native([tool.model_schema for tool in tools]),
        "StructuredTool, the server's schema": native([tool.input_schema for tool in tools]),
        "StructuredTool, pydantic": native([Search] * len(tools)),
    }


def llamaindex_tools(tools: Sequence[Tool]) -> dict[str, list[Any]]:
    """Label -> LlamaIndex tools; the first are this project's."""
    return {
        "McpTool": [LlamaIndexTool(tool) for tool in tools],
        "FunctionTool, pydantic": [
            FunctionTool.from_defaults(answer, name=tool.name, description=tool.description, fn_schema=Search)
            for tool in tools
        ],
    }


def report(title: str, convert: Callable[[Any], object], kinds: dict[str, list[Any]]) -> None:
    """Print one line for each kind of tool."""
    times = {label: best_ms(convert, tools) for label, tools in kinds.items()}
    own = times["McpTool"]
    print(f"{title}, {TOOLS} tools")
    for label, taken in times.items():
        print(f"  {label:38} {taken:7.2f} ms   ratio {taken / own:.2f}")


def main() -> None:
    """Print what both frameworks take for one turn."""
    tools = ours()
    report("LangChain: convert_to_openai_tool", convert_to_openai_tool, langchain_tools(tools))
    report("LlamaIndex: to_openai_tool", lambda tool: tool.metadata.to_openai_tool(), llamaindex_tools(tools))


if __name__ == "__main__":
    main()
