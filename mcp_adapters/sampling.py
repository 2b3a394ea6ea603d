"""Read what a server asks of a model, and write what the model said.

In: the parameters of a `sampling/createMessage` as JSON, and an answer. Out: frozen values, and JSON.
Which model answers, and whether, is decided elsewhere.

Source: MCP 2025-11-25 and 2026-07-28, client/sampling.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, TypeAlias, assert_never

from mcp_adapters.asking import (
    SamplingAnswer,
    SamplingContent,
    SamplingMessage,
    SamplingRefusal,
    SamplingRequest,
    SamplingTool,
    ToolResultPart,
    ToolUsePart,
)
from mcp_adapters.parts import read_parts
from mcp_adapters.spec import AudioPart, ImagePart, TextPart, UnknownPart

__all__ = ("Confirm", "read_answer", "read_sampling", "refused", "stop_reason", "write_sampling")

Confirm: TypeAlias = Callable[[SamplingRequest], Awaitable[bool] | bool]
"""Says whether a model may be asked; the place to show the request to a person."""

_STOP_REASONS = {
    "stop": "endTurn",
    "end_turn": "endTurn",
    "length": "maxTokens",
    "max_tokens": "maxTokens",
    "stop_sequence": "stopSequence",
    "tool_calls": "toolUse",
    "tool_use": "toolUse",
}
"""The providers' words for why a model stopped, and the protocol's."""


async def refused(
    request: SamplingRequest, *, max_rounds: int, confirm: Confirm | None
) -> SamplingRefusal | None:
    """Why a model is not asked; None when it is.

    Args:
        request: What the server wants.
        max_rounds: How many times a server may ask for the model during one call.
        confirm: Asked last; None means that nobody has to be.

    """
    if request.number > max_rounds:
        return SamplingRefusal(reason=f"the model is asked no more than {max_rounds} times during one call")
    if confirm is None:
        return None
    agreed = confirm(request)
    agreed = await agreed if inspect.isawaitable(agreed) else agreed
    return None if agreed is True else SamplingRefusal(reason="the user did not agree")


def stop_reason(said: object, *, uses_tools: bool) -> str | None:
    """The protocol's word for why a model stopped.

    Args:
        said: The provider's word; anything else than a text is none.
        uses_tools: Whether the model wants to use a tool.

    """
    if uses_tools:
        return "toolUse"
    return _STOP_REASONS.get(said.lower(), said) if isinstance(said, str) else None


def read_sampling(
    server: str, params: Mapping[str, Any], *, tool: str | None = None, number: int = 1
) -> SamplingRequest:
    """Read the parameters of a `sampling/createMessage`.

    Args:
        server: The server's key in the configuration.
        params: The parameters as JSON.
        tool: The tool that is being called, when it is known.
        number: How many times the server has asked during this call, this one included.

    Raises:
        ValueError: They are not of the protocol; the message says what is wrong.

    """
    messages, max_tokens = params.get("messages"), params.get("maxTokens")
    if not isinstance(messages, list) or not messages:
        raise ValueError("it has no messages")
    if not isinstance(max_tokens, int) or isinstance(max_tokens, bool) or max_tokens < 1:
        raise ValueError("it does not say how many tokens it wants")
    stops = _optional(params, "stopSequences", list) or ()
    return SamplingRequest(
        server=server,
        tool=tool,
        number=number,
        messages=tuple(map(_message, messages)),
        max_tokens=max_tokens,
        system_prompt=_optional(params, "systemPrompt", str),
        temperature=_optional(params, "temperature", (int, float)),
        stop_sequences=tuple(stop for stop in stops if isinstance(stop, str)),
        tools=tuple(map(_tool, _optional(params, "tools", list) or ())),
        tool_choice=_choice(params.get("toolChoice")),
        model_hints=_hints(params.get("modelPreferences")),
        raw=params,
    )


def _optional(params: Mapping[str, Any], key: str, kind: Any) -> Any:
    value = params.get(key)
    if value is not None and not isinstance(value, kind):
        raise ValueError(f"its {key} is a {type(value).__name__}")
    return value


def _message(message: Any) -> SamplingMessage:
    if not isinstance(message, Mapping) or message.get("role") not in ("user", "assistant"):
        raise ValueError("one of its messages is of neither the user nor the assistant")
    content = message.get("content")
    entries = content if isinstance(content, list) else [content]
    return SamplingMessage(role=message["role"], parts=tuple(map(_content, entries)))


def _content(entry: Any) -> SamplingContent:
    kind = entry.get("type") if isinstance(entry, Mapping) else None
    if kind == "tool_use" and isinstance(entry.get("id"), str) and isinstance(entry.get("name"), str):
        return ToolUsePart(id=entry["id"], name=entry["name"], input=dict(entry.get("input") or {}))
    if kind == "tool_result" and isinstance(entry.get("toolUseId"), str):
        return ToolResultPart(
            tool_use_id=entry["toolUseId"],
            parts=read_parts(entry.get("content")),
            structured=entry.get("structuredContent"),
            is_error=entry.get("isError") is True,
        )
    [part] = read_parts([entry])
    if isinstance(part, TextPart | ImagePart | AudioPart | UnknownPart):
        return part
    return UnknownPart(raw=entry, problem=f"{kind}: not of a message to a model")


def _tool(tool: Any) -> SamplingTool:
    if not isinstance(tool, Mapping) or not isinstance(tool.get("name"), str):
        raise ValueError("one of its tools has no name")
    schema = tool.get("inputSchema")
    return SamplingTool(
        name=tool["name"],
        description=tool.get("description"),
        input_schema=schema if isinstance(schema, Mapping) else {"type": "object"},
    )


def _choice(choice: Any) -> Literal["auto", "required", "none"]:
    mode = choice.get("mode") if isinstance(choice, Mapping) else None
    if mode in (None, "auto"):
        return "auto"
    if mode == "required":
        return "required"
    if mode == "none":
        return "none"
    raise ValueError(f"its tool choice is {str(mode)[:40]!r}")


def _hints(preferences: Any) -> tuple[str, ...]:
    hints = preferences.get("hints") if isinstance(preferences, Mapping) else None
    listed = hints if isinstance(hints, list) else ()
    named = [hint.get("name") for hint in listed if isinstance(hint, Mapping)]
    return tuple(name for name in named if isinstance(name, str))


def read_answer(raw: Mapping[str, Any]) -> SamplingAnswer:
    """Read what a model said from the protocol's form, a `CreateMessageResult` as JSON.

    Args:
        raw: With `content` (one part or a list), `model` and, where known, `stopReason`.

    """
    content = raw.get("content")
    entries = content if isinstance(content, list) else [content]
    return SamplingAnswer(
        content=tuple(map(_content, entries)), model=str(raw.get("model")), stop_reason=raw.get("stopReason")
    )


def write_sampling(request: SamplingRequest, answer: SamplingAnswer) -> dict[str, Any]:
    """An answer as the protocol has it.

    Raises:
        ValueError: It cannot be the answer to this question; the message says why.

    """
    parts = (TextPart(text=answer.content),) if isinstance(answer.content, str) else tuple(answer.content)
    entries = [_written(part) for part in parts]
    if not entries:
        raise ValueError("the answer has no content")
    if not request.tools:
        if any(entry["type"] == "tool_use" for entry in entries):
            raise ValueError("the answer uses a tool, and the server offered none")
        if len(entries) > 1:
            entries = [_joined(entries)]
    content: Any = entries[0] if len(entries) == 1 else entries
    written = {"role": "assistant", "content": content, "model": answer.model}
    return written if answer.stop_reason is None else {**written, "stopReason": answer.stop_reason}


def _joined(entries: list[dict[str, Any]]) -> dict[str, Any]:
    """One entry of several texts: without tools the protocol takes no more than one."""
    if any(entry["type"] != "text" for entry in entries):
        raise ValueError("the answer has several parts that are no texts; the protocol takes one")
    return {"type": "text", "text": "\n".join(entry["text"] for entry in entries)}


def _written(part: SamplingContent) -> dict[str, Any]:
    match part:
        case TextPart():
            return {"type": "text", "text": part.text}
        case ImagePart() | AudioPart():
            return {"type": part.kind, "data": part.data, "mimeType": part.mime_type}
        case ToolUsePart():
            return {"type": "tool_use", "id": part.id, "name": part.name, "input": dict(part.input)}
        case ToolResultPart() | UnknownPart():
            raise ValueError(f"the answer has a part of the kind {part.kind!r}")
    assert_never(part)
