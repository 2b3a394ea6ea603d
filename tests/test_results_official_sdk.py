"""The wrapper and the texts that the official SDK really makes, read back."""

from __future__ import annotations

import pytest
from mcp import Client
from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel

from mcp_adapters.results import read_result, wraps_result


class City(BaseModel):
    name: str
    people: int = 0


class FoundOutput(BaseModel):
    result: int


def number() -> int:
    return 5


def word() -> str:
    return "five"


def nothing_found() -> str | None:
    return None


def files() -> list[str]:
    return ["a.py", "b.py"]


def no_files() -> list[str]:
    return []


def cities() -> list[City]:
    return [City(name="Zürich", people=2**40)]


def bare_cities() -> list[City]:
    return [{"name": "Bern"}]  # type: ignore[list-item]


def maybe_city() -> City | None:
    return City(name="Bern")


def table() -> dict[str, int]:
    return {"a": 1}


def city() -> City:
    return City(name="Bern")


def found() -> FoundOutput:
    return FoundOutput(result=5)


BERN = {"name": "Bern", "people": 0}
CASES = [
    (number, True, 5, "5"),
    (word, True, "five", "five"),
    (nothing_found, True, None, "null"),
    (files, True, ["a.py", "b.py"], "a.py\nb.py"),
    (no_files, True, [], "[]"),
    (cities, True, [{"name": "Zürich", "people": 2**40}], None),
    (maybe_city, True, BERN, None),
    (table, False, {"a": 1}, None),
    (city, False, BERN, None),
    (found, False, {"result": 5}, None),
]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def _called(function):
    server = MCPServer("server")
    server.add_tool(function)
    async with Client(server) as client:
        (tool,) = (await client.list_tools()).tools
        result = await client.call_tool(tool.name, {})
    return tool, result.model_dump(by_alias=True, mode="json", exclude_none=True)


@pytest.mark.parametrize(
    ("function", "wraps", "value", "text"), CASES, ids=lambda case: getattr(case, "__name__", None)
)
async def test_a_program_gets_the_value_that_the_function_returned(function, wraps, value, text):
    tool, raw = await _called(function)

    declared = wraps_result(tool.output_schema, tool=tool.name)
    result = read_result(raw, wrapped=declared)

    assert (declared, result.structured) == (wraps, value)
    assert result.text == (text or "\n".join(entry["text"] for entry in raw["content"]))


@pytest.mark.parametrize("function", [number, word, files, no_files, cities, table, city, found])
async def test_the_wrapper_is_found_without_the_output_schema_too(function):
    tool, raw = await _called(function)

    declared = read_result(raw, wrapped=wraps_result(tool.output_schema, tool=tool.name))

    assert read_result(raw) == declared


async def test_data_that_the_texts_lack_is_added():
    """The SDK fills in defaults in the structured content only."""
    tool, raw = await _called(bare_cities)

    result = read_result(raw, wrapped=wraps_result(tool.output_schema, tool=tool.name))

    assert result.text == '{\n  "name": "Bern"\n}\n[{"name": "Bern", "people": 0}]'
