"""Both packages of ours keep the contract that authors of other packages inherit; a package that does not is caught."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from llama_index.core.tools import FunctionTool, ToolOutput

from mcp_adapters.testing import FrameworkContract


class TestLangChain(FrameworkContract):
    framework = "langchain"

    def name_of(self, native: BaseTool) -> str:
        return native.name

    def description_of(self, native: BaseTool) -> str:
        return native.description

    def schema_of(self, native: BaseTool) -> Mapping[str, Any]:
        schema: Any = native.tool_call_schema
        return schema if isinstance(schema, dict) else schema.model_json_schema()

    def call(self, native: BaseTool, arguments: Mapping[str, Any]) -> tuple[str, bool]:
        return self._read(native.invoke(self._made(native, arguments)))

    async def acall(self, native: BaseTool, arguments: Mapping[str, Any]) -> tuple[str, bool]:
        return self._read(await native.ainvoke(self._made(native, arguments)))

    def _made(self, native: BaseTool, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return {"type": "tool_call", "name": native.name, "args": dict(arguments), "id": "1"}

    def _read(self, message: ToolMessage) -> tuple[str, bool]:
        blocks = [str(block.get("text", block["type"])) for block in message.content_blocks]
        return "\n".join(blocks), message.status == "error"


class TestLlamaIndex(FrameworkContract):
    framework = "llamaindex"

    def name_of(self, native: FunctionTool) -> str:
        return str(native.metadata.name)

    def description_of(self, native: FunctionTool) -> str:
        return native.metadata.description

    def schema_of(self, native: FunctionTool) -> Mapping[str, Any]:
        return native.metadata.get_parameters_dict()

    def call(self, native: FunctionTool, arguments: Mapping[str, Any]) -> tuple[str, bool]:
        return self._read(native.call(**arguments))

    async def acall(self, native: FunctionTool, arguments: Mapping[str, Any]) -> tuple[str, bool]:
        return self._read(await native.acall(**arguments))

    def _read(self, output: ToolOutput) -> tuple[str, bool]:
        return output.content or output.blocks[0].block_type, output.is_error


class Broken(TestLangChain):
    """A package with a fault in one place."""

    __test__ = False
    fault = ""

    def name_of(self, native: BaseTool) -> str:
        return native.name.replace("s_", "", 1) if self.fault == "name" else native.name

    def description_of(self, native: BaseTool) -> str:
        return native.description.splitlines()[0] if self.fault == "description" else native.description

    def schema_of(self, native: BaseTool) -> Mapping[str, Any]:
        return {"properties": {}} if self.fault == "schema" else super().schema_of(native)

    def call(self, native: BaseTool, arguments: Mapping[str, Any]) -> tuple[str, bool]:
        if self.fault == "arguments":
            arguments = {key: value for key, value in arguments.items() if key != "config"}
        if self.fault == "nulls":
            arguments = {"c": None, **arguments}
        text, failed = super().call(native, arguments)
        if self.fault == "raises" and failed:
            raise RuntimeError(text)
        return "" if self.fault == "text" else text, failed and self.fault != "failures"

    async def acall(self, native: BaseTool, arguments: Mapping[str, Any]) -> tuple[str, bool]:
        if self.fault == "asynchronous":
            raise NotImplementedError
        return await super().acall(native, arguments)


@pytest.mark.parametrize(
    ("fault", "test"),
    [
        ("name", "test_every_tool_is_made_with_its_exposed_name"),
        ("description", "test_the_description_is_the_tools"),
        ("schema", "test_the_schema_is_the_projection_for_models"),
        ("arguments", "test_arguments_of_every_name_reach_the_server"),
        ("asynchronous", "test_arguments_of_every_name_reach_the_server"),
        ("nulls", "test_what_was_left_out_stays_out"),
        ("failures", "test_wrong_arguments_are_told_to_the_model_and_not_sent"),
        ("text", "test_every_kind_of_content_reaches_the_model_as_something_to_read"),
        ("raises", "test_what_a_model_can_act_on_is_told_to_it_and_raises_nothing"),
        ("text", "test_calls_from_many_threads_and_loops_are_not_mixed_up"),
    ],
)
def test_the_contract_catches(fault: str, test: str) -> None:
    broken = Broken()
    getattr(broken, test)()
    broken.fault = fault
    with pytest.raises((AssertionError, RuntimeError, NotImplementedError)):
        getattr(broken, test)()


def test_a_framework_that_nobody_offers_is_caught() -> None:
    broken = Broken()
    broken.framework = "nowhere"
    with pytest.raises(AssertionError):
        broken.test_the_framework_is_found_by_its_name()
