"""An MCP tool as a LlamaIndex tool: translation only, both ways.

In: a core `Tool`. Out: a `FunctionTool` that every LlamaIndex agent accepts. What the model can
act on (a failed tool, wrong arguments, a lost connection, a timeout) comes back as a `ToolOutput`
with `is_error` and a text that says so, because LlamaIndex shows models nothing but the text.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Mapping
from inspect import Parameter, Signature
from keyword import iskeyword
from typing import TYPE_CHECKING, Any

from llama_index.core.bridge.pydantic import BaseModel, ConfigDict
from llama_index.core.instrumentation.dispatcher import active_instrument_tags  # type: ignore[attr-defined] # not in its __all__
from llama_index.core.instrumentation.span import active_span_id
from llama_index.core.tools import FunctionTool, ToolMetadata, ToolOutput
from llama_index.core.tools.tool_spec.base import BaseToolSpec
from llama_index.core.workflow import Context

from mcp_adapters import (
    ApprovalPolicy,
    CallAnswers,
    McpAdaptersError,
    OnProgress,
    ProtocolError,
    ServerError,
    Tool,
    ToolError,
    ToolResult,
    failed_result,
)
from mcp_adapters.approving import approval as decided
from mcp_adapters_llamaindex._content import to_blocks
from mcp_adapters_llamaindex._progress import to_stream
from mcp_adapters_llamaindex._waiting import answered

if TYPE_CHECKING:
    from mcp_adapters import Toolbox

__all__ = ("McpTool", "McpToolMetadata", "McpToolSpec", "facade")

_CONTEXT = "__mcp_adapters_context__"
"""The name under which an agent hands over its context; no argument of a tool has it."""

_TYPES = {"string": str, "integer": int, "number": float, "boolean": bool, "array": list, "object": dict}
"""What the JSON types are in Python."""

_FOR_THE_MODEL = (ToolError, ServerError, ProtocolError)
"""Failures that a model can read and act on."""


class McpToolMetadata(ToolMetadata):
    """What LlamaIndex shows models of an MCP tool: name, description and JSON Schema, unabridged.

    Args:
        tool: The MCP tool.
        return_direct: Whether an agent ends with this tool's answer.
        hidden: Names of arguments that models are not shown.

    """

    def __init__(self, tool: Tool, *, return_direct: bool = False, hidden: Collection[str] = ()) -> None:
        self._schema_json = _without(tool.spec.model_json, hidden)
        self._facade: type[BaseModel] | None = None
        self.name = tool.name
        self.description = _described(tool)
        self.return_direct = return_direct

    @property
    def fn_schema(self) -> type[BaseModel]:  # type: ignore[override] # the base class has a field of that name
        """A model class whose JSON Schema is the tool's; made when first asked for."""
        if self._facade is None:
            self._facade = facade(str(self.name), self._schema_json)
        return self._facade

    def get_parameters_dict(self) -> dict[str, Any]:
        """The tool's JSON Schema; a fresh copy, since some LLM packages write into it."""
        parameters: dict[str, Any] = json.loads(self._schema_json)
        return parameters

    def to_openai_tool(self, skip_length_check: bool = True) -> dict[str, Any]:
        """The tool as OpenAI's API takes it; by default without LlamaIndex's own limit of characters."""
        return super().to_openai_tool(skip_length_check=skip_length_check)


class McpTool(FunctionTool):
    """A LlamaIndex tool that calls an MCP tool, synchronously and asynchronously.

    Made by `toolbox.to("llamaindex")`. The arguments go to the server exactly as the model gave
    them, whatever their names; `ToolOutput.raw_output` is the `ToolResult` with everything that
    the server said, and `ToolOutput.exception` the error of a call that has no answer.

    Interceptors find in the context of a call: `span_id` and `tags` of LlamaIndex's instrumentation.

    Args:
        tool: A tool of an open toolbox.
        return_direct: Whether an agent ends with this tool's answer.
        stream_progress: Whether the progress of a call goes to the agent's stream of events, as
            `McpProgressEvent`. Such a tool needs an agent that gives its context to tools, as
            FunctionAgent, ReActAgent and AgentWorkflow do. So does a tool whose toolbox has
            `Handlers(elicitation=Pause())`: what its server asks the person is an `McpQuestionEvent`.
        partial_params: Arguments that every call gets and that models are not shown, by the names that
            the tool's schema has for models. What is given with a call comes before them.
        approval: Which calls a person has to approve. The question is an `McpQuestionEvent` on the agent's
            stream; answering it with "accept" approves the call. Where there is nobody to ask (no agent, or
            a synchronous call), such a call is not made.

    """

    def __init__(
        self,
        tool: Tool,
        *,
        return_direct: bool = False,
        stream_progress: bool = False,
        partial_params: Mapping[str, Any] | None = None,
        approval: ApprovalPolicy | None = None,
    ) -> None:
        async def call_async(**arguments: Any) -> ToolOutput:
            return await self.acall(**arguments)

        def call_sync(**arguments: Any) -> ToolOutput:
            return self.call(**arguments)

        self._tool = tool
        fixed = dict(partial_params or {})
        metadata = McpToolMetadata(tool, return_direct=return_direct, hidden=fixed)
        for function in (call_async, call_sync):  # agents that write code are told how to call it
            function.__name__, function.__doc__ = tool.name, tool.description
            function.__signature__ = _signature(metadata.get_parameters_dict())  # type: ignore[union-attr]
        super().__init__(fn=call_sync, async_fn=call_async, metadata=metadata, partial_params=fixed)
        self._stream_progress = stream_progress
        self._approval = approval
        if stream_progress or self._waits:
            self.requires_context, self.ctx_param_name = True, _CONTEXT

    def __reduce__(self) -> tuple[Any, ...]:
        options = {
            "return_direct": self.metadata.return_direct,
            "stream_progress": self._stream_progress,
            "partial_params": self.partial_params,
            "approval": self._approval,
        }
        return _rebuilt, (self._tool, options)

    @property
    def mcp_tool(self) -> Tool:
        """The MCP tool behind it."""
        return self._tool

    # Positional-only: a tool may have an argument called "self".
    def __call__(self, /, *args: Any, **arguments: Any) -> ToolOutput:
        """Call the tool and wait; the same as `call`."""
        return self.call(*args, **arguments)

    def call(self, /, *args: Any, **arguments: Any) -> ToolOutput:
        """Call the tool and wait.

        Args:
            args: For the properties of the schema that models are shown, in its order.
            arguments: By name.

        Returns:
            The output, with `is_error` for whatever a model can act on.

        Raises:
            ToolError, ServerError, ProtocolError: Only with `on_tool_error="raise"`.
            ToolboxClosedError: The toolbox is closed.
            TypeError: There are more `args` than properties.

        """
        on_progress = self._progress(arguments.pop(_CONTEXT, None))
        sent = self._named(args, arguments)
        try:
            refusal, _ = self._approved(sent, None)
            if refusal is not None:
                return self._answer(sent, refusal)
            return self._answer(sent, self._tool.call(sent, context=_context(), on_progress=on_progress))
        except _FOR_THE_MODEL as error:
            return self._failure(sent, error)

    async def acall(self, /, *args: Any, **arguments: Any) -> ToolOutput:
        """Call the tool from any event loop; as `call`."""
        agent: Context | None = arguments.pop(_CONTEXT, None)
        on_progress, context = self._progress(agent), _context()
        sent = self._named(args, arguments)

        async def send(resume: CallAnswers | None) -> ToolResult:
            refusal, goes_on = self._approved(sent, resume)
            if refusal is not None:
                return refusal
            return await self._tool.acall(sent, context=context, on_progress=on_progress, resume=goes_on)

        try:
            if agent is not None and self._waits:
                return self._answer(sent, await answered(agent, self._tool.name, sent, send))
            return self._answer(sent, await send(None))
        except _FOR_THE_MODEL as error:
            return self._failure(sent, error)

    @property
    def _waits(self) -> bool:
        """Whether a call may wait for a person."""
        return self._tool.pauses or self._approval is not None

    def _approved(
        self, sent: Mapping[str, Any], resume: CallAnswers | None
    ) -> tuple[ToolResult | None, CallAnswers | None]:
        """The result of a call that is not made, or None; and what the call goes on with."""
        if self._approval is None:
            return None, resume
        return decided(self._approval, self._tool, sent, resume)

    def _progress(self, agent: Context | None) -> OnProgress | None:
        return to_stream(agent) if self._stream_progress else None

    def _named(self, args: tuple[Any, ...], arguments: dict[str, Any]) -> dict[str, Any]:
        fixed: dict[str, Any] = self.partial_params
        if not args:
            return {**fixed, **arguments}
        names = list(self.metadata.get_parameters_dict()["properties"])
        if len(args) > len(names):
            raise TypeError(
                f"{self._tool.name} takes {len(names)} arguments, {len(args)} were given by position"
            )
        return {**fixed, **dict(zip(names, args, strict=False)), **arguments}

    def _answer(
        self, sent: Mapping[str, Any], result: ToolResult, error: McpAdaptersError | None = None
    ) -> ToolOutput:
        return ToolOutput(
            tool_name=self._tool.name,
            blocks=to_blocks(result, max_chars=self._tool.max_result_chars),
            raw_input=dict(sent),
            raw_output=result,
            is_error=result.is_error,
            exception=error,
        )

    def _failure(self, sent: Mapping[str, Any], error: McpAdaptersError) -> ToolOutput:
        if self._tool.on_tool_error == "raise":
            raise error
        return self._answer(sent, failed_result(error), error)


def _rebuilt(tool: Tool, options: dict[str, Any]) -> McpTool:
    return McpTool(tool, **options)


class McpToolSpec(BaseToolSpec):
    """The tools of an open toolbox as a LlamaIndex tool spec.

    Args:
        toolbox: An open `Toolbox`.

    """

    spec_functions: list[Any] = []  # noqa: RUF012 - the base class's own declaration; unused, the tools come from the toolbox

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox

    def to_tool_list(self, *_: Any, **__: Any) -> list[FunctionTool]:
        """The toolbox's tools as they are now, as LlamaIndex tools."""
        return [McpTool(tool) for tool in self._toolbox.tools]

    async def to_tool_list_async(self, *_: Any, **__: Any) -> list[FunctionTool]:
        """The toolbox's tools as they are now; for code that awaits the list."""
        return await asyncio.sleep(0, self.to_tool_list())


def _context() -> dict[str, Any]:
    """What LlamaIndex knows of the call that is being made."""
    return {"span_id": active_span_id.get(), "tags": dict(active_instrument_tags.get())}


def _described(tool: Tool) -> str:
    """The description, after a line with the signature if it has several lines.

    LlamaIndex's Gemini package drops the first of several lines.
    """
    if "\n" not in tool.description:
        return tool.description
    names = ", ".join(tool.model_schema["properties"])
    return f"{tool.name}({names})\n{tool.description}"


def _signature(schema: Mapping[str, Any]) -> Signature:
    """How a function with these arguments is called; names that Python cannot have are keys of `**`."""
    required = schema.get("required", ())
    named = [
        Parameter(
            name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if name in required else None,
            annotation=_TYPES.get(str(one.get("type")), Any),
        )
        for name, one in schema["properties"].items()
        if name.isidentifier() and not iskeyword(name)
    ]
    others = [] if len(named) == len(schema["properties"]) else [Parameter("others", Parameter.VAR_KEYWORD)]
    return Signature([*named, *others], return_annotation=ToolOutput)


def _without(schema_json: str, hidden: Collection[str]) -> str:
    """A tool's schema without some of its properties."""
    if not hidden:
        return schema_json
    schema = json.loads(schema_json)
    schema["properties"] = {key: one for key, one in schema["properties"].items() if key not in hidden}
    if "required" in schema:
        schema["required"] = [key for key in schema["required"] if key not in hidden]
    return json.dumps(schema)


def facade(name: str, schema_json: str) -> type[BaseModel]:
    """A model class that shows a ready JSON Schema instead of one made from fields."""

    def model_json_schema(cls: type[BaseModel], *_: Any, **__: Any) -> dict[str, Any]:
        schema: dict[str, Any] = json.loads(schema_json)
        return schema

    members = {"model_config": ConfigDict(extra="allow"), "model_json_schema": classmethod(model_json_schema)}
    return type(name, (BaseModel,), {"__module__": __name__, **members})
