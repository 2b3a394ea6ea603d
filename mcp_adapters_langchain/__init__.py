"""MCP as LangChain knows it: tools, resources as blobs and documents, prompts as messages.

Tools: `toolbox.to("langchain")`, `McpTool` and `McpToolkit`. Resources: `load_documents`, `load_blobs` and
`McpResourceLoader`. Prompts: `prompt_messages`.
"""

from __future__ import annotations

from mcp_adapters_langchain._approval import interrupt_first, interrupt_on
from mcp_adapters_langchain._framework import LangChainFramework, framework
from mcp_adapters_langchain._prompts import aprompt_messages, prompt_messages, to_messages
from mcp_adapters_langchain._resources import (
    McpResourceLoader,
    aload_blobs,
    aload_documents,
    load_blobs,
    load_documents,
    to_blobs,
    to_documents,
)
from mcp_adapters_langchain._sampling import ModelSampling, sampling
from mcp_adapters_langchain._tool import McpTool, McpToolkit

__all__ = (
    "LangChainFramework",
    "McpResourceLoader",
    "McpTool",
    "McpToolkit",
    "ModelSampling",
    "aload_blobs",
    "aload_documents",
    "aprompt_messages",
    "framework",
    "interrupt_first",
    "interrupt_on",
    "load_blobs",
    "load_documents",
    "prompt_messages",
    "sampling",
    "to_blobs",
    "to_documents",
    "to_messages",
)
