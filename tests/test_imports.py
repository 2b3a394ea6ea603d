"""What importing a package loads, seen from a fresh interpreter."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = ("mcp", "mcp_types", "pydantic", "anyio", "asyncio", "httpx2", "langchain_core", "llama_index")


def loaded_by(statement: str) -> set[str]:
    """The top-level modules that a fresh interpreter has after a statement."""
    code = f"import sys; {statement}; import json; print(json.dumps(sorted({{m.split('.')[0] for m in sys.modules}})))"
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    return set(json.loads(out))


def test_importing_the_core_loads_neither_the_sdk_nor_a_framework() -> None:
    assert loaded_by("import mcp_adapters").isdisjoint(HEAVY)


@pytest.mark.parametrize(
    ("package", "others"),
    [
        ("mcp_adapters_langchain", {"mcp", "mcp_types", "llama_index", "jsonschema_rs"}),
        ("mcp_adapters_llamaindex", {"mcp", "mcp_types", "langchain_core", "jsonschema_rs"}),
        ("mcp_adapters._toolbox", {"langchain_core", "llama_index"}),
    ],
)
def test_a_package_loads_its_own_framework_only(package: str, others: set[str]) -> None:
    assert loaded_by(f"import {package}").isdisjoint(others)


def test_every_public_name_can_be_had_and_is_listed() -> None:
    import mcp_adapters

    for name in mcp_adapters.__all__:
        assert getattr(mcp_adapters, name) is not None
        assert name in dir(mcp_adapters)


def test_an_unknown_name_is_an_attribute_error() -> None:
    import mcp_adapters

    with pytest.raises(AttributeError, match="Toolbx"):
        mcp_adapters.Toolbx  # noqa: B018
