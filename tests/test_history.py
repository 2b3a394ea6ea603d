"""Stored conversations get the names of today, and stay untouched themselves."""

from __future__ import annotations

import copy

import pytest
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    messages_from_dict,
    messages_to_dict,
)
from llama_index.core.base.llms.types import ChatMessage, TextBlock, ToolCallBlock
from pydantic import BaseModel

from mcp_adapters.naming import NamePolicy, assign_names, rename_map
from mcp_adapters_langchain import history as langchain
from mcp_adapters_llamaindex import history as llamaindex

NAMES = {"db.query": "db_query", "a": "b", "b": "c"}


def call(name, call_id="1"):
    return {"name": name, "args": {"name": "a", "x": 1}, "id": call_id, "type": "tool_call"}


def openai_call(name):
    return {"id": "1", "type": "function", "function": {"name": name, "arguments": '{"name": "a"}'}}


def conversation(query, a, b):
    """A conversation under the names given for three tools."""
    return [
        SystemMessage("use db.query"),
        HumanMessage("a", name="a"),
        AIMessage(
            "a",
            name="a",
            tool_calls=[call(query), call(a, "2"), call("other", "3")],
            invalid_tool_calls=[
                {"name": b, "args": "{", "id": "4", "error": "a", "type": "invalid_tool_call"},
                {"name": None, "args": "{", "id": "5", "error": None, "type": "invalid_tool_call"},
            ],
            additional_kwargs={
                "tool_calls": [openai_call(query), openai_call("other"), "odd"],
                "function_call": {"name": a, "arguments": "{}"},
                "refusal": None,
            },
        ),
        ToolMessage("a", name=query, tool_call_id="1", artifact={"name": "a"}),
        ToolMessage("a", tool_call_id="2"),
        FunctionMessage(name=a, content="a"),
        AIMessage(
            [
                "a",
                {"type": "text", "text": "a", "name": "a"},
                {"type": "tool_use", "id": "1", "name": query, "input": {"name": "a"}},
                {"type": "tool_call", "id": "1", "name": a, "args": {"name": "a"}},
                {"type": "function_call", "call_id": "1", "name": b, "arguments": '{"name": "a"}'},
                {"type": "non_standard", "value": {"type": "tool_use", "id": "1", "name": a, "input": {}}},
                {"type": "server_tool_call", "id": "1", "name": "a", "args": {}},
            ]
        ),
    ]


def test_langchain_messages_are_renamed_wherever_a_tool_is_named_and_nowhere_else():
    """Each name is looked up once: a becomes b, and not c by way of b."""
    before = conversation("db.query", "a", "b")
    stored = copy.deepcopy(before)
    assert langchain.rename_tools(before, NAMES) == conversation("db_query", "b", "c")
    assert before == stored


def test_langchain_messages_survive_being_stored_after_the_renaming():
    after = langchain.rename_tools(conversation("db.query", "a", "b"), NAMES)
    assert messages_from_dict(messages_to_dict(after)) == after


def test_a_streamed_langchain_message_is_renamed_with_its_chunks():
    chunk = AIMessageChunk(
        "", tool_call_chunks=[{"name": "a", "args": "{}", "id": "1", "index": 0, "type": "tool_call_chunk"}]
    )
    (after,) = langchain.rename_tools([chunk], NAMES)
    assert type(after) is AIMessageChunk
    assert [part["name"] for part in after.tool_call_chunks] == ["b"]
    assert [part["name"] for part in after.tool_calls] == ["b"]
    assert [part["name"] for part in chunk.tool_calls] == ["a"]


def test_changing_a_renamed_langchain_message_leaves_the_old_one_alone():
    before = conversation("db.query", "a", "b")
    stored = copy.deepcopy(before)
    for message in langchain.rename_tools(before, {}):
        message.additional_kwargs["new"] = True
        if isinstance(message, AIMessage):
            message.tool_calls[:] = []
            message.content = [*message.content, "more"] if isinstance(message.content, list) else "more"
    assert before == stored


class Function(BaseModel):
    """The shape of the function in an OpenAI client's tool call."""

    name: str
    arguments: str


class FunctionCall(BaseModel):
    """The shape of an OpenAI client's tool call."""

    id: str
    function: Function


class FlatCall:
    """A call with its name beside the arguments, as other clients keep it."""

    def __init__(self, name):
        self.name = name
        self.args = {"name": "a"}

    def __eq__(self, other):
        return vars(self) == vars(other)


def chat(query, a, b):
    return [
        ChatMessage(role="user", content="a", additional_kwargs={"name": "a"}),
        ChatMessage(
            role="assistant",
            blocks=[
                TextBlock(text="a"),
                ToolCallBlock(tool_call_id="1", tool_name=query, tool_kwargs={"tool_name": "a"}),
                ToolCallBlock(tool_name="other"),
            ],
            additional_kwargs={
                "tool_calls": [
                    openai_call(a),
                    FunctionCall(id="1", function=Function(name=b, arguments="a")),
                    {"type": "tool_use", "name": a, "input": {"name": "a"}},
                    FlatCall(query),
                    openai_call("other"),
                ]
            },
        ),
        ChatMessage(role="assistant", content="a", additional_kwargs={"tool_calls": None}),
        ChatMessage(role="tool", content="a", additional_kwargs={"tool_call_id": "a", "name": query}),
        ChatMessage(role="tool", content="a", additional_kwargs={"tool_call_id": "1"}),
    ]


def test_llamaindex_messages_are_renamed_wherever_a_tool_is_named_and_nowhere_else():
    """Each name is looked up once: a becomes b, and not c by way of b."""
    before = chat("db.query", "a", "b")
    stored = copy.deepcopy(before)
    assert llamaindex.rename_tools(before, NAMES) == chat("db_query", "b", "c")
    assert before == stored


def test_changing_a_renamed_llamaindex_message_leaves_the_old_one_alone():
    before = chat("db.query", "a", "b")
    stored = copy.deepcopy(before)
    for message in llamaindex.rename_tools(before, {}):
        message.additional_kwargs["new"] = True
        message.blocks.clear()
    assert before == stored


@pytest.mark.parametrize("rename", [langchain.rename_tools, llamaindex.rename_tools])
def test_no_messages_give_no_messages(rename):
    assert rename([], NAMES) == []


def test_a_conversation_follows_its_tools_to_another_policy():
    tools = [("db", "db.query"), ("web", "search")]
    old = assign_names(tools, NamePolicy.for_provider("gemini", prefix="never"))
    new = assign_names(tools, NamePolicy())
    (after,) = langchain.rename_tools([AIMessage("", tool_calls=[call("db.query")])], rename_map(old, new))
    assert [new.find(made["name"]) for made in after.tool_calls] == [("db", "db.query")]
