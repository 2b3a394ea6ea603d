"""Inside of bubblewrap: a server that tries what it should not fails at each deed, while its tools work."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mcp_adapters import Bubblewrap, ConnectionLostError, Install, ServerStartError, StdioServer, Toolbox

from ..conftest import children

ADVERSARY = Path(__file__).with_name("adversary.py")
PYTHON = tuple({sys.prefix, sys.base_prefix, os.path.realpath(sys.prefix), str(ADVERSARY)})


def works() -> str:
    """Why bubblewrap cannot be used here; empty when it can."""
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed: run `apt-get install bubblewrap`"
    probe = ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"]
    done = subprocess.run(probe, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else f"bubblewrap does not work here: {done.stderr.strip()}"


REASON = works()
pytestmark = pytest.mark.skipif(bool(REASON), reason=REASON)


def boxed(**options: Any) -> StdioServer:
    places = {"read": PYTHON, **{key: options.pop(key) for key in ("write", "network") if key in options}}
    return StdioServer(command=sys.executable, args=[str(ADVERSARY)], sandbox=Bubblewrap(**places), **options)


@pytest.fixture(scope="module")
def toolbox() -> Iterator[Toolbox]:
    with Toolbox({"a": boxed(env={"GIVEN": "given"})}) as one:
        yield one


def test_the_tools_work_and_the_server_keeps_its_state(toolbox: Toolbox) -> None:
    first = toolbox.call("a_count").structured

    assert [toolbox.call("a_count").structured for _ in range(2)] == [first + 1, first + 2]


def test_a_file_of_this_machine_cannot_be_read(toolbox: Toolbox, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("s3cret")

    for path in (secret, "/etc/passwd", "/etc/shadow", Path.home() / ".ssh" / "id_ed25519", "/root/.bashrc"):
        assert toolbox.call("a_read", {"path": str(path)}).text.startswith("no: "), path


def test_nothing_outside_can_be_written(toolbox: Toolbox, tmp_path: Path) -> None:
    places = [tmp_path / "x", "/usr/x", "/etc/x", "/x", Path(sys.prefix) / "x", ADVERSARY]
    for place in places:
        assert toolbox.call("a_write", {"path": str(place)}).text.startswith("no: "), place

    assert list(tmp_path.iterdir()) == []


def test_tmp_is_its_own(toolbox: Toolbox) -> None:
    mine = Path("/tmp/mcp-adapters-sandbox-probe")

    assert toolbox.call("a_write", {"path": str(mine)}).text.startswith("done: ")
    assert not mine.exists()


def test_a_port_of_this_machine_cannot_be_reached(toolbox: Toolbox) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]

        assert toolbox.call("a_connect", {"port": port}).text.startswith("no: ")


def test_the_environment_of_this_process_is_not_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "s3cret-key")
    with Toolbox({"a": boxed(env={"GIVEN": "given"})}) as toolbox:
        seen = toolbox.call("a_environment").structured

    assert seen["GIVEN"] == "given"
    assert "s3cret-key" not in str(seen)


def test_other_processes_cannot_be_seen(toolbox: Toolbox) -> None:
    seen = toolbox.call("a_processes").structured

    assert os.getpid() not in seen
    assert len(seen) < 5


def test_what_is_allowed_can_be_done(tmp_path: Path) -> None:
    readable, writable = tmp_path / "r", tmp_path / "w"
    for folder in (readable, writable):
        folder.mkdir()
    (readable / "f").write_text("hello")
    places = {"read": (*PYTHON, readable), "write": (writable,), "network": True}
    server = StdioServer(command=sys.executable, args=[str(ADVERSARY)], sandbox=Bubblewrap(**places))
    with Toolbox({"a": server}) as toolbox, socket.create_server(("127.0.0.1", 0)) as listening:
        read = toolbox.call("a_read", {"path": str(readable / "f")}).text
        kept = toolbox.call("a_write", {"path": str(readable / "f")}).text
        wrote = toolbox.call("a_write", {"path": str(writable / "g")}).text
        connected = toolbox.call("a_connect", {"port": listening.getsockname()[1]}).text

    assert [read, kept[:4], wrote[:6], connected[:6]] == ["done: hello", "no: ", "done: ", "done: "]
    assert (readable / "f").read_text() == "hello"
    assert (writable / "g").read_text() == "I was here"


def test_the_server_ends_with_the_toolbox_and_with_it_what_it_started() -> None:
    before = children()
    with Toolbox({"a": boxed()}) as toolbox:
        toolbox.call("a_spawn")
        toolbox.call("a_spawn")

    assert children() <= before
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert "time.sleep(1000)" not in listed


def test_a_server_that_is_killed_is_started_again_in_its_sandbox(tmp_path: Path) -> None:
    others = children()
    with Toolbox({"a": boxed()}) as toolbox:
        assert [toolbox.call("a_count").structured for _ in range(2)] == [1, 2]
        for pid in children() - others:
            os.kill(pid, 9)
        with contextlib.suppress(ConnectionLostError):
            toolbox.call("a_count")
        assert toolbox.call("a_count").structured in (1, 2)
        assert toolbox.call("a_write", {"path": str(tmp_path / "x")}).text.startswith("no: ")


def test_no_secret_is_in_the_command_line() -> None:
    with Toolbox({"a": boxed(env={"KEY": "s3cret-value"})}) as toolbox:
        toolbox.call("a_count")
        listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout

    assert "bwrap" in listed
    assert "s3cret-value" not in listed


def test_an_installation_runs_inside_too(tmp_path: Path) -> None:
    place = tmp_path / "installed"
    place.mkdir()
    inside = Install(command="sh", args=["-c", f"echo yes > {place}/a; echo no > {tmp_path}/b"])
    with Toolbox({"a": boxed(write=(str(place),), install=inside)}) as toolbox:
        assert toolbox.call("a_count").structured == 1

    assert (place / "a").read_text() == "yes\n"
    assert not (tmp_path / "b").exists()


def test_a_program_that_the_sandbox_does_not_have_is_an_error_of_the_start() -> None:
    server = StdioServer(command=sys.executable, args=[str(ADVERSARY)], sandbox="bubblewrap")
    with pytest.raises(ServerStartError) as caught:
        Toolbox({"a": server}).open()

    assert os.path.basename(sys.executable) in str(caught.value)
