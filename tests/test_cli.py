"""The command line, as a process: what it prints on a terminal and in a pipe, and how it ends."""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mcp_adapters import ConfigError
from mcp_adapters.cli.calling import read_arguments
from mcp_adapters.cli.sources import servers_of, split_command
from mcp_adapters.cli.texts import line, plain

from .conftest import Wire, tool

NOTES = {"command": sys.executable, "args": ["-m", "mcp_adapters.demo.notes_server", "notes.db"]}
SECRET = "s3cret-value"
OFFERING = """
from mcp.server.mcpserver import MCPServer

server = MCPServer("offering", log_level="CRITICAL")


@server.resource("memo://1", name="memo", mime_type="text/plain", description="A memo.")
def memo() -> str:
    return "buy milk"


@server.resource("memo://picture", name="picture", mime_type="image/png")
def picture() -> bytes:
    return b"\\x89PNG"


@server.resource("memo://note/{n}", name="note", mime_type="text/plain")
def note(n: str) -> str:
    return f"note {n}"


@server.prompt(description="Greet somebody.")
def greet(name: str, mood: str = "kind") -> str:
    return f"Greet {name}."


server.run("stdio")
"""


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str


class Shell:
    """A folder with an mcp.json, and commands that run in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.configure(notes=NOTES)

    def configure(self, **servers: Any) -> None:
        (self.folder / "mcp.json").write_text(json.dumps({"mcpServers": servers}))

    def run(self, *words: str, stdin: str = "") -> Ended:
        done = subprocess.run(
            [sys.executable, "-m", "mcp_adapters", *words],
            cwd=self.folder,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    def run_on_a_terminal(self, *words: str) -> str:
        ours, theirs = pty.openpty()
        with subprocess.Popen(
            [sys.executable, "-m", "mcp_adapters", *words],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "120"},
        ) as process:
            os.close(theirs)
            seen = b""
            try:
                while piece := os.read(ours, 65_536):
                    seen += piece
            except OSError:  # the other side is closed: that is the end
                pass
            process.wait(120)
        os.close(ours)
        return seen.decode()


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def wired(wire: Wire, **script: Any) -> dict[str, Any]:
    server = wire.server(**script)
    return {"command": server.command, "args": list(server.args)}


def test_inspect_shows_servers_and_tools_in_plain_lines(shell: Shell) -> None:
    ended = shell.run("inspect")

    servers, tools = (part.splitlines() for part in ended.out.strip().split("\n\n"))
    assert ended.code == 0
    assert servers[1].split("\t") == ["notes", "ready", "2026-07-28", "notes", "8"]
    assert tools[0].split("\t") == ["NAME", "ORIGINAL", "ARGUMENTS", "WHAT IT DOES"]
    assert tools[1].split("\t")[:3] == ["notes_add_note", "", "[tag] text"]
    assert len(tools) == 9
    assert ended.err == ""


def test_inspect_tells_what_was_left_out_and_which_server_failed(shell: Shell, wire: Wire) -> None:
    bad = {"name": "bad", "inputSchema": {"type": "string"}}
    gone = {"command": "no-such-program", "env": {"TOKEN": SECRET}}
    shell.configure(wire=wired(wire, tools=[tool("good"), bad]), gone=gone)
    ended = shell.run("inspect", "--json")
    told = json.loads(ended.out)

    assert ended.code == 1
    assert [found["name"] for found in told["tools"]] == ["wire_good"]
    assert [(found["server"], found["tool"]) for found in told["skipped"]] == [("wire", "bad")]
    assert {server["key"]: server["state"] for server in told["servers"]} == {
        "wire": "ready",
        "gone": "failed",
    }
    assert sorted(told) == ["servers", "skipped", "tools", "warnings"]
    assert SECRET not in ended.out + ended.err


@pytest.mark.parametrize(
    "words",
    [
        ("inspect", "mcp.json"),
        ("inspect", "--tool", "add_*"),
        ("inspect", "--", sys.executable, "-m", "mcp_adapters.demo.notes_server", "n.db"),
    ],
    ids=["file", "filter", "command"],
)
def test_servers_come_from_a_file_or_a_command(shell: Shell, words: tuple[str, ...]) -> None:
    ended = shell.run(*words)

    assert ended.code == 0
    assert "_add_note\t" in ended.out
    assert ("_list_notes\t" in ended.out) is ("--tool" not in words)


def test_inspect_is_a_table_on_a_terminal(shell: Shell) -> None:
    seen = shell.run_on_a_terminal("inspect")

    lines = re.sub(r"\x1b\[[?0-9;]*[A-Za-z]|\r", "", seen).splitlines()
    assert any(re.match(r"SERVER +STATE +PROTOCOL +SOFTWARE +TOOLS", text) for text in lines)
    assert "\x1b[1m" in seen
    assert "\t" not in seen
    assert "starting" in seen


def test_a_column_without_a_word_is_left_out_on_a_terminal(shell: Shell, wire: Wire) -> None:
    assert "ORIGINAL" not in shell.run_on_a_terminal("inspect")
    shell.configure(wire=wired(wire, tools=[tool("a b")]))
    assert "ORIGINAL" in shell.run_on_a_terminal("inspect")


@pytest.mark.parametrize("name", ["stats", "notes_stats", "mcp_adapters_demo_notes_server_stats"])
def test_a_tool_is_called_by_its_servers_name_for_it_too(shell: Shell, name: str) -> None:
    command = ("--", *NOTES["command"].split("\0"), *NOTES["args"])
    words = command if name.startswith("mcp") or name == "stats" else ()

    assert shell.run("call", name, *words).code == 0


def test_a_servers_name_that_two_servers_have_is_no_name_of_a_tool(shell: Shell) -> None:
    shell.configure(one=NOTES, two=NOTES)
    ended = shell.run("call", "stats")

    assert ended.code == 1
    assert "one_stats" in ended.err


def test_call_gives_the_text_and_takes_words_for_values(shell: Shell) -> None:
    shell.run("call", "notes_add_note", "--arg", "text=Buy milk", "--arg", "tag=shopping")
    ended = shell.run("call", "notes_list_notes", "--arg", "limit=1")

    assert ended.code == 0
    assert json.loads(ended.out)["notes"][0]["text"] == "Buy milk"


@pytest.mark.parametrize(
    ("words", "stdin"), [(("--json", '{"text": "x"}'), ""), (("--json", "-"), '{"text": "x"}')]
)
def test_call_takes_json(shell: Shell, words: tuple[str, ...], stdin: str) -> None:
    ended = shell.run("call", "notes_add_note", *words, "--raw", stdin=stdin)

    assert ended.code == 0
    assert json.loads(ended.out)["structuredContent"]["text"] == "x"


def test_call_saves_media(shell: Shell, wire: Wire) -> None:
    shell.configure(wire=wired(wire, tools=[tool("picture")]))
    ended = shell.run("call", "wire_picture", "--save", "out")

    assert ended.code == 0
    assert [path.name for path in (shell.folder / "out").iterdir()] == ["1.png"]
    assert (shell.folder / "out" / "1.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("call", "notes_get_note", "--arg", "note_id=99"), 1, ""),
        (("call", "notes_get_note"), 1, "/note_id: it is required and missing"),
        (("call", "notes_ad_note"), 1, "did you mean 'notes_add_note'"),
        (("call", "notes_add_note", "--arg", "text"), 2, "not of the form name=value"),
        (("call", "notes_add_note", "--json", "{"), 2, "the arguments are not JSON"),
        (("call", "notes_add_note", "--json", "[]"), 2, "give an object"),
        (("inspect", "missing.json"), 2, "cannot be read"),
        (("inspect", "mcp.json", "--", "npx"), 2, "keep one"),
        (("check", "--provider", "nobody"), 2, "no provider profile is called 'nobody'"),
        (("dance",), 2, "No such command"),
        (("inspect", "--colour"), 2, "No such option"),
    ],
)
def test_what_goes_wrong_is_one_message_and_an_exit_code(
    shell: Shell, words: tuple[str, ...], code: int, said: str
) -> None:
    ended = shell.run(*words)

    assert ended.code == code
    assert said in " ".join(ended.err.replace("│", " ").split())
    assert "Traceback" not in ended.err


def test_debug_shows_where_it_went_wrong(shell: Shell) -> None:
    ended = shell.run("inspect", "missing.json", "--debug")

    assert "Traceback" in ended.err


def test_without_a_source_there_must_be_a_file(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    (tmp_path / "mcp.json").unlink()

    assert shell.run("inspect").code == 2


def test_check_is_silent_about_what_is_fine_and_names_what_is_not(shell: Shell, wire: Wire) -> None:
    fine = shell.run("check", "--provider", "openai,gemini,anthropic")
    shell.configure(wire=wired(wire, tools=[tool("files/read")]))
    exposed = shell.run("check", "--provider", "openai")
    original = shell.run("check", "--provider", "openai,gemini", "--original", "--json")

    assert (fine.code, exposed.code, original.code) == (0, 0, 1)
    assert fine.out.startswith("8 tools are fine for OpenAI Chat Completions, Gemini API")
    assert [(found["provider"], found["tool"]) for found in json.loads(original.out)] == [
        ("openai", "files/read"),
        ("gemini", "files/read"),
    ]


def test_doctor_goes_through_the_steps_of_each_server(shell: Shell, wire: Wire) -> None:
    dying = {**wired(wire, at_start="exit"), "env": {"TOKEN": SECRET}}
    shell.configure(notes=NOTES, gone={"command": "npxx"}, dying=dying)
    ended = shell.run("doctor", "--timeout", "30")

    steps = [text.partition(" (")[0] for text in ended.out.splitlines() if text[:4] in ("ok  ", "FAIL")]
    assert ended.code == 1
    assert steps == [
        *(f"ok   notes: {name}" for name in ("command", "version", "environment", "folder")),
        *(f"ok   notes: {name}" for name in ("handshake 2026-07-28", "handshake before 2026", "tools")),
        "FAIL gone: command",
        *(f"ok   dying: {name}" for name in ("command", "version", "environment", "folder")),
        *(f"FAIL dying: {name}" for name in ("handshake 2026-07-28", "handshake before 2026", "tools")),
    ]
    assert "the wire server was told to give up" in ended.out
    assert "TOKEN" in ended.out
    assert SECRET not in ended.out + ended.err


def test_doctor_finds_out_that_nobody_listens(shell: Shell) -> None:
    ended = shell.run("doctor", "http://127.0.0.1:9/mcp")

    assert ended.code == 1
    assert "nobody answers on port 9 of 127.0.0.1" in ended.out


def test_demo_shows_tools_and_calls(shell: Shell) -> None:
    ended = shell.run("demo")

    assert ended.code == 0
    assert "Buy milk" in ended.out
    assert 'toolbox.to("langchain"): 8 x BaseTool' in ended.out


def test_a_reader_that_leaves_early_is_no_error(shell: Shell) -> None:
    command = f"{sys.executable} -m mcp_adapters inspect | head -1"
    ended = subprocess.run(
        ["sh", "-c", command], cwd=shell.folder, capture_output=True, text=True, timeout=120, check=False
    )

    assert ended.stdout.startswith("SERVER")
    assert "Traceback" not in ended.stderr
    assert "BrokenPipe" not in ended.stderr


EVIL = "x\x1b[2J\x1b]0;owned\x07[bold red]y[/]\u202ez\x9b31m"


def test_words_of_a_server_cannot_command_the_terminal(shell: Shell, wire: Wire) -> None:
    evil = {**tool("echo"), "description": EVIL}
    shell.configure(
        wire=wired(
            wire, tools=[evil], answers={"echo": {"result": {"content": [{"type": "text", "text": EVIL}]}}}
        )
    )
    seen = [shell.run("inspect").out, shell.run("call", "wire_echo").out, shell.run_on_a_terminal("inspect")]

    for text in seen:
        assert "[bold red]y[/]" in text
        assert not {"\x1b[2J", "\x1b]0;", "\x07", "\u202e", "\x9b"} & {*text, *_sequences(text)}


def _sequences(text: str) -> set[str]:
    return {mark for mark in ("\x1b[2J", "\x1b]0;") if mark in text}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("two\nlines\ttab", "two\nlines\ttab"),
        ("\x1b[31mred", "[31mred"),
        ("a\u202eb\u2066c\u200bd\ufeff", "abcd"),
        ("\x00\x07\x7f\x85\x9b", ""),
        ("größe 的 👍", "größe 的 👍"),
    ],
)
def test_control_characters_are_taken_out_and_nothing_else(text: str, shown: str) -> None:
    assert plain(text) == shown


def test_a_line_is_the_first_that_says_something_and_not_too_long() -> None:
    assert line("\n  hello\nworld") == "hello"
    assert line("x" * 300, limit=10) == "x" * 9 + "…"


@pytest.mark.parametrize(
    ("pairs", "text", "arguments"),
    [
        ([], None, {}),
        (["a=1", "b=x=y", "c="], None, {"a": "1", "b": "x=y", "c": ""}),
        (["a=1", "a=2"], None, {"a": ["1", "2"]}),
        (["a=1"], '{"a": 2, "b": null}', {"a": "1", "b": None}),
    ],
)
def test_arguments_come_from_words_and_json(
    pairs: list[str], text: str | None, arguments: dict[str, Any]
) -> None:
    assert read_arguments(pairs, text) == arguments


@pytest.mark.parametrize(
    ("source", "command", "key"),
    [
        (None, ["npx", "-y", "@modelcontextprotocol/server-everything"], "server-everything"),
        (None, ["uvx", "mcp-server-time", "--local-timezone", "UTC"], "mcp-server-time"),
        (None, ["/opt/my tools/weather"], "weather"),
        (None, ["node", "server-files/dist/index.js"], "server-files"),
        (None, ["python"], "python"),
        ("https://search.example/mcp", [], "search.example"),
        ("http://127.0.0.1:9000/sse", [], "127.0.0.1"),
    ],
)
def test_a_server_without_a_key_is_called_after_its_program_or_host(
    source: str | None, command: list[str], key: str
) -> None:
    servers = servers_of(source, command)

    assert not isinstance(servers, str)
    assert list(servers) == [key]


def test_what_stands_behind_two_dashes_is_the_command() -> None:
    assert split_command(["inspect", "--json", "--", "npx", "--", "x"]) == (
        ["inspect", "--json"],
        ["npx", "--", "x"],
    )
    assert split_command(["inspect"]) == (["inspect"], [])
    with pytest.raises(ConfigError):
        servers_of("mcp.json", ["npx"])


PAGE = Path(__file__).parents[1] / "docs" / "command-line.md"


def documented() -> list[str]:
    blocks = re.findall(r"^```shell\n(.*?)^```$", PAGE.read_text(), flags=re.MULTILINE | re.DOTALL)
    return [text for block in blocks for text in block.splitlines()]


@pytest.mark.parametrize("command", documented())
def test_every_documented_command_runs(shell: Shell, command: str) -> None:
    shell.run("call", "notes_add_note", "--arg", "text=something to draw", "--arg", "tag=art")
    program, *words = shlex.split(command)
    ended = shell.run(*(sys.executable if word == "python" else word for word in words))

    assert program == "mcp-adapters"
    assert ended.code == 0, ended.err
    assert ended.out


def test_resources_are_listed_read_and_saved(shell: Shell) -> None:
    server = shell.folder / "offering.py"
    server.write_text(OFFERING)
    command = ("--", sys.executable, str(server))
    listed = shell.run("resources", *command)
    told = json.loads(shell.run("resources", "--json", *command).out)
    read = shell.run("resources", "memo://1", "--save", "out", *command)
    filled = shell.run("resources", "memo://note/7", *command)
    picture = shell.run("resources", "memo://picture", "--save", "out2", *command)

    rows = [row.split("\t") for row in listed.out.splitlines()]
    assert rows[0] == ["SERVER", "ADDRESS", "NAME", "TYPE", "WHAT IT IS"]
    assert ["memo://1", "memo", "text/plain", "A memo."] in [row[1:] for row in rows]
    assert ["memo://note/{n}", "note"] in [row[1:3] for row in rows]
    assert {one["uri"] for one in told["resources"]} == {"memo://1", "memo://picture"}
    assert [one["uriTemplate"] for one in told["templates"]] == ["memo://note/{n}"]
    assert (read.code, read.out) == (0, "buy milk\n")
    assert (shell.folder / "out" / "0.txt").read_text() == "buy milk"
    assert filled.out == "note 7\n"
    assert "image/png" in picture.out
    assert (shell.folder / "out2" / "0.png").read_bytes() == b"\x89PNG"


def test_prompts_are_listed_and_shown(shell: Shell) -> None:
    server = shell.folder / "offering.py"
    server.write_text(OFFERING)
    command = ("--", sys.executable, str(server))
    listed = shell.run("prompts", *command)
    shown = shell.run("prompts", "greet", "--arg", "name=Ann", *command)
    told = json.loads(shell.run("prompts", "greet", "--arg", "name=Ann", "--json", *command).out)

    assert [row.split("\t")[1:] for row in listed.out.splitlines()] == [
        ["NAME", "ARGUMENTS", "WHAT IT IS FOR"],
        ["greet", "name [mood]", "Greet somebody."],
    ]
    assert shown.out == "user:\nGreet Ann.\n"
    assert told["messages"][0]["content"]["text"] == "Greet Ann."


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("resources",), 0, "no server offers resources"),
        (("prompts",), 0, "no server offers prompts"),
        (("resources", "memo://nowhere"), 1, "memo://nowhere"),
        (("prompts", "nothing"), 1, "nothing"),
        (("prompts", "greet", "--arg", "name"), 2, "name=value"),
    ],
)
def test_what_is_not_there_is_said(shell: Shell, words: tuple[str, ...], code: int, told: str) -> None:
    ended = shell.run(*words)

    assert ended.code == code
    assert told in ended.out + ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("command", ["resources", "prompts"])
def test_a_server_that_cannot_be_asked_is_an_error_beside_the_others(shell: Shell, command: str) -> None:
    shell.configure(notes=NOTES, gone={"command": "no-such-program"})
    ended = shell.run(command)

    assert ended.code == 1
    assert "no-such-program" in ended.err


@pytest.mark.parametrize(
    ("typed", "proposed"),
    [("res", ["resources"]), ("inspect --dia", ["--dialect"]), ("call --sa", ["--save"]), ("nothing", [])],
)
def test_the_shell_completes_commands_and_options(
    monkeypatch: pytest.MonkeyPatch, shell: Shell, typed: str, proposed: list[str]
) -> None:
    monkeypatch.setenv("_MCP_ADAPTERS_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", f"mcp-adapters {typed}")
    monkeypatch.setenv("COMP_CWORD", str(len(typed.split())))

    assert shell.run().out.split() == proposed
