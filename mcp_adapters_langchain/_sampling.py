"""A LangChain chat model answers when servers want the word of a model: `Handlers(sampling=sampling(model))`.

In: a request of a server. Out: what the model says of it, within the limits that the user sets. Tools that
the server offers are shown to the model and run by the server.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from mcp_adapters import (
    AudioPart,
    ImagePart,
    SamplingAnswer,
    SamplingMessage,
    SamplingRefusal,
    SamplingRequest,
    TextPart,
    ToolResultPart,
    ToolUsePart,
    placeholder,
)
from mcp_adapters.asking import SamplingContent
from mcp_adapters.sampling import Confirm, refused, stop_reason

__all__ = ("ModelSampling", "sampling")


def sampling(
    model: BaseChatModel,
    *,
    max_tokens: int = 1_024,
    max_rounds: int = 5,
    confirm: Confirm | None = None,
) -> ModelSampling:
    """Make a handler for `Handlers(sampling=...)` of a chat model.

    Args:
        model: Is given the limit of tokens as `max_tokens`.
        max_tokens: At most so many for one answer, also when the server wants more.
        max_rounds: How many times a server may ask for the model during one call.
        confirm: Asked before each request; None means that the model is asked without.

    """
    return ModelSampling(model, max_tokens=max_tokens, max_rounds=max_rounds, confirm=confirm)


class ModelSampling:
    """Answers with a chat model; see `sampling`."""

    def __init__(
        self, model: BaseChatModel, *, max_tokens: int, max_rounds: int, confirm: Confirm | None
    ) -> None:
        self._model = model
        self._max_tokens = max_tokens
        self._max_rounds = max_rounds
        self._confirm = confirm

    @property
    def takes_tools(self) -> bool:
        """Whether the model can be given tools."""
        return type(self._model).bind_tools is not BaseChatModel.bind_tools

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
        model: Any = self._model
        if request.tools and request.tool_choice != "none":
            choice = {"tool_choice": "any"} if request.tool_choice == "required" else {}
            model = model.bind_tools([_declared(tool) for tool in request.tools], **choice)
        return self._answer(await model.ainvoke(_messages(request), **options))

    def _answer(self, message: AIMessage) -> SamplingAnswer:
        said = message.response_metadata
        parts = tuple(part for block in message.content_blocks if (part := _part(block)) is not None)
        name = said.get("model_name") or said.get("model") or getattr(self._model, "model_name", None)
        return SamplingAnswer(
            content=parts or (TextPart(text=""),),
            model=name if isinstance(name, str) else type(self._model).__name__,
            stop_reason=stop_reason(
                said.get("finish_reason") or said.get("stop_reason"), uses_tools=bool(message.tool_calls)
            ),
        )


def _declared(tool: Any) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description or tool.name}
    return {"type": "function", "function": {**function, "parameters": dict(tool.input_schema)}}


def _messages(request: SamplingRequest) -> list[BaseMessage]:
    system = [] if request.system_prompt is None else [SystemMessage(request.system_prompt)]
    return [*system, *(message for each in request.messages for message in _translated(each))]


def _translated(message: SamplingMessage) -> list[BaseMessage]:
    """A message as LangChain has it; results of tools are messages of their own there."""
    results: list[BaseMessage] = [_result(part) for part in message.parts if isinstance(part, ToolResultPart)]
    calls = [
        {"name": part.name, "args": dict(part.input), "id": part.id, "type": "tool_call"}
        for part in message.parts
        if isinstance(part, ToolUsePart)
    ]
    blocks = [_block(part) for part in message.parts if not isinstance(part, ToolUsePart | ToolResultPart)]
    if message.role == "assistant":
        return [*results, AIMessage(content=_content(blocks), tool_calls=calls)]
    return [*results, HumanMessage(content=_content(blocks))] if blocks else results


def _content(blocks: Sequence[dict[str, Any]]) -> Any:
    if all(block["type"] == "text" for block in blocks):
        return "\n".join(block["text"] for block in blocks)
    return list(blocks)


def _block(part: SamplingContent) -> dict[str, Any]:
    match part:
        case TextPart():
            return {"type": "text", "text": part.text}
        case ImagePart() | AudioPart():
            return {"type": part.kind, "base64": part.data, "mime_type": part.mime_type}
    return {"type": "text", "text": f"[content of an unknown kind: {getattr(part, 'problem', '')}]"}


def _result(part: ToolResultPart) -> ToolMessage:
    lines = [each.text if isinstance(each, TextPart) else placeholder(each) for each in part.parts]
    status = "error" if part.is_error else "success"
    return ToolMessage("\n".join(lines), tool_call_id=part.tool_use_id, status=status)


def _part(block: Any) -> SamplingContent | None:
    """What the model said; None for what the protocol has no word for, such as its reasoning."""
    match block["type"]:
        case "text" if block["text"]:
            return TextPart(text=block["text"])
        case "image" if block.get("base64"):
            return ImagePart(data=block["base64"], mime_type=block.get("mime_type") or "image/png")
        case "audio" if block.get("base64"):
            return AudioPart(data=block["base64"], mime_type=block.get("mime_type") or "audio/wav")
        case "tool_call":
            return ToolUsePart(id=block["id"] or block["name"], name=block["name"], input=block["args"])
    return None
