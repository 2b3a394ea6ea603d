"""The frameworks' own models answer when servers want the word of one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool
from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM, MockLLM

from mcp_adapters import (
    Handlers,
    ImagePart,
    SamplingAnswer,
    SamplingRefusal,
    SamplingRequest,
    StdioServer,
    TextPart,
    Toolbox,
    ToolUsePart,
)
from mcp_adapters.sampling import read_sampling, stop_reason, write_sampling
from mcp_adapters_langchain import sampling
from mcp_adapters_llamaindex import sampling as llamaindex_sampling

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
ASKING_SERVER = Path(__file__).with_name("asking_server.py")
CONVERSATION: dict[str, Any] = {
    "systemPrompt": "Be brief.",
    "maxTokens": 5_000,
    "temperature": 0.5,
    "stopSequences": ["END"],
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "1 + 2?"},
                {"type": "image", "data": PIXEL, "mimeType": "image/png"},
            ],
        },
        {"role": "assistant", "content": {"type": "tool_use", "id": "u1", "name": "add", "input": {"a": 1}}},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "toolUseId": "u1", "content": [{"type": "text", "text": "3"}]}
            ],
        },
    ],
    "tools": [
        {"name": "add", "description": "Adds.", "inputSchema": {"type": "object", "properties": {"a": {}}}}
    ],
    "toolChoice": {"mode": "required"},
}


def request(**changes: Any) -> SamplingRequest:
    return read_sampling("s", {**CONVERSATION, **changes})


class Model(BaseChatModel):
    """Says one thing, and remembers what it was asked, with which options."""

    says: AIMessage
    seen: list[Any] = []  # noqa: RUF012

    @property
    def _llm_type(self) -> str:
        return "one thing"

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **options: Any
    ) -> ChatResult:
        self.seen.append((messages, {"stop": stop, **options}))
        return ChatResult(generations=[ChatGeneration(message=self.says)])


class ToolModel(Model):
    def bind_tools(self, tools: Any, **options: Any) -> Any:  # type: ignore[override]
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **options)


async def test_a_langchain_model_gets_the_conversation_within_the_limits() -> None:
    model = ToolModel(
        says=AIMessage("3", response_metadata={"model_name": "m1", "finish_reason": "length"}), seen=[]
    )
    answer = await sampling(model, max_tokens=100)(request())

    [(messages, options)] = model.seen
    assert [type(message) for message in messages] == [SystemMessage, HumanMessage, AIMessage, ToolMessage]
    assert messages[1].content == [
        {"type": "text", "text": "1 + 2?"},
        {"type": "image", "base64": PIXEL, "mime_type": "image/png"},
    ]
    assert [(call["name"], call["args"], call["id"]) for call in messages[2].tool_calls] == [
        ("add", {"a": 1}, "u1")
    ]
    assert (messages[3].content, messages[3].tool_call_id) == ("3", "u1")
    assert {key: options[key] for key in ("max_tokens", "temperature", "stop", "tool_choice")} == {
        "max_tokens": 100,
        "temperature": 0.5,
        "stop": ["END"],
        "tool_choice": "any",
    }
    assert options["tools"][0]["function"]["name"] == "add"
    assert answer == SamplingAnswer(content=(TextPart(text="3"),), model="m1", stop_reason="maxTokens")


async def test_a_langchain_model_may_use_a_tool_and_show_an_image() -> None:
    call = {"name": "add", "args": {"a": 2}, "id": "c1", "type": "tool_call"}
    blocks: Any = [
        {"type": "text", "text": "Well"},
        {"type": "image", "base64": PIXEL, "mime_type": "image/png"},
        {"type": "reasoning", "reasoning": "hm"},
    ]
    model = ToolModel(says=AIMessage(content=blocks, tool_calls=[call]), seen=[])
    answer = await sampling(model)(request())

    assert isinstance(answer, SamplingAnswer)
    assert answer.content == (
        TextPart(text="Well"),
        ImagePart(data=PIXEL, mime_type="image/png"),
        ToolUsePart(id="c1", name="add", input={"a": 2}),
    )
    assert (answer.model, answer.stop_reason) == ("ToolModel", "toolUse")
    assert write_sampling(request(), answer)["role"] == "assistant"


def test_whether_a_model_takes_tools_is_told() -> None:
    said = AIMessage("x")

    assert sampling(ToolModel(says=said)).takes_tools
    assert not sampling(Model(says=said)).takes_tools
    assert llamaindex_sampling(MockFunctionCallingLLM()).takes_tools
    assert not llamaindex_sampling(MockLLM()).takes_tools


async def agrees(_: SamplingRequest) -> bool:
    return True


@pytest.mark.parametrize(
    ("limits", "number", "reason"),
    [
        ({"max_rounds": 2}, 3, "no more than 2 times"),
        ({"confirm": lambda _: False}, 1, "did not agree"),
        ({"confirm": lambda _: "yes"}, 1, "did not agree"),
        ({"max_rounds": 2}, 2, None),
        ({"confirm": agrees}, 1, None),
    ],
)
async def test_the_model_is_asked_only_within_the_limits_and_with_consent(
    limits: dict[str, Any], number: int, reason: str | None
) -> None:
    asked = read_sampling("s", CONVERSATION, number=number)
    model = ToolModel(says=AIMessage("x"), seen=[])
    answers = [await sampling(model, **limits)(asked), await llamaindex_sampling(MockLLM(), **limits)(asked)]

    if reason is None:
        assert all(isinstance(answer, SamplingAnswer) for answer in answers)
    else:
        assert all(isinstance(answer, SamplingRefusal) and reason in answer.reason for answer in answers)
    assert len(model.seen) == (reason is None)


@pytest.mark.parametrize(
    ("said", "uses_tools", "word"),
    [
        ("stop", False, "endTurn"),
        ("end_turn", False, "endTurn"),
        ("STOP", False, "endTurn"),
        ("MAX_TOKENS", False, "maxTokens"),
        ("content_filter", False, "content_filter"),
        (None, False, None),
        (3, False, None),
        ("stop", True, "toolUse"),
    ],
)
def test_the_reason_for_the_end_is_said_in_the_words_of_the_protocol(
    said: object, uses_tools: bool, word: str | None
) -> None:
    assert stop_reason(said, uses_tools=uses_tools) == word


async def test_a_llamaindex_model_gets_the_conversation() -> None:
    seen: list[Any] = []

    def reply(messages: Any, **options: Any) -> ChatMessage:
        seen.append((list(messages), options))
        blocks = [
            TextBlock(text="3"),
            ToolCallBlock(tool_call_id="c1", tool_name="add", tool_kwargs={"a": 2}),
        ]
        return ChatMessage(role=MessageRole.ASSISTANT, blocks=blocks)

    answer = await llamaindex_sampling(MockFunctionCallingLLM(response_generator=reply))(request())

    [(messages, _)] = seen
    assert [message.role.value for message in messages] == ["system", "user", "assistant", "tool"]
    assert [block.block_type for block in messages[1].blocks] == ["text", "image"]
    assert messages[3].additional_kwargs == {"tool_call_id": "u1"}
    assert isinstance(answer, SamplingAnswer)
    assert answer.content == (TextPart(text="3"), ToolUsePart(id="c1", name="add", input={"a": 2}))
    assert answer.stop_reason == "toolUse"


@pytest.mark.parametrize("protocol", ["legacy", "2026-07-28"])
@pytest.mark.parametrize("framework", ["langchain", "llamaindex"])
def test_a_server_gets_the_word_of_the_framework_s_model(
    tmp_path: Path, protocol: Any, framework: str
) -> None:
    model = Model(says=AIMessage("Blue.", response_metadata={"model": "m1", "stop_reason": "end_turn"}))
    handler: Any = sampling(model) if framework == "langchain" else llamaindex_sampling(MockLLM())
    server = StdioServer(command=sys.executable, args=[str(ASKING_SERVER)], protocol=protocol)
    with Toolbox({"s": server}, handlers=Handlers(sampling=handler)) as toolbox:
        text = toolbox.call("s_describe", {"topic": "The sky."}).text

    expected = {"langchain": "m1 said: Blue. (endTurn)", "llamaindex": "unknown said: user: The sky."}[
        framework
    ]
    assert text.startswith(expected)
