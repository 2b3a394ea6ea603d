"""Let real provider packages send their requests to a server of this machine, and print what they sent.

In: on standard input `{"servers": {key: [...]}, "recipients": [...]}`: the entries of each server's
`tools/list`, and names from `RECIPIENTS`. Out: on standard output a JSON object from each name to
`{"names": [...], "body": ...}`: the tools' names and what was sent; or to `{"failure": ...}`. Run by the Python of
one of the environments that `scripts/install_servers.py` makes; nothing leaves this machine.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, ClassVar

from mcp_adapters import NamePolicy, SchemaLimits, Tool
from mcp_adapters.catalog import build, read_listing
from mcp_adapters.declarations import Provider, declare
from mcp_adapters.spec import Dialect

ASKED = "What is there?"
Send = Callable[[Sequence[Tool], str], object]


class Recorder(BaseHTTPRequestHandler):
    """Keeps every request's body, and refuses it so that nobody tries again."""

    bodies: ClassVar[list[Any]] = []

    def do_POST(self) -> None:
        self.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        answer = b'{"error": {"message": "recorded", "type": "invalid_request_error"}}'
        self.send_response(400)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: Any) -> None:
        """Standard error is for failures."""


def by_langchain(make: Callable[[str], Any]) -> Send:
    def send(tools: Sequence[Tool], url: str) -> object:
        from mcp_adapters_langchain import McpTool

        return make(url).bind_tools([McpTool.of(tool) for tool in tools]).invoke(ASKED)

    return send


def by_llamaindex(make: Callable[[str], Any]) -> Send:
    def send(tools: Sequence[Tool], url: str) -> object:
        from mcp_adapters_llamaindex import McpTool

        return make(url).chat_with_tools([McpTool(tool) for tool in tools], user_msg=ASKED)

    return send


def declared(provider: Provider, ask: Callable[[list[dict[str, Any]], str], object], **options: Any) -> Send:
    def send(tools: Sequence[Tool], url: str) -> object:
        return ask([declare(tool.spec, provider, **options) for tool in tools], url)

    return send


def langchain_openai(url: str, **options: Any) -> Any:
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(model="gpt-5", api_key="none", base_url=url, max_retries=0, **options)


def langchain_responses(url: str) -> Any:
    return langchain_openai(url, use_responses_api=True)


def langchain_anthropic(url: str) -> Any:
    from langchain_anthropic import ChatAnthropic

    return ChatAnthropic(model="claude-sonnet-4-5", api_key="none", base_url=url, max_retries=0)


def langchain_google(url: str) -> Any:
    from langchain_google_genai import ChatGoogleGenerativeAI

    return ChatGoogleGenerativeAI(model="gemini-2.5-pro", api_key="none", base_url=url, max_retries=1)


def langchain_aws(url: str) -> Any:
    from langchain_aws import ChatBedrockConverse

    return ChatBedrockConverse(
        model="anthropic.claude-sonnet-4-5-20250929-v1:0", endpoint_url=url, region_name="eu-west-1"
    )


def llamaindex_openai(url: str) -> Any:
    from llama_index.llms.openai import OpenAI

    return OpenAI(model="gpt-5", api_key="none", api_base=url, max_retries=0)


def llamaindex_responses(url: str) -> Any:
    from llama_index.llms.openai import OpenAIResponses

    return OpenAIResponses(model="gpt-5", api_key="none", api_base=url, max_retries=0)


def llamaindex_anthropic(url: str) -> Any:
    from llama_index.llms.anthropic import Anthropic

    return Anthropic(model="claude-sonnet-4-5", api_key="none", base_url=url, max_retries=0)


def llamaindex_google(url: str) -> Any:
    from llama_index.llms.google_genai import GoogleGenAI

    return GoogleGenAI(
        model="gemini-2.5-pro",
        api_key="none",
        http_options={"base_url": url},
        context_window=1_000_000,
        max_tokens=1_000,
        max_retries=1,
    )


def llamaindex_bedrock(url: str) -> Any:
    from llama_index.llms.bedrock_converse import BedrockConverse

    return BedrockConverse(
        model="anthropic.claude-sonnet-4-5-20250929-v1:0",
        endpoint_url=url,
        region_name="eu-west-1",
        max_retries=1,
    )


def ask_openai(tools: list[dict[str, Any]], url: str) -> object:
    from openai import OpenAI

    client = OpenAI(api_key="none", base_url=url, max_retries=0)
    return client.chat.completions.create(
        model="gpt-5", messages=[{"role": "user", "content": ASKED}], tools=tools
    )


def ask_responses(tools: list[dict[str, Any]], url: str) -> object:
    from openai import OpenAI

    client = OpenAI(api_key="none", base_url=url, max_retries=0)
    return client.responses.create(model="gpt-5", input=ASKED, tools=tools)


def ask_anthropic(tools: list[dict[str, Any]], url: str) -> object:
    from anthropic import Anthropic

    client = Anthropic(api_key="none", base_url=url, max_retries=0)
    return client.messages.create(
        model="claude-sonnet-4-5",
        max_tokens=100,
        messages=[{"role": "user", "content": ASKED}],
        tools=tools,
    )


def ask_gemini(tools: list[dict[str, Any]], url: str) -> object:
    from google.genai import Client

    client = Client(api_key="none", http_options={"base_url": url})
    return client.models.generate_content(
        model="gemini-2.5-pro", contents=ASKED, config={"tools": [{"function_declarations": tools}]}
    )


RECIPIENTS: dict[str, tuple[Dialect, Send]] = {
    "langchain-openai": ("portable", by_langchain(langchain_openai)),
    "langchain-openai-responses": ("portable", by_langchain(langchain_responses)),
    "langchain-anthropic": ("portable", by_langchain(langchain_anthropic)),
    "langchain-google-genai": ("gemini", by_langchain(langchain_google)),
    "langchain-aws": ("portable", by_langchain(langchain_aws)),
    "llama-index-llms-openai": ("portable", by_llamaindex(llamaindex_openai)),
    "llama-index-llms-openai-responses": ("portable", by_llamaindex(llamaindex_responses)),
    "llama-index-llms-anthropic": ("portable", by_llamaindex(llamaindex_anthropic)),
    "llama-index-llms-google-genai": ("gemini", by_llamaindex(llamaindex_google)),
    "llama-index-llms-bedrock-converse": ("portable", by_llamaindex(llamaindex_bedrock)),
    "openai": ("portable", declared("openai", ask_openai)),
    "openai-strict": ("portable", declared("openai", ask_openai, strict=True)),
    "openai-responses": ("portable", declared("openai-responses", ask_responses)),
    "openai-responses-strict": ("portable", declared("openai-responses", ask_responses, strict=True)),
    "anthropic": ("gemini", declared("anthropic", ask_anthropic)),
    "gemini": ("portable", declared("gemini", ask_gemini)),
}
"""Name -> the dialect of the toolbox, and how its tools are sent. The last six have no framework."""


def offered(servers: Mapping[str, Sequence[Any]], dialect: Dialect) -> list[Tool]:
    """The servers' tools; a call would fail, and nobody makes one."""
    catalog = build(
        [read_listing(key, [{"tools": entries}]) for key, entries in servers.items()],
        filters=None,
        names=NamePolicy(),
        kept={},
        dialect=dialect,
        provider=None,
        limits=SchemaLimits(),
        on_bad_tool="fail",
    )
    return [Tool(spec, caller=None) for spec in catalog.specs]  # type: ignore[arg-type]


def sent(name: str, toolsets: Mapping[Dialect, Sequence[Tool]], url: str) -> dict[str, Any]:
    """What one recipient sent, or why it did not."""
    dialect, send = RECIPIENTS[name]
    tools = toolsets[dialect]
    Recorder.bodies.clear()
    try:
        send(tools, url)
    except Exception as error:
        if not Recorder.bodies:
            return {"failure": f"{type(error).__name__}: {error}"[:2000]}
    if len(Recorder.bodies) != 1:
        return {"failure": f"{len(Recorder.bodies)} requests"}
    return {"names": [tool.name for tool in tools], "body": Recorder.bodies[0]}


def main() -> None:
    warnings.simplefilter("ignore")
    os.environ |= {"AWS_ACCESS_KEY_ID": "none", "AWS_SECRET_ACCESS_KEY": "none"}
    wanted = json.load(sys.stdin)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
    Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    dialects = {RECIPIENTS[name][0] for name in wanted["recipients"]}
    toolsets = {dialect: offered(wanted["servers"], dialect) for dialect in dialects}
    answers = {name: sent(name, toolsets, url) for name in wanted["recipients"]}
    server.shutdown()
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
