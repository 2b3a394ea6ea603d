"""What a sandbox turns a command into, what is refused, and installations before the first start."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from mcp_adapters import (
    Bubblewrap,
    ConfigError,
    Container,
    Install,
    SandboxError,
    ServerStartError,
    StdioServer,
    Toolbox,
    load_servers,
)

from ..conftest import Wire

SECRET = "s3cret-value"


# -- commands -------------------------------------------------------------------------------------


def test_bubblewrap_shows_the_system_read_only_and_hides_the_rest() -> None:
    box = Bubblewrap(read=["/srv/tool"], write=["/srv/data"])
    words = box.wrap(["tool", "--fast"], cwd="/srv/tool", env={"KEY": SECRET})

    assert words[0] == "bwrap"
    assert words[-3:] == ["--", "tool", "--fast"]
    assert {"--unshare-all", "--die-with-parent", "--new-session"} <= set(words)
    assert "--share-net" not in words
    pairs = [tuple(words[i : i + 3]) for i in range(len(words) - 2)]
    assert ("--ro-bind", "/srv/tool", "/srv/tool") in pairs
    assert ("--bind", "/srv/data", "/srv/data") in pairs
    assert not {"/", "/home", "/root", "/etc", "/var"} & {pair[1] for pair in pairs if "bind" in pair[0]}
    assert SECRET not in words
    assert "--share-net" in Bubblewrap(network=True).wrap(["x"], cwd=None, env={})


@pytest.mark.parametrize("engine", ["docker", "podman"])
def test_a_container_has_no_rights_that_it_was_not_given(engine: Any) -> None:
    box = Container(type=engine, image="tools:1", read=["/srv/tool"], write=["/srv/data"])
    words = box.wrap(["tool", "--fast"], cwd="/srv/tool", env={"KEY": SECRET})

    assert words[:4] == [engine, "run", "-i", "--rm"]
    assert words[-3:] == ["tools:1", "tool", "--fast"]
    text = " ".join(words)
    assert "--read-only" in words
    assert "--cap-drop ALL" in text
    assert "--network none" in text
    assert "--mount type=bind,source=/srv/tool,target=/srv/tool,readonly" in text
    assert "--mount type=bind,source=/srv/data,target=/srv/data --env" in text
    assert "--env KEY" in text
    assert SECRET not in text
    assert "--network" not in Container(image="i", network=True).wrap(["x"], cwd=None, env={})


def stand_in(folder: Path, name: str) -> Path:
    """A program in the place of an engine, that notes its arguments and runs what comes after the image."""
    program = folder / name
    program.write_text(
        f"#!{sys.executable}\n"
        "import json, os, sys\n"
        f"open({str(folder / 'arguments.json')!r}, 'w').write(json.dumps(sys.argv[1:]))\n"
        "rest = sys.argv[sys.argv.index('tools:1') + 1:]\n"
        "os.execvp(rest[0], rest)\n"
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


@pytest.mark.parametrize("engine", ["docker", "podman"])
def test_a_server_runs_in_a_container(
    wire: Wire, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: Any
) -> None:
    """A stand-in takes the place of the engine: the whole way is real but for the container itself."""
    stand_in(tmp_path, engine)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    plain = wire.server()
    server = StdioServer(
        command=plain.command,
        args=plain.args,
        env={"KEY": SECRET},
        sandbox=Container(type=engine, image="tools:1"),
    )
    with Toolbox({"w": server}) as toolbox:
        answers = [toolbox.call("w_echo", {"n": n}).text for n in range(2)]

    asked = json.loads((tmp_path / "arguments.json").read_text())
    assert answers == ['{"n": 0}', '{"n": 1}']
    assert wire.starts() == 1
    assert asked[:3] == ["run", "-i", "--rm"]
    assert SECRET not in " ".join(asked)


# -- configurations -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("bubblewrap", Bubblewrap()),
        ({"type": "bubblewrap", "read": ["/srv/${NAME}"]}, Bubblewrap(read=["/srv/tool"])),
        ({"type": "docker", "image": "i", "network": True}, Container(image="i", network=True)),
        ({"type": "podman", "image": "i"}, Container(type="podman", image="i")),
    ],
)
def test_a_configuration_names_a_sandbox(said: Any, meant: Any) -> None:
    config = {"mcpServers": {"s": {"command": "x", "sandbox": said}}}
    [server] = load_servers(config, environ={"NAME": "tool"}).values()

    assert server.sandbox == meant


def test_a_configuration_names_an_installation_without_showing_its_secrets() -> None:
    install = {
        "command": "npm",
        "args": ["install"],
        "env": {"TOKEN": "${TOKEN}"},
        "timeout": 60,
        "network": True,
    }
    config = {"mcpServers": {"s": {"command": "x", "install": install}}}
    [server] = load_servers(config, environ={"TOKEN": SECRET}).values()

    assert server.install.environment() == {"TOKEN": SECRET}
    assert server.install.argv() == ["npm", "install"]
    assert SECRET not in repr(server) + str(server.model_dump())


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"sandbox": "jail"}, "'bubblewrap', 'docker', 'podman'"),
        ({"sandbox": {"read": ["/a"]}}, "'bubblewrap', 'docker', 'podman'"),
        ({"sandbox": {"type": "bubblewrap", "read": ["relative"]}}, "must be absolute"),
        ({"sandbox": {"type": "bubblewrap", "read": "/a"}}, "must be a list"),
        ({"sandbox": {"type": "bubblewrap", "nettwork": True}}, "nettwork"),
        ({"sandbox": {"type": "docker"}}, "image"),
        ({"sandbox": 3}, "sandbox"),
        ({"install": {"args": ["x"]}}, "command"),
        ({"install": {"command": "x", "timeout": 0}}, "timeout"),
    ],
)
def test_what_cannot_be_meant_is_an_error(entry: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        load_servers({"s": {"command": "x", **entry}}, environ={})


def test_an_address_has_no_sandbox() -> None:
    with pytest.raises(ConfigError, match="sandbox"):
        load_servers({"s": {"url": "http://127.0.0.1:1/mcp", "sandbox": "bubblewrap"}}, environ={})


def test_a_kind_that_this_machine_lacks_is_an_error_that_names_those_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(tmp_path, "podman")
    monkeypatch.setenv("PATH", str(tmp_path))
    server = StdioServer(command="x", sandbox=Container(image="i"))
    with pytest.raises(SandboxError, match=r"'docker'; it was not found.* has: podman") as caught:
        Toolbox({"s": server}).open()

    assert caught.value.server == "s"


# -- installations --------------------------------------------------------------------------------


def counting(tmp_path: Path, code: int = 0, **options: Any) -> Install:
    """An installation that leaves a line in a file for each time that it runs."""
    script = f"echo run >> {tmp_path}/runs; echo $TOKEN; echo oh no >&2; exit {code}"
    return Install(command="sh", args=["-c", script], **options)


def runs(tmp_path: Path) -> int:
    file = tmp_path / "runs"
    return len(file.read_text().splitlines()) if file.exists() else 0


def test_an_installation_runs_once_before_the_first_start(wire: Wire, tmp_path: Path) -> None:
    plain = wire.server()
    server = StdioServer(command=plain.command, args=plain.args, install=counting(tmp_path))
    with Toolbox({"w": server}) as toolbox:
        assert runs(tmp_path) == 1
        toolbox.restart("w")
        toolbox.call("w_echo")

    assert (wire.starts(), runs(tmp_path)) == (2, 1)


def test_an_installation_that_fails_is_an_error_with_what_it_said_and_is_tried_again(
    wire: Wire, tmp_path: Path
) -> None:
    plain = wire.server()
    failing = counting(tmp_path, code=7, env={"TOKEN": SECRET})
    toolbox = Toolbox({"w": StdioServer(command=plain.command, args=plain.args, install=failing)})
    for number in (1, 2):
        with pytest.raises(ServerStartError, match="ended with exit code 7") as caught:
            toolbox.open()
        assert runs(tmp_path) == number
    assert not (tmp_path / "wire.ledger").exists()

    assert "oh no" in str(caught.value)
    assert (caught.value.exit_code, caught.value.server) == (7, "w")
    assert SECRET not in str(caught.value) + str(vars(caught.value))


def ended(pid: int) -> bool:
    """Whether a process is gone, or nothing but a name that nobody asked for yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_two_toolboxes_of_one_description_install_once(wire: Wire, tmp_path: Path) -> None:
    plain = wire.server()

    def server() -> StdioServer:
        return StdioServer(command=plain.command, args=plain.args, install=counting(tmp_path))

    with Toolbox({"one": server(), "two": server()}), Toolbox({"three": server()}):
        assert (wire.starts(), runs(tmp_path)) == (3, 1)


def test_an_installation_that_takes_too_long_is_ended_with_what_it_started(tmp_path: Path) -> None:
    install = Install(
        command="sh", args=["-c", f"echo begun; sleep 1000 & echo $! > {tmp_path}/pid; wait"], timeout=0.5
    )
    with pytest.raises(ServerStartError, match=r"longer than 0\.5 s; it said:\nbegun"):
        Toolbox({"s": StdioServer(command="x", install=install)}).open()

    assert ended(int((tmp_path / "pid").read_text()))


def test_an_installation_that_cannot_be_started_says_so() -> None:
    install = Install(command="no-such-program-at-all")
    with pytest.raises(ServerStartError, match=r"no-such-program-at-all.* cannot be started"):
        Toolbox({"s": StdioServer(command="x", install=install)}).open()
