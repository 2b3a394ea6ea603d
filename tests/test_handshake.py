"""Which protocol is spoken, with servers of every age and at every speed."""

from __future__ import annotations

import pytest

from mcp_adapters import HandshakeError, StdioServer, Toolbox, _handshake

from .conftest import Wire

MODERN, HANDSHAKE = "2026-07-28", "2025-11-25"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The probe's silence counts at once: servers here are as slow as they are told to be."""
    monkeypatch.setattr(_handshake, "PROBE_PATIENCE_S", 0.05)


def version_of(server: StdioServer) -> str | None:
    with Toolbox({"wire": server}) as toolbox:
        assert toolbox.call("wire_echo").text == "{}"
        return toolbox.status["wire"].protocol_version


def test_a_modern_server_is_spoken_to_without_a_handshake(wire: Wire) -> None:
    assert version_of(wire.server(era="modern")) == MODERN
    assert (wire.count("server/discover"), wire.count("initialize")) == (1, 0)


def test_a_server_that_refuses_the_probe_gets_the_handshake(wire: Wire) -> None:
    assert version_of(wire.server()) == HANDSHAKE
    assert (wire.count("server/discover"), wire.count("initialize"), wire.starts()) == (1, 1, 1)


@pytest.mark.usefixtures("impatient")
def test_a_slow_modern_server_is_not_taken_for_an_old_one(wire: Wire) -> None:
    """It answers the probe only once the handshake has been sent too, and then refuses the handshake."""
    assert version_of(wire.server(era="modern, late")) == MODERN
    assert wire.starts() == 1


@pytest.mark.usefixtures("impatient")
def test_a_slow_old_server_is_not_started_twice(wire: Wire) -> None:
    assert version_of(wire.server(era="handshake, late")) == HANDSHAKE
    assert wire.starts() == 1


@pytest.mark.usefixtures("impatient")
def test_a_server_that_dies_of_the_probe_is_started_anew_and_never_probed_again(wire: Wire) -> None:
    """As servers on version 1.8 and older of the Python SDK do."""
    toolbox = Toolbox(
        {
            "wire": wire.server(
                era="dies of the probe", tools=[{"name": "die", "inputSchema": {"type": "object"}}]
            )
        }
    )
    with toolbox:
        assert toolbox.status["wire"].protocol_version == HANDSHAKE
        with pytest.raises(Exception, match="ended"):
            toolbox.call("wire_die")
        toolbox.refresh()

    assert wire.starts() == 3
    assert wire.count("server/discover") == 1


@pytest.mark.parametrize(("protocol", "probes", "handshakes"), [("legacy", 0, 1), ("2026-07-28", 1, 0)])
def test_a_users_word_is_followed_without_asking_the_server(
    wire: Wire, protocol: str, probes: int, handshakes: int
) -> None:
    server = wire.server(era="modern" if protocol != "legacy" else "handshake")
    version_of(StdioServer(command=server.argv(), protocol=protocol))

    assert (wire.count("server/discover"), wire.count("initialize")) == (probes, handshakes)


def test_a_pinned_version_that_the_server_does_not_speak_is_an_error(wire: Wire) -> None:
    server = StdioServer(command=wire.server().argv(), protocol=MODERN)
    with pytest.raises(HandshakeError, match="Method not found"), Toolbox({"wire": server}):
        pass
