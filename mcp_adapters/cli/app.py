"""The words of the command line: which commands there are, and what each of them takes.

In: arguments. Out: an exit code. What a command does is in a module of its own.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from mcp_adapters import ConfigError, McpAdaptersError, Toolbox, ToolError, ToolFilter
from mcp_adapters.config import load_servers
from mcp_adapters.lockfile import LOCK_NAME

from . import calling, checking, demo, doctor, inspecting, locking, offering
from .opening import opened
from .screen import Screen
from .sources import servers_of, split_command

__all__ = ("app", "run")


def _end(code: int | None, **_: object) -> None:
    """Make what a command returned the exit code."""
    raise typer.Exit(code or 0)


app = typer.Typer(
    name="mcp-adapters",
    help="The tools of MCP servers: look at them, call them, check them. "
    "SOURCE is a configuration file or an address; the command of a server goes behind '--'.",
    no_args_is_help=True,
    result_callback=_end,
    pretty_exceptions_enable=False,
)

Source = Annotated[
    str | None, typer.Argument(help="A configuration file or an http(s) address.", show_default=False)
]
Config = Annotated[
    str | None,
    typer.Option("--config", "-c", help="A configuration file or an http(s) address.", show_default=False),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Timeout = Annotated[float, typer.Option(help="Seconds for one server to start and to answer.", min=0.1)]
Allow = Annotated[
    list[str], typer.Option("--tool", help="Only tools whose own names fit; * stands for anything.")
]
Folder = Annotated[Path | None, typer.Option("--save", help="A folder for images, sounds and files.")]
Server = Annotated[str | None, typer.Option("--server", help="Whose, where several have it.")]


def run(arguments: Sequence[str]) -> int:
    """Run one command.

    Args:
        arguments: The words after the program's name.

    Returns:
        0 when all is well, 1 when something was found or failed, 2 for wrong use.

    """
    words, command = split_command(arguments)
    debug = "--debug" in words
    words = [word for word in words if word != "--debug"]
    try:
        app(words, prog_name="mcp-adapters", obj=command)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except McpAdaptersError as error:
        if debug:
            raise
        Screen().note(f"Error: {error}", style="red")
        return 2 if isinstance(error, ConfigError) else 1
    return 0


@app.command()
def inspect(
    context: typer.Context,
    source: Source = None,
    as_json: Json = False,
    dialect: Annotated[str, typer.Option(help="portable, openai-strict, gemini or raw.")] = "portable",
    tool: Allow = [],  # noqa: B006 - typer copies it
    timeout: Timeout = 60.0,
) -> int:
    """Show servers and tools: names, arguments, what was repaired, left out or lost."""
    screen = Screen()
    with opened(
        servers_of(source, context.obj), screen, dialect=dialect, tools=_only(tool), connect_timeout=timeout
    ) as found:
        told = inspecting.report(found.toolbox, found.warnings)
    screen.json(told) if as_json else inspecting.show(told, screen)
    return int(any(server["state"] == "failed" for server in told["servers"]))


@app.command()
def call(
    context: typer.Context,
    tool: Annotated[str, typer.Argument(help="A tool, by the name that models see, or by its server's.")],
    config: Config = None,
    arg: Annotated[list[str], typer.Option("--arg", help="name=value; again for more.")] = [],  # noqa: B006 - typer copies it
    arguments: Annotated[
        str | None, typer.Option("--json", help="Arguments as a JSON object; - reads it.")
    ] = None,
    raw: Annotated[bool, typer.Option("--raw", help="Print all of the result as JSON.")] = False,
    folder: Folder = None,
    timeout: Timeout = 60.0,
) -> int:
    """Call one tool. The exit code is 1 when the tool says that it failed."""
    screen = Screen()
    given = calling.read_arguments(arg, arguments)
    with opened(servers_of(config, context.obj), screen, connect_timeout=timeout) as found:
        for warning in found.warnings:
            screen.note(f"Note: {warning}")
        try:
            name = calling.find(tool, found.toolbox)
            result = found.toolbox.call(name, given, on_progress=lambda news: _progress(news, screen))
        except ToolError as error:
            screen.note(f"Error: {error}", style="red")
            return 1
    calling.show(result, screen, raw=raw)
    for path in [] if folder is None else calling.save(result, folder):
        screen.note(f"saved {path}")
    return int(result.is_error)


@app.command()
def resources(
    context: typer.Context,
    uri: Annotated[str | None, typer.Argument(help="What to read; without it, what there is.")] = None,
    config: Config = None,
    server: Server = None,
    as_json: Json = False,
    folder: Folder = None,
    timeout: Timeout = 60.0,
) -> int:
    """List what servers offer to be read, or read one resource."""
    screen = Screen()
    with opened(servers_of(config, context.obj), screen, connect_timeout=timeout) as found:
        if uri is None:
            offering.list_resources(found.toolbox, screen, as_json=as_json)
            return _failed(found.toolbox, screen)
        contents = found.toolbox.read_resource(uri, server=server)
    for path in [] if folder is None else offering.save(contents, folder):
        screen.note(f"saved {path}")
    offering.show_contents(contents, screen, as_json=as_json)
    return 0


@app.command()
def prompts(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(help="Which; without it, what there is.")] = None,
    config: Config = None,
    arg: Annotated[list[str], typer.Option("--arg", help="name=value; again for more.")] = [],  # noqa: B006 - typer copies it
    server: Server = None,
    as_json: Json = False,
    timeout: Timeout = 60.0,
) -> int:
    """List the prompts of servers, or show one with its arguments filled in."""
    screen = Screen()
    given = calling.read_arguments(arg, None)
    with opened(servers_of(config, context.obj), screen, connect_timeout=timeout) as found:
        if name is None:
            offering.list_prompts(found.toolbox, screen, as_json=as_json)
            return _failed(found.toolbox, screen)
        prompt = found.toolbox.get_prompt(name, given, server=server)
    offering.show_prompt(prompt, screen, as_json=as_json)
    return 0


def _failed(toolbox: Toolbox, screen: Screen) -> int:
    """Say which servers could not be asked; 1 if there are any."""
    failed = [status.last_error for status in toolbox.status.values() if status.state == "failed"]
    for error in failed:
        screen.note(f"Error: {error}", style="red")
    return int(bool(failed))


@app.command()
def check(
    context: typer.Context,
    source: Source = None,
    provider: Annotated[str, typer.Option(help="Providers, with commas between them.")] = "portable",
    original: Annotated[bool, typer.Option("--original", help="Check the servers' own names.")] = False,
    as_json: Json = False,
    timeout: Timeout = 60.0,
) -> int:
    """Check names, descriptions, schemas and the number of tools against what providers take."""
    screen = Screen()
    providers = checking.providers_of(provider)
    with opened(servers_of(source, context.obj), screen, connect_timeout=timeout) as found:
        findings = checking.findings(found.toolbox, providers, original=original)
        tools = len(found.toolbox)
    screen.json(findings) if as_json else checking.show(findings, tools, providers, screen)
    return int(bool(findings))


@app.command()
def lock(
    context: typer.Context,
    source: Source = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The lock file.")] = Path(LOCK_NAME),
    only_check: Annotated[
        bool, typer.Option("--check", help="Write nothing; the exit code is 1 when something changed.")
    ] = False,
    timeout: Timeout = 60.0,
) -> int:
    """Write down what the tools are, and show what changed since the last time."""
    screen = Screen()
    known = output if only_check or output.exists() else None
    with opened(
        servers_of(source, context.obj),
        screen,
        on_bad_tool="fail",
        on_server_failure="fail",
        connect_timeout=timeout,
        lock=known,
        on_drift="warn",
    ) as found:
        drifts, tools = found.toolbox.drifts, len(found.toolbox)
        locking.show(drifts, screen)
        if only_check:
            if not drifts:
                screen.say(f"{tools} tools are as {output} says.", style="green")
            return int(bool(drifts))
        changed = locking.write(found.toolbox, output)
    screen.say(f"{output}: {tools} tools{'' if changed else ', nothing changed'}", style="green")
    return 0


@app.command("doctor")
def doctor_(context: typer.Context, source: Source = None, timeout: Timeout = 30.0) -> int:
    """Find out why a server does not start: one step after the other, with times."""
    screen = Screen()
    servers = load_servers(servers_of(source, context.obj), environ=os.environ)
    well: dict[str, bool] = {}
    for step in doctor.examine(servers, timeout=timeout):
        doctor.show(step, screen)
        well[step.server] = step.ok
    return int(not all(well.values()))


@app.command("demo")
def demo_() -> None:
    """Show a real server at work, offline and without a key."""
    demo.run(Screen())


def _only(patterns: Sequence[str]) -> ToolFilter | None:
    return ToolFilter.allow(*patterns) if patterns else None


def _progress(news: Any, screen: Screen) -> None:
    whole = f" of {news.total:g}" if news.total is not None else ""
    screen.note(f"{news.progress:g}{whole} {news.message or ''}".rstrip())
