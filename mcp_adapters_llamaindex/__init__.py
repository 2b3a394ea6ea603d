"""MCP as LlamaIndex knows it: tools, resources as documents, prompts as chat messages.

Tools: `toolbox.to("llamaindex")`, `McpTool` and `McpToolSpec`. Resources: `load_documents`. Prompts:
`prompt_messages`.
"""

from __future__ import annotations

from mcp_adapters_llamaindex._framework import LlamaIndexFramework, framework
from mcp_adapters_llamaindex._progress import McpProgressEvent
from mcp_adapters_llamaindex._prompts import aprompt_messages, prompt_messages, to_messages
from mcp_adapters_llamaindex._resources import aload_documents, load_documents, to_documents
from mcp_adapters_llamaindex._tool import McpTool, McpToolMetadata, McpToolSpec

__all__ = (
    "LlamaIndexFramework",
    "McpProgressEvent",
    "McpTool",
    "McpToolMetadata",
    "McpToolSpec",
    "aload_documents",
    "aprompt_messages",
    "framework",
    "load_documents",
    "prompt_messages",
    "to_documents",
    "to_messages",
)
