"""What the real provider packages send of the tools that they are given.

They run in environments of their own, which `make servers` installs; without them these tests are
skipped. What they send stays on this machine, and is held against the providers' rules.
"""

from __future__ import annotations

import json
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from mcp_adapters.providers import profile, violations
from tests.schema.linters import lint_gemini, lint_portable, lint_strict

from .listings import all_servers

SERVERS = Path(__file__).parents[2] / ".servers"
SCRIPT = Path(__file__).with_name("build_requests.py")
RECIPIENTS = {
    "langchain": {
        "langchain-openai": "openai",
        "langchain-openai-responses": "openai-responses",
        "langchain-anthropic": "anthropic",
        "langchain-google-genai": "gemini",
        "langchain-aws": "bedrock",
        "openai": "openai",
        "openai-strict": "openai",
        "openai-responses": "openai-responses",
        "openai-responses-strict": "openai-responses",
        "anthropic": "anthropic",
        "gemini": "gemini",
    },
    "llamaindex": {
        "llama-index-llms-openai": "openai",
        "llama-index-llms-openai-responses": "openai-responses",
        "llama-index-llms-anthropic": "anthropic",
        "llama-index-llms-google-genai": "gemini",
        "llama-index-llms-bedrock-converse": "bedrock",
    },
}
"""Environment -> recipient -> whose rules hold for it."""
EVERY = [(extra, name) for extra, names in RECIPIENTS.items() for name in names]


@cache
def requests(extra: str) -> dict[str, Any]:
    """What every recipient of an environment sent."""
    python = SERVERS / f"providers-{extra}" / "bin" / "python"
    if not python.is_file():
        pytest.skip(f"{python.relative_to(SERVERS.parent)} is not installed: run `make servers`")
    wanted = {"servers": all_servers(), "recipients": list(RECIPIENTS[extra])}
    done = subprocess.run([python, SCRIPT], input=json.dumps(wanted), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    answers: dict[str, Any] = json.loads(done.stdout)
    return answers


def functions(extra: str, name: str) -> list[dict[str, Any]]:
    """The functions in a request: name, description, schema, and strict where it is said."""
    answer = requests(extra)[name]
    assert "failure" not in answer, answer
    return [_function(entry) for entry in _entries(answer["body"])]


def _entries(body: dict[str, Any]) -> list[dict[str, Any]]:
    if "toolConfig" in body and "tools" in body["toolConfig"]:
        return [entry["toolSpec"] for entry in body["toolConfig"]["tools"]]
    if "contents" in body:
        return [function for entry in body["tools"] for function in entry["functionDeclarations"]]
    return [entry.get("function", entry) for entry in body["tools"]]


def _function(entry: dict[str, Any]) -> dict[str, Any]:
    if "input_schema" in entry:
        schema = entry["input_schema"]
    elif "inputSchema" in entry:
        schema = entry["inputSchema"]["json"]
    else:
        schema = entry.get("parameters")
    return {
        "name": entry["name"],
        "description": entry.get("description", ""),
        "schema": schema,
        "strict": entry.get("strict"),
    }


def problems(function: dict[str, Any], rules: str) -> list[str]:
    """Everything that the provider would refuse in a function."""
    schema = function["schema"]
    said = violations(profile(rules), name=function["name"], description=function["description"])
    if rules == "gemini":
        return [*said, *([] if schema is None else lint_gemini(_plain(schema)))]
    if function["strict"]:
        return [*said, *lint_strict(schema)]
    # LlamaIndex's package for OpenAI closes every root; OpenAI takes that, others were not asked.
    plain = {key: value for key, value in schema.items() if (key, value) != ("additionalProperties", False)}
    return [*said, *lint_portable(plain if rules == "openai" else schema)]


def _plain(node: dict[str, Any]) -> dict[str, Any]:
    """A schema as the client libraries for Gemini write it, in the terms of the rules."""
    done = {_camel(key): value for key, value in node.items()}
    if "type" in done:
        done["type"] = done["type"].lower()
    if "properties" in done:
        done["properties"] = {key: _plain(value) for key, value in done["properties"].items()}
    if "items" in done:
        done["items"] = _plain(done["items"])
    if "anyOf" in done:
        done["anyOf"] = [_plain(branch) for branch in done["anyOf"]]
    return done


def _camel(key: str) -> str:
    """The API takes a field's name in both spellings."""
    return re.sub(r"_([a-z])", lambda match: match[1].upper(), key)


@pytest.mark.parametrize(("extra", "name"), EVERY)
def test_the_request_has_every_tool(extra: str, name: str) -> None:
    sent = [function["name"] for function in functions(extra, name)]

    assert sent == requests(extra)[name]["names"]
    assert len(sent) == sum(map(len, all_servers().values()))


@pytest.mark.parametrize(("extra", "name"), EVERY)
def test_the_provider_would_refuse_nothing_in_the_request(extra: str, name: str) -> None:
    rules = RECIPIENTS[extra][name]
    found = {function["name"]: problems(function, rules) for function in functions(extra, name)}

    assert {tool: said for tool, said in found.items() if said} == {}
