"""Pages of a listing that are none: nothing of what a server says disappears without a word."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_adapters import Toolbox, ToolboxLoadError
from mcp_adapters.testing import CannedTransport, said

GOOD = {"name": "good", "inputSchema": {"type": "object"}}
PAGES: list[dict[str, Any]] = [
    {},
    {"tools": None},
    {"tools": "good"},
    {"tools": {"good": GOOD}},
    {"tools": 3},
    {"items": [GOOD]},
]


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_a_page_without_a_list_of_tools_keeps_the_toolbox_from_opening_or_is_told(
    page: dict[str, Any],
) -> None:
    strict, lenient = CannedTransport(), CannedTransport()
    strict.expect("tools/list", page)
    lenient.expect("tools/list", {"tools": [GOOD], "nextCursor": "2"})
    lenient.expect("tools/list", page)
    lenient.expect("tools/call", said("yes"))
    with pytest.raises(ToolboxLoadError, match="holds no list of tools"), Toolbox({"s": strict}):
        pass
    with lenient, Toolbox({"s": lenient}, on_bad_tool="skip") as toolbox:
        assert toolbox.call("s_good").text == "yes"
        assert [(one.server, one.pointer) for one in toolbox.skipped] == [("s", "/tools")]
