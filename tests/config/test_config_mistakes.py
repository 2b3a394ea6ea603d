"""Each kind of mistake in a configuration, and the sentence that names it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_adapters.config import ConfigProblem, HttpServer, StdioServer, load_servers
from mcp_adapters.errors import ConfigError

URL = "https://example.com/mcp"

SPLIT = (
    "contains spaces, and a command is never split; write the program and its arguments as a list "
    '(["npx", "-y", "package"]) or put the arguments into \'args\''
)
BARE = (
    "a bare text must be an http:// or https:// address; it is never a command: "
    'for one, write {"command": "program", "args": [...]}'
)
NO_CHOICE = 'must be a list of names and patterns, {"allow": [...], "deny": [...]} or {"name": false}'
ONE_SERVER = 'this is one server without a key; name it: {"name": {...}}'

ENTRIES: list[tuple[Any, str | None, str]] = [
    ({}, None, "needs 'command' or 'url'"),
    ({"type": "stdio"}, None, "needs 'command'"),
    ({"type": "http"}, None, "needs 'url'"),
    ({"command": None}, None, "needs 'command' or 'url'"),
    (
        {"command": "a", "url": URL},
        None,
        "has both 'command' (a process to start) and 'url' (an address to connect to); keep one",
    ),
    ({"url": URL, "httpUrl": URL}, "httpUrl", "says the same as 'url'; keep one"),
    (
        {"type": "stdio", "url": URL},
        None,
        "is said to be a process to start, but has 'url' instead of 'command'",
    ),
    (
        {"type": "sse", "command": "a"},
        None,
        "is said to be an address to connect to, but has 'command' instead of 'url'",
    ),
    (
        {"type": "websocket", "url": URL},
        "type",
        "must be one of 'stdio', 'http', 'sse', 'streamable-http', 'local' and 'remote'",
    ),
    (
        {"transport": 1, "url": URL},
        "transport",
        "must be one of 'stdio', 'http', 'sse', 'streamable-http', 'local' and 'remote'",
    ),
    (
        {"type": "http", "transport": "sse", "url": URL},
        None,
        "'type' and 'transport' contradict each other; keep one",
    ),
    ({"comand": "a"}, "comand", "unknown key 'comand'; did you mean 'command'?"),
    ({"cmd": "a"}, "cmd", "unknown key 'cmd'; did you mean 'command'?"),
    ({"ulr": URL}, "ulr", "unknown key 'ulr'; did you mean 'url'?"),
    ({"uri": URL}, "uri", "unknown key 'uri'; did you mean 'url'?"),
    ({"command": "a", "arg": []}, "arg", "unknown key 'arg'; did you mean 'args'?"),
    ({"command": "a", "Env": {}}, "Env", "unknown key 'Env'; did you mean 'env'?"),
    ({"url": URL, "header": {}}, "header", "unknown key 'header'; did you mean 'headers'?"),
    ({"command": "a", "timeuot": 1}, "timeuot", "unknown key 'timeuot'; did you mean 'timeout'?"),
    ({"command": "a", "env_file": "x"}, "env_file", "unknown key 'env_file'; did you mean 'envFile'?"),
    ({"command": "a", 1: 2}, None, "the key 1 is not a text"),
    (
        {"command": "npx -y package"},
        "command",
        SPLIT,
    ),
    ({"command": " "}, "command", "must not be blank"),
    ({"command": []}, "command", "must not be blank"),
    ({"command": 1}, "command", "input should be a valid string"),
    ({"command": ["a", None]}, "command[1]", "input should be a valid string"),
    ({"command": ["a", "b"], "args": ["c", True]}, "args[1]", "input should be a valid string"),
    ({"command": "a\0"}, "command", "must not contain a NUL character"),
    ({"command": "a", "args": "-x"}, "args", "input should be a list"),
    ({"command": ["a"], "args": "-x"}, "args", "input should be a list"),
    ({"command": "a", "args": ["b\0"]}, "args", "must not contain a NUL character"),
    ({"command": "a", "env": ["A=b"]}, "env", "input should be a valid object"),
    ({"command": "a", "environment": {"A": True}}, "environment.A", "input should be a valid string"),
    ({"command": "a", "env": {"": "x"}}, "env", "'' cannot be the name of an environment variable"),
    ({"command": "a", "env": {"A=B": "x"}}, "env", "'A=B' cannot be the name of an environment variable"),
    (
        {"command": "a", "env": {}, "environment": {}},
        "environment",
        "says the same as 'env'; keep one",
    ),
    ({"command": "a", "cwd": 1}, "cwd", "input should be a valid string"),
    (
        {"command": "a", "headers": {"A": "b"}},
        "headers",
        "has no meaning for a server with a command; remove it",
    ),
    ({"url": URL, "args": ["a"]}, "args", "has no meaning for a server with a URL; remove it"),
    (
        {"url": URL, "environment": {"A": "b"}},
        "environment",
        "has no meaning for a server with a URL; remove it",
    ),
    ({"url": "ftp://example.com"}, "url", "must begin with http:// or https://"),
    ({"httpUrl": 1}, "httpUrl", "input should be a valid string"),
    ({"url": "https://"}, "url", "must be a complete address: a host, a valid port if any, no spaces"),
    ({"url": "https://a b"}, "url", "must be a complete address: a host, a valid port if any, no spaces"),
    ({"url": "https://a:x"}, "url", "must be a complete address: a host, a valid port if any, no spaces"),
    ({"url": "https://[::"}, "url", "must be a complete address: a host, a valid port if any, no spaces"),
    ({"url": URL, "headers": {"A b": "x"}}, "headers", "'A b' cannot be the name of an HTTP header"),
    ({"url": URL, "headers": {"A": "x\r\ny"}}, "headers", "the value of 'A' must be a single line"),
    ({"command": "a", "timeout": 0}, "timeout", "input should be greater than 0"),
    ({"command": "a", "timeout": "30"}, "timeout", "must be a number of seconds"),
    ({"command": "a", "timeout": True}, "timeout", "must be a number of seconds"),
    ({"command": "a", "timeout": {}}, "timeout", "input should be a valid number"),
    ({"command": "a", "timeout": float("nan")}, "timeout", "input should be greater than 0"),
    ({"command": "a", "timeout": float("inf")}, "timeout", "input should be a finite number"),
    ({"url": URL, "sse_read_timeout": -1}, "sse_read_timeout", "input should be greater than 0"),
    ({"command": "a", "disabled": "no"}, "disabled", "must be true or false"),
    ({"command": "a", "enabled": 1}, "enabled", "must be true or false"),
    (
        {"command": "a", "enabled": True, "disabled": True},
        None,
        "'disabled' and 'enabled' contradict each other; keep one",
    ),
    ({"command": "a", "protocol": "2025"}, "protocol", "input should be 'auto', 'legacy' or '2026-07-28'"),
    (
        {"command": "a", "tools": [], "includeTools": []},
        "includeTools",
        "is one choice of tools too many; keep one",
    ),
    ({"command": "a", "tools": 7}, "tools", NO_CHOICE),
    ({"command": "a", "tools": ["a", 3]}, "tools", NO_CHOICE),
    ({"command": "a", "tools": {"alow": ["x"]}}, "tools", NO_CHOICE),
    ({"url": URL, "tools": {"x": "no"}}, "tools", NO_CHOICE),
    ({"command": "a", "includeTools": "read"}, "includeTools", NO_CHOICE),
    ({"command": "a", "disabledTools": [7]}, "disabledTools", NO_CHOICE),
    ({"command": "a", "envFile": 1}, "envFile", "must be the path of a file"),
    (
        {"command": "a", "envFile": ".env"},
        "envFile",
        "must be an absolute path, since the configuration did not come from a file",
    ),
    (
        {"command": "a", "envFile": "/nowhere/.env"},
        "envFile",
        "the file cannot be read: No such file or directory",
    ),
    ({"command": "${NO}"}, "command", "the environment variable 'NO' is not set"),
    ({"command": "a", "args": ["b", "${NO}"]}, "args[1]", "the environment variable 'NO' is not set"),
    ({"command": "a", "env": {"K": "x${NO}"}}, "env.K", "the environment variable 'NO' is not set"),
    ({"command": "a", "env": {"K": "$NO"}}, "env.K", "the environment variable 'NO' is not set"),
    ({"command": "a", "cwd": "${env:NO}"}, "cwd", "the environment variable 'NO' is not set"),
    ({"serverUrl": "https://${NO}"}, "serverUrl", "the environment variable 'NO' is not set"),
    ({"url": URL, "headers": {"A": "{env:NO}"}}, "headers.A", "the environment variable 'NO' is not set"),
    ({"url": URL, "oauth": {"s": ["${NO}"]}}, "oauth.s[0]", "the environment variable 'NO' is not set"),
    ({"command": "a", "args": ["${a b}"]}, "args[0]", "${a b} is not the name of a variable"),
    ({"command": "${command:x}"}, "command", "${command:x} is a form of variable that is not supported"),
    ({"command": "${env:}"}, "command", "${env:} is a form of variable that is not supported"),
    (
        {"command": "${A:-${B}}"},
        "command",
        "a '${' begins no complete variable; a default cannot hold another variable",
    ),
    (
        {"command": "a", "args": ["${A"]},
        "args[0]",
        "a '${' begins no complete variable; a default cannot hold another variable",
    ),
    (
        {"command": "${input:x}"},
        "command",
        "the input 'x' must be asked for; pass a callable as 'inputs'",
    ),
    (
        "npx -y package",
        None,
        BARE,
    ),
    (None, None, "a NoneType is no server; give an object with 'command' or 'url'"),
    (["npx"], None, "a list is no server; give an object with 'command' or 'url'"),
    (7, None, "a int is no server; give an object with 'command' or 'url'"),
    (Path("server.py"), None, "a PosixPath is no server; give an object with 'command' or 'url'"),
]


@pytest.mark.parametrize(("entry", "field", "message"), ENTRIES, ids=lambda value: str(value)[:60])
def test_each_mistake_in_an_entry_is_named_with_its_server_and_field(
    entry: Any, field: str | None, message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load_servers({"good": {"command": "good"}, "bad": entry}, environ={"A": "a"})

    assert caught.value.problems == (ConfigProblem(server="bad", field=field, message=message),)
    assert caught.value.server == "bad"


DOCUMENTS: list[tuple[str, str | None, str | None, str]] = [
    ("[]", None, None, "must be a JSON object"),
    ("", None, None, "not valid JSON: Expecting value (line 1, column 1)"),
    (
        '{"a": 1,\n "b" // no colon\n}',
        None,
        None,
        "not valid JSON: Expecting ':' delimiter (line 3, column 1)",
    ),
    (
        '{"a": {"command": "x"}, "a": {"command": "y"}}',
        None,
        None,
        "the key 'a' is there twice in one object; keep one",
    ),
    ('{"a": NaN}', None, None, "NaN is not valid JSON"),
    ("[" * 200_000, None, None, "the JSON is nested too deep"),
    (
        '{"theme": "dark", "ui": {"size": 1}}',
        None,
        None,
        "has no servers; they are expected under 'mcpServers', 'servers' or 'mcp'",
    ),
    ('{"mcpServers": []}', None, "mcpServers", "must be an object with a server under each key"),
    (
        '{"command": "npx", "args": []}',
        None,
        None,
        ONE_SERVER,
    ),
    ('{"url": "https://a"}', None, None, ONE_SERVER),
    (
        '{"mcpServers": {}, "servers": {}}',
        None,
        None,
        "has servers under 'mcpServers' and under 'servers'; keep one",
    ),
    (
        '{"mcpServers": {}, "mcp": {"servers": {}}}',
        None,
        None,
        "has servers under 'mcpServers' and under 'mcp'; keep one",
    ),
    ('{"servers": {}, "inputs": {}}', None, "inputs", "must be a list of definitions"),
    ('{"servers": {}, "inputs": [{"type": "x"}]}', None, "inputs[0]", "must be an object with an 'id'"),
    (
        '{"servers": {}, "inputs": [{"id": "x"}, {"id": "x"}]}',
        None,
        "inputs[1]",
        "defines 'x' a second time",
    ),
    (
        '{"servers": {"a": {"command": "${input:y}"}}}',
        "a",
        "command",
        "the input 'y' is not defined under 'inputs'",
    ),
    ('{" ": {"command": "a"}}', " ", None, "a server's key must not be empty; tools are named after it"),
    ('{"a": {"command": "a", "envFile": "bad.env"}}', "a", "envFile", "line 2 is not of the form NAME=value"),
]


@pytest.mark.parametrize(("text", "server", "field", "message"), DOCUMENTS, ids=lambda value: str(value)[:40])
def test_each_mistake_in_a_file_is_named_with_the_file(
    text: str, server: str | None, field: str | None, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(text, encoding="utf-8")
    (tmp_path / "bad.env").write_text("A=1\nno assignment\n", encoding="utf-8")

    with pytest.raises(ConfigError) as caught:
        load_servers(path, environ={}, inputs=lambda name, _: name)

    assert caught.value.problems == (
        ConfigProblem(source=str(path), server=server, field=field, message=message),
    )
    assert caught.value.__cause__ is None


SOURCES: list[tuple[Any, str]] = [
    ("/nowhere/mcp.json", "'/nowhere/mcp.json': the file cannot be read: No such file or directory"),
    ("mcp\0.json", "'mcp\\x00.json': is not a usable path"),
    (
        "npx -y server",
        (
            """'npx -y server': the file cannot be read: No such file or directory; a command goes into a mapping: """
            """{"name": {"command": "npx", "args": ["-y", "package"]}}"""
        ),
    ),
    ("/", "'/': the file cannot be read: Is a directory"),
    (URL, 'an address alone is no configuration; name the server: {"name": "https://..."}'),
    (
        ' {"mcpServers": {"a": {"command": "a", "env": {"KEY": "s3cret"}}}}',
        "a text is the path of a file; parse JSON text first and give the result",
    ),
    (7, "a int is no configuration; give a path or a mapping"),
    (
        ["a"],
        "a list is no configuration; give a path or a mapping",
    ),
]


@pytest.mark.parametrize(("source", "message"), SOURCES)
def test_each_unusable_source_is_refused_in_one_sentence(source: Any, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_servers(source, environ={})

    assert str(caught.value) == message


def test_a_relative_path_that_leads_nowhere_is_told_with_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError) as caught:
        load_servers("nowhere.json", environ={})

    assert str(caught.value) == (
        "'nowhere.json': the file cannot be read: No such file or directory; "
        f"the current folder is {str(tmp_path)!r}"
    )


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_bytes(b'{"a": "\xff"}')

    with pytest.raises(ConfigError) as caught:
        load_servers(path, environ={})

    assert str(caught.value) == f"{str(path)!r}: the file is not UTF-8 text"


def test_all_problems_of_all_servers_are_reported_at_once() -> None:
    source = {
        "a": {"comand": "x", "disabled": 1},
        "ok": {"command": "x"},
        "b": {"command": "x", "args": ["${ONE}", "${TWO}"]},
    }

    with pytest.raises(ConfigError) as caught:
        load_servers(source, environ={})

    assert str(caught.value) == (
        "the configuration has 4 problems:\n"
        "- server 'a', field 'comand': unknown key 'comand'; did you mean 'command'?\n"
        "- server 'a', field 'disabled': must be true or false\n"
        "- server 'b', field 'args[0]': the environment variable 'ONE' is not set\n"
        "- server 'b', field 'args[1]': the environment variable 'TWO' is not set"
    )
    assert caught.value.server is None


def test_a_server_made_in_python_reports_all_its_problems() -> None:
    option = "unknown option; did you mean {!r}?"

    with pytest.raises(ConfigError) as caught:
        StdioServer(command="a b", timeout=-1, enviroment={}, comand="a", colour=1)  # type: ignore[call-arg]

    assert caught.value.problems == (
        ConfigProblem(source="StdioServer", field="timeout", message="input should be greater than 0"),
        ConfigProblem(
            source="StdioServer",
            field="command",
            message=SPLIT,
        ),
        ConfigProblem(source="StdioServer", field="enviroment", message=option.format("env")),
        ConfigProblem(source="StdioServer", field="comand", message=option.format("command")),
        ConfigProblem(source="StdioServer", field="colour", message="unknown option"),
    )


def test_keys_of_other_programs_are_kept_and_never_taken_for_a_misspelling() -> None:
    extra = {"trust": True, "icon": "x", "icons": [], "startup": False, "_note": "n", "x-y": 1, "dev": {}}

    servers = load_servers({"a": {"url": URL, **extra}}, environ={})

    assert servers == {"a": HttpServer(url=URL, extra=extra)}


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ({7: {"command": "a"}}, ConfigProblem(message="the server key 7 is not a text")),
        (
            {"inputs": [{"id": "x"}], "servers": {"a": {"command": "${input:x}"}}},
            ConfigProblem(server="a", field="command", message="the answer for the input 'x' is not a text"),
        ),
    ],
)
def test_what_only_python_can_get_wrong_is_named_too(source: Any, problem: ConfigProblem) -> None:
    with pytest.raises(ConfigError) as caught:
        load_servers(source, environ={}, inputs=lambda name, _: None)  # type: ignore[arg-type, return-value]

    assert caught.value.problems == (problem,)


def test_an_environment_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"A=\xff")

    with pytest.raises(ConfigError) as caught:
        load_servers({"a": {"command": "a", "envFile": str(tmp_path / ".env")}}, environ={})

    assert caught.value.problems == (
        ConfigProblem(server="a", field="envFile", message="the file is not UTF-8 text"),
    )


@pytest.mark.parametrize("data", [[], "npx", None])
def test_a_model_of_something_else_than_an_object_is_a_config_error(data: Any) -> None:
    with pytest.raises(ConfigError):
        StdioServer.model_validate(data)


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["npx", URL, "${A}", "${input:x}", "stdio", "sse", "a b", "$A", "https://[", "\ud800"])
)
KEYS = st.text() | st.sampled_from(
    [
        *("mcpServers", "servers", "mcp", "inputs", "command", "args", "env", "envFile", "cwd", "url"),
        *("httpUrl", "headers", "type", "transport", "timeout", "tools", "disabled", "enabled", "auth"),
        *("oauth", "protocol", "includeTools", "disabledTools", "allowed", "excluded", "id", "comand"),
    ]
)
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner), max_leaves=10)


def problems_of(source: Any) -> tuple[ConfigProblem, ...]:
    """Everything that is wrong; empty when there are servers, each of which can be shown."""
    try:
        servers = load_servers(source, environ={"A": "a"}, inputs=lambda name, _: name)
    except ConfigError as error:
        return error.problems or (ConfigProblem(message="an error that names no problem"),)
    return tuple(ConfigProblem(message="not shown") for server in servers.values() if not repr(server))


@settings(deadline=None)
@given(st.dictionaries(KEYS, JSON) | st.fixed_dictionaries({"mcpServers": st.dictionaries(KEYS, JSON)}))
def test_whatever_a_configuration_holds_the_answer_is_servers_or_named_problems(document: Any) -> None:
    messages = {problem.message for problem in problems_of(document)}

    assert not messages & {"", "not shown", "an error that names no problem"}


@settings(deadline=None)
@given(st.text(st.sampled_from('{}[]",:/*\\\n ae1')) | JSON.map(json.dumps))
def test_whatever_a_file_holds_the_answer_is_servers_or_problems_of_the_file(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_text(text, encoding="utf-8")

    assert {problem.source for problem in problems_of(path)} <= {str(path)}


def test_a_mapping_nested_beyond_the_recursion_limit_is_read_or_refused() -> None:
    deep: Any = "end"
    for _ in range(sys.getrecursionlimit() * 2):
        deep = {"deeper": deep}

    servers = load_servers({"a": {"url": URL, "oauth": deep}}, environ={})

    assert servers["a"].extra["oauth"]["deeper"]["deeper"] == deep["deeper"]["deeper"]
