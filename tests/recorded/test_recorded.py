"""Sessions of real servers over streamable HTTP, recorded once and played back without a network."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from pytest_recording.network import blocking_context

from mcp_adapters import AuthError, InvalidArgumentsError, McpAdaptersError, Toolbox

from . import conftest
from .conftest import SECRETS, Forgetful, everything, only_with_the_token, sdk, server

CASSETTES = Path(__file__).parent / "cassettes"
FORMS = pytest.mark.parametrize("json_response", [True, False], ids=["json", "sse"])
ERAS = pytest.mark.parametrize(("protocol", "version"), [("legacy", "2025-11-25"), ("2026-07-28",) * 2])


@pytest.fixture(autouse=True)
def without_a_network(record_mode: str, vcr: Any) -> Any:
    """Nothing leaves the process while cassettes are played back."""
    if record_mode != "none":
        yield
        return
    with blocking_context(allowed_hosts=[]):
        yield


@pytest.mark.vcr
@FORMS
@ERAS
def test_a_session_of_the_sdks_server(serving: Any, protocol: Any, version: str, json_response: bool) -> None:
    with (
        serving(sdk(json_response=json_response, script=only_with_the_token)),
        Toolbox({"web": server(protocol)}) as toolbox,
    ):
        told = toolbox.status["web"]
        weather = toolbox.call("web_weather", {"city": "Paris"})
        broken = toolbox.call("web_broken")

    assert (told.protocol_version, told.instructions) == (version, "Ask for weather.")
    assert weather.structured == {"celsius": 21.5, "words": "sunny in Paris"}
    assert broken.is_error


@pytest.mark.vcr
def test_a_session_of_the_reference_server(serving: Any) -> None:
    with serving(everything()), Toolbox({"web": server("auto", token=None)}) as toolbox:
        version = toolbox.status["web"].protocol_version
        echo = toolbox.call("web_echo", {"message": "hello"})
        image = toolbox.call("web_get-tiny-image")

    assert version == "2025-11-25"
    assert echo.text == "Echo: hello"
    assert [part.kind for part in image.parts] == ["text", "image", "text"]


@pytest.mark.vcr
@ERAS
def test_a_server_that_lets_nobody_in(serving: Any, protocol: Any, version: str) -> None:
    with (
        serving(sdk(json_response=True, script=only_with_the_token)),
        pytest.raises(AuthError) as caught,
        Toolbox({"web": server(protocol, token="wr0ng-" + SECRETS[0])}),
    ):
        pass

    assert (caught.value.server, caught.value.status) == ("web", 401)
    assert "wr0ng" not in str(caught.value)


@pytest.mark.vcr
@FORMS
def test_a_session_that_the_server_forgot_is_begun_anew(serving: Any, json_response: bool) -> None:
    with (
        serving(sdk(json_response=json_response, script=Forgetful())),
        Toolbox({"web": server("legacy")}) as toolbox,
    ):
        cities = ("Paris", "Rome")
        words = [toolbox.call("web_weather", {"city": city}).structured["words"] for city in cities]

    assert words == ["sunny in Paris", "sunny in Rome"]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"city": "Lyon"}, id="other arguments"),
        pytest.param({"city": "Paris", "more": 1}, id="more arguments"),
    ],
)
def test_a_request_that_was_not_recorded_fails(change: dict[str, Any], record_mode: str) -> None:
    """So that a changed client cannot pass by an old recording."""
    if record_mode != "none":
        pytest.skip("this one needs a recording that is there already")
    import vcr

    player = vcr.VCR(record_mode="none", match_on=["method", "uri", "message"])
    player.register_matcher("message", conftest.same_message)
    cassette = (
        CASSETTES / "test_recorded" / "test_a_session_of_the_sdks_server[2026-07-28-2026-07-28-json].yaml"
    )
    with (
        blocking_context(allowed_hosts=[]),
        player.use_cassette(str(cassette)),
        Toolbox({"web": server("2026-07-28")}) as toolbox,
        pytest.raises(McpAdaptersError) as caught,
    ):
        toolbox.call("web_weather", change)

    assert not isinstance(caught.value, InvalidArgumentsError), "it was never sent"


def _cassettes() -> list[Path]:
    return sorted(CASSETTES.rglob("*.yaml"))


def test_no_cassette_holds_a_secret() -> None:
    shapes = (*map(re.escape, SECRETS), r"Bearer (?!error|scrubbed)\S", r"eyJ[\w-]{10}", r"\b[0-9a-f]{32}\b")
    found = [
        (path.name, shape)
        for path in _cassettes()
        for shape in shapes
        if re.search(shape, path.read_text(encoding="utf-8"))
    ]

    assert found == []


def test_every_cassette_belongs_to_a_test_and_every_server_stood_on_this_machine() -> None:
    recorded = {
        path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))["interactions"] for path in _cassettes()
    }
    exchanges = [exchange for exchanges in recorded.values() for exchange in exchanges]
    statuses = {
        name.partition("[")[0]: {exchange["response"]["status"]["code"] for exchange in exchanges}
        for name, exchanges in recorded.items()
    }

    assert len(recorded) == 9
    assert {exchange["request"]["uri"] for exchange in exchanges} == {f"http://127.0.0.1:{conftest.PORT}/mcp"}
    assert statuses["test_a_server_that_lets_nobody_in"] == {401}
    assert 404 in statuses["test_a_session_that_the_server_forgot_is_begun_anew"]
