"""MCP as LlamaIndex knows it: tools, resources as documents, prompts as chat messages.

Tools: `toolbox.to("llamaindex")`, `McpTool` and `McpToolSpec`. Resources: `load_documents`. Prompts:
`prompt_messages`.
"""

from __future__ import annotations

from mcp_adapters_llamaindex._framework import LlamaIndexFramework, framework
from mcp_adapters_llamaindex._progress import McpProgressEvent
from mcp_adapters_llamaindex._prompts import aprompt_messages, prompt_messages, to_messages
from mcp_adapters_llamaindex._resources import aload_documents, load_documents, to_documents
from mcp_adapters_llamaindex._sampling import ModelSampling, sampling
from mcp_adapters_llamaindex._tool import McpTool, McpToolMetadata, McpToolSpec
from mcp_adapters_llamaindex._waiting import McpAnswerEvent, McpQuestionEvent

__all__ = (
    "LlamaIndexFramework",
    "McpAnswerEvent",
    "McpProgressEvent",
    "McpQuestionEvent",
    "McpTool",
    "McpToolMetadata",
    "McpToolSpec",
    "ModelSampling",
    "aload_documents",
    "aprompt_messages",
    "framework",
    "load_documents",
    "prompt_messages",
    "sampling",
    "to_documents",
    "to_messages",
)
