"""Give the tools in stored LlamaIndex conversations their names of today.

In: messages as they were stored, and a map from old to new names, such as `rename_map` makes.
Out: new messages that differ in tool names only. Providers check the names in replayed tool calls
too, so a conversation that was stored under other names would be refused or misread. Nothing here
changes a message that comes in, and only names of tools are touched: never text or arguments.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, ContentBlock, MessageRole, ToolCallBlock

__all__ = ("rename_tools",)

_RESULT_ROLES = frozenset({MessageRole.TOOL, MessageRole.FUNCTION})


def rename_tools(messages: Iterable[ChatMessage], names: Mapping[str, str]) -> list[ChatMessage]:
    """Rewrite the names of tools in messages.

    Args:
        messages: A conversation, in order.
        names: Old name to new name; a name that is not in it stays.

    Returns:
        A new message for each, in the same order. Rewritten are tool call blocks, the calls in
        `additional_kwargs["tool_calls"]` (mappings or client objects, with the name in `function` or
        beside the arguments), and the `name` of a tool result.

    """
    return [_message(message, names) for message in messages]


def _message(message: ChatMessage, names: Mapping[str, str]) -> ChatMessage:
    return message.model_copy(
        update={
            "blocks": [_block(block, names) for block in message.blocks],
            "additional_kwargs": _additional(message, names),
        }
    )


def _block(block: ContentBlock, names: Mapping[str, str]) -> ContentBlock:
    if isinstance(block, ToolCallBlock):
        return block.model_copy(update={"tool_name": names.get(block.tool_name, block.tool_name)})
    return block


def _additional(message: ChatMessage, names: Mapping[str, str]) -> dict[str, Any]:
    kwargs = dict(message.additional_kwargs)
    if isinstance(kwargs.get("tool_calls"), list | tuple):
        kwargs["tool_calls"] = [_call(call, names) for call in kwargs["tool_calls"]]
    if message.role in _RESULT_ROLES:
        kwargs = _named(kwargs, names)
    return kwargs


def _call(call: Any, names: Mapping[str, str]) -> Any:
    """Copy a call with its name rewritten, whether it stands in the call or in its function."""
    renamed = _named(call, names)
    function = _get(call, "function")
    return renamed if function is None else _with(renamed, "function", _named(function, names))


def _named(holder: Any, names: Mapping[str, str]) -> Any:
    name = _get(holder, "name")
    return _with(holder, "name", names[name]) if isinstance(name, str) and name in names else holder


def _get(holder: Any, key: str) -> Any:
    return holder.get(key) if isinstance(holder, Mapping) else getattr(holder, key, None)


def _with(holder: Any, key: str, value: Any) -> Any:
    """Copy a mapping or an object with one entry replaced."""
    if isinstance(holder, Mapping):
        return {**holder, key: value}
    changed = copy.copy(holder)
    setattr(changed, key, value)
    return changed
