"""How cassettes are recorded and played back.

Playing back needs no server and no network. `make record` starts the real servers, each on a fixed
port, and writes every cassette anew; look at the difference before you commit it. A cassette holds
calls one after the other: vcrpy reads an answer to its end before anybody else sees it, which calls
that wait for each other, or a stream without an end, would not survive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest

from tests import real_servers

from .scrubbing import Scrubber, same_headers, same_message
from .servers import SECRETS

MATCH_ON = ["method", "uri", "message", "headers"]


def rules() -> dict[str, Any]:
    """What vcrpy is told of one cassette."""
    scrubber = Scrubber(SECRETS)
    return {
        "match_on": MATCH_ON,
        "before_record_request": scrubber.request,
        "before_record_response": scrubber.response,
        "decode_compressed_response": True,
    }


@pytest.fixture(scope="session", autouse=True)
def all_servers_are_there(record_mode: str) -> None:
    """Record everything or nothing: a cassette is deleted before its server is looked for."""
    if record_mode != "none":
        real_servers.everything()


@pytest.fixture
def vcr_config() -> dict[str, Any]:
    return rules()


def pytest_recording_configure(config: Any, vcr: Any) -> None:
    register(vcr)


def register(vcr: Any) -> None:
    """Make the two comparisons of our own known to vcrpy."""
    vcr.register_matcher("message", same_message)
    vcr.register_matcher("headers", same_headers)


@pytest.fixture
def serving(record_mode: str) -> Callable[[AbstractContextManager[Any]], AbstractContextManager[Any]]:
    """Run a server while recording; playing back runs none."""

    @contextmanager
    def maybe(server: AbstractContextManager[Any]) -> Iterator[None]:
        if record_mode == "none":
            yield
            return
        with server:
            yield

    return maybe


@pytest.fixture
def played(vcr: Any, record_mode: str) -> Iterator[None]:
    """A test that uses all of its recording: what it no longer sends is missed too."""
    yield
    if record_mode == "none":
        left = [request for at, request in enumerate(vcr.requests) if not vcr.play_counts[at]]
        assert not left, f"recorded, but not sent: {left}"
