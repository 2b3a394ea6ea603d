"""Configuration files as people have them, in each dialect, and the servers that they describe."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel, SecretStr

from mcp_adapters.config import HttpServer, OAuth, SseServer, StdioServer, load_servers

if TYPE_CHECKING:
    from pathlib import Path

ENVIRON = {"HOME": "/home/ada", "TOKEN": "tok-en", "REGION": "eu", "EMPTY": ""}


def hidden(*values: str) -> tuple[SecretStr, ...]:
    return tuple(map(SecretStr, values))


FILES: dict[str, tuple[str, dict[str, Any]]] = {
    "Claude Desktop": (
        """{
          "globalShortcut": "",
          "mcpServers": {
            "filesystem": {
              "command": "npx",
              "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/ada/Documents"]
            },
            "weather": {"command": "/opt/My Tools/weather", "env": {"API_KEY": "abc", "PORT": 8080}}
          }
        }""",
        {
            "filesystem": StdioServer(
                command="npx",
                args=["-y", "@modelcontextprotocol/server-filesystem", "/home/ada/Documents"],
            ),
            "weather": StdioServer(command="/opt/My Tools/weather", env={"API_KEY": "abc", "PORT": "8080"}),
        },
    ),
    "Claude Code": (
        """{
          "mcpServers": {
            "api": {
              "type": "http",
              "url": "${API_URL:-https://api.example.com}/mcp",
              "headers": {"Authorization": "Bearer ${TOKEN}"},
              "timeout": 600000,
              "oauth": {"clientId": "${REGION}", "callbackPort": 8080}
            },
            "login": {
              "type": "http", "url": "https://login.example.com/mcp",
              "oauth": {"clientId": "me", "callbackPort": 8080, "scopes": "read write",
                        "authServerMetadataUrl": "https://auth.example.com/.well-known/openid-configuration"}
            },
            "old": {"type": "sse", "url": "https://example.com/events"},
            "tool": {
              "type": "stdio", "command": "uvx", "args": ["tool", "--region=${REGION}"],
              "env": {"LEVEL": "${EMPTY:-info}", "NOTHING": "${EMPTY}"}
            }
          }
        }""",
        {
            "api": HttpServer(
                url="https://api.example.com/mcp",
                headers={"Authorization": "Bearer tok-en"},
                timeout=600.0,
                extra={"oauth": {"clientId": "eu", "callbackPort": 8080}},
            ),
            "login": HttpServer(
                url="https://login.example.com/mcp",
                auth=OAuth(
                    client_id="me",
                    redirect_uri="http://localhost:8080/callback",
                    scopes=("read", "write"),
                ),
                extra={
                    "oauth": {
                        "authServerMetadataUrl": "https://auth.example.com/.well-known/openid-configuration"
                    }
                },
            ),
            "old": SseServer(url="https://example.com/events"),
            "tool": StdioServer(
                command="uvx",
                args=["tool", "--region=eu"],
                env={"LEVEL": "info", "NOTHING": ""},
                secrets=hidden("eu"),
            ),
        },
    ),
    "Cursor": (
        """{
          "mcpServers": {
            "remote": {"url": "https://example.com/mcp", "headers": {"X-Key": "${env:TOKEN}"},
                       "auth": {"CLIENT_ID": "me", "CLIENT_SECRET": "${env:TOKEN}"}},
            "local": {"command": "node", "args": ["${workspaceFolder}/server.js", "${userHome}${/}data"]}
          }
        }""",
        {
            "remote": HttpServer(
                url="https://example.com/mcp",
                headers={"X-Key": "tok-en"},
                auth=OAuth(client_id="me", client_secret=SecretStr("tok-en")),
            ),
            "local": StdioServer(command="node", args=["WORKSPACE/server.js", "/home/ada/data"]),
        },
    ),
    "VS Code": (
        """{
          // Asked for once.
          "inputs": [
            {"type": "promptString", "id": "key", "description": "API key", "password": true},
          ],
          "servers": {
            "perplexity": {
              "type": "stdio",
              "command": "npx",
              "args": ["-y", "server-perplexity", "--url=http://a//b", /* both */ "${input:key}"],
              "env": {"KEY": "${input:key}", "FROM_FILE_TOO": null},
              "envFile": "${workspaceFolder}/.env",
              "dev": {"watch": "src/**"},
            },
            "github": {"type": "http", "url": "https://api.githubcopilot.com/mcp/"},
          },
        }""",
        {
            "perplexity": StdioServer(
                command="npx",
                args=["-y", "server-perplexity", "--url=http://a//b", "<key>"],
                env={"LEVEL": "debug", "KEY": "<key>", "QUOTED": "a # b"},
                extra={"dev": {"watch": "src/**"}},
                secrets=hidden("<key>"),
            ),
            "github": HttpServer(url="https://api.githubcopilot.com/mcp/"),
        },
    ),
    "VS Code settings": (
        """{
          "editor.fontSize": 14,
          "mcp": {
            "inputs": [{"id": "key", "type": "promptString"}],
            "servers": {"a": {"command": "a", "env": {"KEY": "${input:key}"}}}
          }
        }""",
        {"a": StdioServer(command="a", env={"KEY": "<key>"})},
    ),
    "Gemini CLI": (
        """{
          "theme": "GitHub",
          "mcp": {"excluded": ["off"]},
          "mcpServers": {
            "http": {"httpUrl": "https://example.com/sse", "timeout": 5000, "trust": true,
                     "includeTools": ["read"], "excludeTools": ["write"]},
            "sse": {"url": "https://example.com/sse/?a=b", "headers": {"X-Key": "$TOKEN"}},
            "login": {"httpUrl": "https://example.com/mcp",
                      "oauth": {"enabled": true, "clientId": "me", "clientSecret": "${TOKEN}",
                                "redirectUri": "http://localhost:7777/oauth/callback",
                                "tokenUrl": "https://example.com/token", "scopes": ["read", "write"]}},
            "py": {"command": "python", "args": ["-m", "server"], "cwd": "./srv", "env": {"KEY": "$TOKEN"}},
            "off": {"command": "python", "args": ["${NOT_SET}"]}
          }
        }""",
        {
            "http": HttpServer(
                url="https://example.com/sse",
                timeout=5.0,
                tools={"allow": ["read"], "deny": ["write"]},
                extra={"trust": True},
            ),
            "sse": SseServer(url="https://example.com/sse/?a=b", headers={"X-Key": "tok-en"}),
            "login": HttpServer(
                url="https://example.com/mcp",
                auth=OAuth(
                    client_id="me",
                    client_secret="tok-en",
                    redirect_uri="http://localhost:7777/oauth/callback",
                    scopes=("read", "write"),
                ),
                extra={"oauth": {"tokenUrl": "https://example.com/token"}},
            ),
            "py": StdioServer(command="python", args=["-m", "server"], cwd="./srv", env={"KEY": "tok-en"}),
            "off": StdioServer(command="python", args=["${NOT_SET}"], disabled=True),
        },
    ),
    "Cline and Roo Code": (
        """{
          "mcpServers": {
            "a": {"type": "streamableHttp", "url": "https://example.com/mcp", "disabled": false,
                  "autoApprove": ["x"], "timeout": 1800},
            "b": {"command": "b", "disabled": true, "alwaysAllow": [], "disabledTools": ["y"]},
            "c": {"command": "c", "timeout": 60}
          }
        }""",
        {
            "a": HttpServer(url="https://example.com/mcp", timeout=1800, extra={"autoApprove": ["x"]}),
            "b": StdioServer(command="b", disabled=True, tools={"deny": ["y"]}, extra={"alwaysAllow": []}),
            "c": StdioServer(command="c", timeout=60),
        },
    ),
    "Windsurf": (
        '{"mcpServers": {"a": {"serverUrl": "https://example.com/mcp"}}}',
        {"a": HttpServer(url="https://example.com/mcp")},
    ),
    "opencode": (
        """{
          "$schema": "https://opencode.ai/config.json",
          "mcp": {
            "here": {"type": "local", "command": ["bun", "x", "server"], "environment": {"K": "{env:TOKEN}"},
                     "enabled": true, "timeout": 500},
            "there": {"type": "remote", "url": "https://example.com/mcp", "enabled": false,
                      "timeout": {"startup": 10000, "request": 20000}}
          }
        }""",
        {
            "here": StdioServer(command="bun", args=["x", "server"], env={"K": "tok-en"}, timeout=0.5),
            "there": HttpServer(
                url="https://example.com/mcp", disabled=True, timeout=20.0, connect_timeout=10.0
            ),
        },
    ),
    "Copilot CLI": (
        '{"mcpServers": {"a": {"type": "local", "command": "a", "tools": ["*"]}}}',
        {"a": StdioServer(command="a", tools=["*"])},
    ),
    "a bare map with the options of this package": (
        """{
          "a": {"command": ["python", "-m", "a"], "args": ["x"], "protocol": "legacy",
                "connect_timeout": 5, "timeout": 2000},
          "b": {"transport": "streamable-http", "url": "http://localhost:8000/sse", "read_timeout": 9},
          "c": "https://example.com/${REGION}",
          "d": "HTTP://example.com/sse"
        }""",
        {
            "a": StdioServer(
                command="python",
                args=["-m", "a", "x"],
                protocol="legacy",
                connect_timeout=5,
                timeout=2000,
            ),
            "b": HttpServer(url="http://localhost:8000/sse", read_timeout=9),
            "c": HttpServer(url="https://example.com/eu", secrets=hidden("eu")),
            "d": SseServer(url="HTTP://example.com/sse"),
        },
    ),
    "no servers": ('{"mcpServers": {}}', {}),
    "a server named like a container": (
        '{"servers": {"command": "a"}, "mcp": {"url": "https://example.com"}}',
        {"servers": StdioServer(command="a"), "mcp": HttpServer(url="https://example.com")},
    ),
}


@pytest.mark.parametrize("dialect", FILES)
def test_a_file_of_each_dialect_gives_its_servers_in_order(dialect: str, tmp_path: Path) -> None:
    text, expected = FILES[dialect]
    folder = tmp_path / ".vscode"
    folder.mkdir()
    path = folder / "mcp.json"
    path.write_text(text, encoding="utf-8")
    (tmp_path / ".env").write_text(
        '# for tests\nexport LEVEL=debug # loud\nFROM_FILE_TOO=1\n\nQUOTED="a # b"\nKEY=older\n',
        encoding="utf-8",
    )

    servers = load_servers(path, environ=ENVIRON, inputs=lambda name, _: f"<{name}>")

    plain = {key: everything(server) for key, server in servers.items()}
    expected_plain = {key: everything(server) for key, server in expected.items()}
    assert json.loads(json.dumps(plain).replace(str(tmp_path), "WORKSPACE")) == json.loads(
        json.dumps(expected_plain)
    )
    assert list(servers) == list(expected)


def everything(server: Any) -> dict[str, Any]:
    """All fields of a server in plain text, the hidden ones too, and its class."""

    def plain(value: Any) -> Any:
        if isinstance(value, SecretStr):
            return value.get_secret_value()
        if isinstance(value, BaseModel):
            return plain(dict(value))
        if isinstance(value, dict):
            return {key: plain(item) for key, item in value.items()}
        return [plain(item) for item in value] if isinstance(value, list | tuple) else value

    return {"class": type(server).__name__} | {name: plain(value) for name, value in server}


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("sse", SseServer),
        ("http", HttpServer),
        ("streamable_http", HttpServer),
        ("streamable-http", HttpServer),
        ("streamableHttp", HttpServer),
    ],
)
def test_connection_dicts_of_langchain_mcp_adapters_work_unchanged(word: str, expected: type) -> None:
    class Auth:
        pass

    auth = Auth()
    connections = {
        "web": {
            "transport": word,
            "url": "https://example.com/mcp",
            "headers": {"X-Key": "k"},
            "timeout": timedelta(minutes=2),
            "sse_read_timeout": 300.0,
            "auth": auth,
            "session_kwargs": {"a": 1},
        },
        "cmd": {
            "transport": "stdio",
            "command": "python",
            "args": ["a.py"],
            "encoding": "utf-8",
            "env": None,
        },
    }

    assert load_servers(connections, environ={}) == {
        "web": expected(
            url="https://example.com/mcp",
            headers={"X-Key": "k"},
            timeout=120,
            read_timeout=300,
            auth=auth,
            extra={"session_kwargs": {"a": 1}},
        ),
        "cmd": StdioServer(command="python", args=["a.py"], extra={"encoding": "utf-8"}),
    }


def test_objects_that_are_no_configuration_pass_through_as_they_are() -> None:
    class InProcess:
        pass

    given = {"a": InProcess(), "b": StdioServer(command="b"), "c": InProcess, "d": lambda: None}

    servers = load_servers(given, environ={})

    assert list(servers) == list(given)
    assert all(servers[key] is given[key] for key in given)


def test_each_input_is_asked_for_once_and_with_its_definition() -> None:
    asked = []

    def ask(name: str, definition: Any) -> str:
        asked.append((name, definition))
        return "answer"

    definition = {"id": "key", "type": "promptString", "password": True}
    load_servers(
        {
            "inputs": [definition, {"id": "unused"}],
            "servers": {
                "a": {"command": "a", "args": ["${input:key}", "${input:key}"]},
                "b": {"command": "b", "env": {"K": "${input:key}"}},
                "off": {"command": "c", "args": ["${input:unused}"], "disabled": True},
            },
        },
        environ={},
        inputs=ask,
    )

    assert asked == [("key", definition)]


def test_an_error_of_the_users_own_input_function_passes_through() -> None:
    def ask(name: str, definition: Any) -> str:
        raise ValueError("cancelled by the user")

    source = {"inputs": [{"id": "k"}], "servers": {"a": {"command": "a", "args": ["${input:k}"]}}}

    with pytest.raises(ValueError, match=r"^cancelled by the user$"):
        load_servers(source, environ={}, inputs=ask)


def test_a_path_may_begin_with_the_home_directory_of_the_given_environment(tmp_path: Path) -> None:
    (tmp_path / "mcp.json").write_text('{"a": {"command": "a"}}', encoding="utf-8-sig")

    assert load_servers("~/mcp.json", environ={"HOME": str(tmp_path)}) == {"a": StdioServer(command="a")}


def test_what_a_variable_stands_for_is_not_looked_through_again() -> None:
    source = {"a": {"command": "a", "args": ["${A}"]}}

    servers = load_servers(source, environ={"A": "${B} $C {env:D}"})

    assert servers["a"].argv() == ["a", "${B} $C {env:D}"]


def test_gemini_cli_allows_only_the_named_servers() -> None:
    source = {
        "mcp": {"allowed": ["a"]},
        "mcpServers": {"a": {"command": "a"}, "b": {"command": "b", "enabled": True}},
    }

    assert load_servers(source, environ={}) == {
        "a": StdioServer(command="a"),
        "b": StdioServer(command="b", disabled=True),
    }


def test_the_given_mapping_stays_as_it_was() -> None:
    source = {"mcpServers": {"a": {"command": ["a", "${T}"], "env": {"K": None}, "timeout": 5000}}}
    before = json.dumps(source)

    load_servers(source, environ={"T": "t"})

    assert json.dumps(source) == before
