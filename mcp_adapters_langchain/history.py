"""Give the tools in stored LangChain conversations their names of today.

In: messages as they were stored, and a map from old to new names, such as `rename_map` makes.
Out: new messages that differ in tool names only. Providers check the names in replayed tool calls
too, so a conversation that was stored under other names would be refused or misread. Nothing here
changes a message that comes in, and only names of tools are touched: never text, arguments, or the
names of people.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    FunctionMessage,
    ToolMessage,
)

__all__ = ("rename_tools",)

_CALL_BLOCKS = frozenset({"tool_use", "tool_call", "tool_call_chunk", "invalid_tool_call", "function_call"})


def rename_tools(messages: Iterable[BaseMessage], names: Mapping[str, str]) -> list[BaseMessage]:
    """Rewrite the names of tools in messages.

    Args:
        messages: A conversation, in order.
        names: Old name to new name; a name that is not in it stays.

    Returns:
        A new message for each, in the same order and of the same class. Rewritten are tool calls,
        valid or not, in every place where LangChain and the providers keep them, and the names of
        tool results.

    """
    return [_message(message, names) for message in messages]


def _message(message: BaseMessage, names: Mapping[str, str]) -> BaseMessage:
    if isinstance(message, AIMessage):
        return message.model_copy(update=_calls_of(message, names))
    # Nothing in it is a call; still, no container may be shared with the old message.
    update: dict[str, Any] = {
        "additional_kwargs": dict(message.additional_kwargs),
        "content": _content(message.content, {}),
    }
    if isinstance(message, ToolMessage | FunctionMessage) and message.name is not None:
        update["name"] = names.get(message.name, message.name)
    return message.model_copy(update=update)


def _calls_of(message: AIMessage, names: Mapping[str, str]) -> dict[str, Any]:
    update: dict[str, Any] = {
        "tool_calls": [_named(call, names) for call in message.tool_calls],
        "invalid_tool_calls": [_named(call, names) for call in message.invalid_tool_calls],
        "additional_kwargs": _additional(message.additional_kwargs, names),
        "content": _content(message.content, names),
    }
    if isinstance(message, AIMessageChunk):
        update["tool_call_chunks"] = [_named(call, names) for call in message.tool_call_chunks]
    return update


def _named(call: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Copy a mapping with its `name` rewritten, where it has one."""
    name = call.get("name")
    return dict(call) | ({"name": names[name]} if isinstance(name, str) and name in names else {})


def _additional(kwargs: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Rewrite calls in the providers' own form: OpenAI's list, and the single call before it."""
    changed = dict(kwargs)
    if isinstance(kwargs.get("tool_calls"), list):
        changed["tool_calls"] = [_nested(call, names) for call in kwargs["tool_calls"]]
    if isinstance(kwargs.get("function_call"), Mapping):
        changed["function_call"] = _named(kwargs["function_call"], names)
    return changed


def _nested(call: Any, names: Mapping[str, str]) -> Any:
    if not isinstance(call, Mapping):
        return call
    function = call.get("function")
    return _named(call, names) | (
        {"function": _named(function, names)} if isinstance(function, Mapping) else {}
    )


def _content(content: str | list[str | dict[str, Any]], names: Mapping[str, str]) -> str | list[Any]:
    if isinstance(content, str):
        return content
    return [_block(block, names) for block in content]


def _block(block: str | dict[str, Any], names: Mapping[str, str]) -> str | dict[str, Any]:
    if isinstance(block, str):
        return block
    wrapped = block.get("value")
    if block.get("type") == "non_standard" and isinstance(wrapped, dict):
        return block | {"value": _block(wrapped, names)}
    return _named(block, names) if block.get("type") in _CALL_BLOCKS else dict(block)
