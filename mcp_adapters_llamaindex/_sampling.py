"""A LlamaIndex LLM answers when servers want the word of a model: `Handlers(sampling=sampling(llm))`.

In: a request of a server. Out: what the model says of it, within the limits that the user sets. Tools that
the server offers are shown to the model and run by the server.
"""

from __future__ import annotations

import base64
import json
from typing import Any

from llama_index.core.base.llms.types import (
    AudioBlock,
    ChatMessage,
    ContentBlock,
    ImageBlock,
    MessageRole,
    TextBlock,
    ToolCallBlock,
)
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import LLM
from llama_index.core.tools import FunctionTool, ToolMetadata

from mcp_adapters import (
    AudioPart,
    ImagePart,
    SamplingAnswer,
    SamplingMessage,
    SamplingRefusal,
    SamplingRequest,
    SamplingTool,
    TextPart,
    ToolResultPart,
    ToolUsePart,
    placeholder,
)
from mcp_adapters.asking import SamplingContent
from mcp_adapters.sampling import Confirm, refused, stop_reason
from mcp_adapters_llamaindex._tool import facade

__all__ = ("ModelSampling", "sampling")


def sampling(
    llm: LLM,
    *,
    max_tokens: int = 1_024,
    max_rounds: int = 5,
    confirm: Confirm | None = None,
) -> ModelSampling:
    """Make a handler for `Handlers(sampling=...)` of an LLM.

    Args:
        llm: Is given the limit of tokens as `max_tokens`.
        max_tokens: At most so many for one answer, also when the server wants more.
        max_rounds: How many times a server may ask for the model during one call.
        confirm: Asked before each request; None means that the model is asked without.

    """
    return ModelSampling(llm, max_tokens=max_tokens, max_rounds=max_rounds, confirm=confirm)


class ModelSampling:
    """Answers with an LLM; see `sampling`."""

    def __init__(self, llm: LLM, *, max_tokens: int, max_rounds: int, confirm: Confirm | None) -> None:
        self._llm = llm
        self._max_tokens = max_tokens
        self._max_rounds = max_rounds
        self._confirm = confirm

    @property
    def takes_tools(self) -> bool:
        """Whether the model can be given tools."""
        return isinstance(self._llm, FunctionCallingLLM) and self._llm.metadata.is_function_calling_model

    async def __call__(self, request: SamplingRequest) -> SamplingAnswer | SamplingRefusal:
        """Ask the model."""
        refusal = await refused(request, max_rounds=self._max_rounds, confirm=self._confirm)
        if refusal is not None:
            return refusal
        options: dict[str, Any] = {"max_tokens": min(request.max_tokens, self._max_tokens)}
        if request.temperature is not None:
            options["temperature"] = request.temperature
        if request.stop_sequences:
            options["stop"] = list(request.stop_sequences)
        messages = _messages(request)
        if request.tools and request.tool_choice != "none" and isinstance(self._llm, FunctionCallingLLM):
            response = await self._llm.achat_with_tools(
                [_declared(tool) for tool in request.tools],
                chat_history=messages,
                tool_required=request.tool_choice == "required",
                allow_parallel_tool_calls=True,
                **options,
            )
        else:
            response = await self._llm.achat(messages, **options)
        return self._answer(response.message, response.raw)

    def _answer(self, message: ChatMessage, raw: Any) -> SamplingAnswer:
        parts = tuple(part for block in message.blocks if (part := _part(block)) is not None)
        uses_tools = any(isinstance(part, ToolUsePart) for part in parts)
        return SamplingAnswer(
            content=parts or (TextPart(text=""),),
            model=self._llm.metadata.model_name,
            stop_reason=stop_reason(_finish(raw), uses_tools=uses_tools),
        )


def _finish(raw: Any) -> object:
    """The provider's word for the end, where its package keeps the answer as it came."""
    known = raw if isinstance(raw, dict) else getattr(raw, "__dict__", {})
    first = next(iter(known.get("choices") or ()), None)
    return known.get("stop_reason") or getattr(first, "finish_reason", None)


def _declared(tool: SamplingTool) -> FunctionTool:
    """A tool to be shown; the server runs it."""

    def run(**_: Any) -> None:
        raise NotImplementedError("the server runs this tool")

    metadata = ToolMetadata(
        name=tool.name,
        description=tool.description or tool.name,
        fn_schema=facade(tool.name, json.dumps(tool.input_schema, default=dict)),
    )
    return FunctionTool(fn=run, metadata=metadata)


def _messages(request: SamplingRequest) -> list[ChatMessage]:
    prompt = request.system_prompt
    system = [] if prompt is None else [ChatMessage(role=MessageRole.SYSTEM, content=prompt)]
    return [*system, *(message for each in request.messages for message in _translated(each))]


def _translated(message: SamplingMessage) -> list[ChatMessage]:
    """A message as LlamaIndex has it; results of tools are messages of their own there."""
    results = [_result(part) for part in message.parts if isinstance(part, ToolResultPart)]
    blocks = [_block(part) for part in message.parts if not isinstance(part, ToolResultPart)]
    role = MessageRole.ASSISTANT if message.role == "assistant" else MessageRole.USER
    return [*results, ChatMessage(role=role, blocks=blocks)] if blocks else results


def _block(part: SamplingContent) -> ContentBlock:
    match part:
        case TextPart():
            return TextBlock(text=part.text)
        case ImagePart():
            return ImageBlock(image=base64.b64decode(part.data), image_mimetype=part.mime_type)
        case AudioPart():
            return AudioBlock(audio=base64.b64decode(part.data), format=part.mime_type.rpartition("/")[2])
        case ToolUsePart():
            return ToolCallBlock(tool_call_id=part.id, tool_name=part.name, tool_kwargs=dict(part.input))
    return TextBlock(text=f"[content of an unknown kind: {getattr(part, 'problem', '')}]")


def _result(part: ToolResultPart) -> ChatMessage:
    lines = [each.text if isinstance(each, TextPart) else placeholder(each) for each in part.parts]
    text = "\n".join(lines)
    return ChatMessage(
        role=MessageRole.TOOL,
        content=f"Error: {text}" if part.is_error else text,
        additional_kwargs={"tool_call_id": part.tool_use_id},
    )


def _part(block: Any) -> SamplingContent | None:
    """What the model said; None for what the protocol has no word for, such as its reasoning."""
    match block:
        case TextBlock(text=text) if text:
            return TextPart(text=text)
        case ImageBlock() if block.image:
            return ImagePart(
                data=block.resolve_image(as_base64=True).read().decode(),
                mime_type=block.image_mimetype or "image/png",
            )
        case ToolCallBlock():
            given = block.tool_kwargs if isinstance(block.tool_kwargs, dict) else {}
            return ToolUsePart(id=block.tool_call_id or block.tool_name, name=block.tool_name, input=given)
    return None
