"""Whatever JSON a server sends, what reads it gives a value or the error that it announces; nothing else."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_adapters.catalog import read_listing
from mcp_adapters.elicitation import read_request
from mcp_adapters.errors import McpAdaptersError
from mcp_adapters.prompts import read_completion, read_prompt, read_prompts
from mcp_adapters.resources import read_contents, read_resources, read_templates
from mcp_adapters.results import read_result
from mcp_adapters.sampling import read_sampling
from mcp_adapters.tasks import read_task, tools_that_need_tasks

FIELDS = (
    *("tools", "resources", "resourceTemplates", "prompts", "contents", "content", "messages", "completion"),
    *("name", "uri", "uriTemplate", "type", "text", "data", "blob", "mimeType", "resource", "role", "title"),
    *("description", "inputSchema", "outputSchema", "properties", "required", "enum", "annotations", "_meta"),
    *("structuredContent", "isError", "arguments", "values", "total", "hasMore", "size", "execution"),
    *(
        "taskSupport",
        "taskId",
        "status",
        "ttlMs",
        "pollInterval",
        "maxTokens",
        "systemPrompt",
        "stopSequences",
    ),
    *(
        "modelPreferences",
        "hints",
        "toolChoice",
        "mode",
        "requestedSchema",
        "message",
        "url",
        "elicitationId",
    ),
    *("temperature", "input", "id", "toolUseId", "nextCursor", "statusMessage", "$ref", "anyOf"),
)
"""Names that mean something to a reader: random names would never get past the first question."""
WORDS = ("text", "image", "audio", "resource", "resource_link", "tool_use", "tool_result", "object", "string",
         "user", "assistant", "working", "completed", "form", "url", "required", "auto", "")  # fmt: skip

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False)
    | st.sampled_from(WORDS)
    | st.text(max_size=8)
)
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=6),
    max_leaves=25,
)
objects = st.dictionaries(st.sampled_from(FIELDS), json_values, max_size=8)

READERS: dict[str, Callable[[Mapping[str, Any]], object]] = {
    "listing": lambda raw: read_listing("s", [raw, raw]),
    "tools that need tasks": lambda raw: tools_that_need_tasks([raw]),
    "task": lambda raw: read_task("s", "t", raw),
    "result": read_result,
    "resources": lambda raw: read_resources("s", [raw]),
    "templates": lambda raw: read_templates("s", [raw]),
    "contents": lambda raw: read_contents("s", "memo://1", raw),
    "prompts": lambda raw: read_prompts("s", [raw]),
    "prompt": lambda raw: read_prompt("s", "p", raw),
    "completion": read_completion,
    "question for a model": lambda raw: read_sampling("s", raw),
    "question for a person": lambda raw: read_request("s", raw),
}


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
@settings(max_examples=150, deadline=None)
@given(raw=objects)
def test_no_json_breaks_a_reader(reader: Callable[[Mapping[str, Any]], object], raw: dict[str, Any]) -> None:
    with contextlib.suppress(ValueError, McpAdaptersError):  # what they announce
        reader(raw)
