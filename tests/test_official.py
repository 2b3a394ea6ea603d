"""Results on their way to the SDK's types and back."""

from __future__ import annotations

from typing import Any

import pytest
from mcp_types import CallToolResult, TextContent

from mcp_adapters import ToolResult
from mcp_adapters.official import from_official, to_official
from mcp_adapters.results import read_result

ANSWERS: list[dict[str, Any]] = [
    {"content": [{"type": "text", "text": "a"}]},
    {"content": [{"type": "text", "text": "a"}], "isError": True, "_meta": {"x": 1}},
    {"content": [], "structuredContent": {"rows": [1, None]}},
    {"content": [{"type": "image", "data": "AA==", "mimeType": "image/png"}]},
    {"content": [{"type": "resource_link", "uri": "file:///a", "name": "a", "size": 3}]},
]


@pytest.mark.parametrize("raw", ANSWERS, ids=str)
def test_a_servers_answer_comes_back_as_it_was(raw: dict[str, Any]) -> None:
    result = read_result(raw)
    official = to_official(result)
    back = from_official(official)

    assert isinstance(official, CallToolResult)
    assert (back.text, back.parts, back.structured) == (result.text, result.parts, result.structured)
    assert (back.is_error, back.meta) == (result.is_error, result.meta)


@pytest.mark.parametrize(
    "result",
    [
        ToolResult(text="by hand", structured={"n": 1}, is_error=True),
        read_result(
            {
                "content": [{"type": "hologram"}],
                "structuredContent": {"n": 1},
                "isError": True,
            }
        ),
    ],
    ids=["made by hand", "of a kind that the SDK does not know"],
)
def test_what_the_sdk_cannot_hold_is_its_text(result: ToolResult) -> None:
    assert to_official(result) == CallToolResult(
        content=[TextContent(type="text", text=result.text)], structured_content={"n": 1}, is_error=True
    )


def test_structured_content_is_kept_from_the_text_where_that_is_wanted() -> None:
    official = CallToolResult(content=[TextContent(type="text", text="a")], structured_content={"n": 1})

    assert from_official(official, structured="never").text == "a"
    assert from_official(official).text == 'a\n{"n": 1}'
