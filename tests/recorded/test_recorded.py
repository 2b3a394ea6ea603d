"""Sessions of real servers over streamable HTTP, recorded once and played back without a network."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from mcp_adapters import AuthError, Toolbox

from .servers import TOKEN, Forgetful, everything, robot, sdk, sdk_for_programs, server

pytestmark = [pytest.mark.vcr, pytest.mark.block_network, pytest.mark.usefixtures("played")]

FORMS = pytest.mark.parametrize("json_response", [True, False], ids=["json", "sse"])
ERAS = pytest.mark.parametrize(
    ("protocol", "version"),
    [
        pytest.param("legacy", "2025-11-25", id="2025-11-25"),
        pytest.param("2026-07-28", "2026-07-28", id="2026-07-28"),
    ],
)


@FORMS
@ERAS
def test_a_session_of_the_sdks_server(serving: Any, protocol: Any, version: str, json_response: bool) -> None:
    with (
        serving(sdk(json_response=json_response)),
        Toolbox({"web": server(protocol)}) as toolbox,
    ):
        told = toolbox.status["web"]
        names = [tool.name for tool in toolbox]
        weather = toolbox.call("web_weather", {"city": "Paris"})
        forecast = toolbox.call("web_forecast", {"city": "Rome"})
        broken = toolbox.call("web_broken")

    assert (told.protocol_version, told.instructions) == (version, "Ask for weather.")
    assert names == ["web_weather", "web_forecast", "web_broken"]
    assert weather.structured == {"celsius": 21.5, "words": "sunny in Paris"}
    assert (forecast.text, forecast.is_error) == ("sunny in Rome", False)
    assert (broken.text, broken.is_error) == ("Error executing tool broken", True)


def test_a_session_of_the_reference_server(serving: Any) -> None:
    """The protocol is found out: the server refuses the modern probe, and is asked the older way."""
    with serving(everything()), Toolbox({"web": server("auto", auth=None)}) as toolbox:
        version = toolbox.status["web"].protocol_version
        echo = toolbox.call("web_echo", {"message": "hello"})
        image = toolbox.call("web_get-tiny-image")
        slow = toolbox.call("web_trigger-long-running-operation", {"duration": 0.2, "steps": 2})

    assert version == "2025-11-25"
    assert echo.text == "Echo: hello"
    assert [part.kind for part in image.parts] == ["text", "image", "text"]
    assert slow.text.startswith("Long running operation completed.")


@ERAS
def test_a_server_that_lets_nobody_in(serving: Any, protocol: Any, version: str) -> None:
    with (
        serving(sdk(json_response=True)),
        pytest.raises(AuthError) as caught,
        Toolbox({"web": server(protocol, auth=f"wr0ng-{TOKEN}")}),
    ):
        pass

    error = caught.value
    assert (error.server, error.status, error.phase, error.retriable) == ("web", 401, "connect", False)
    assert "wr0ng" not in str(error)


@FORMS
def test_a_session_that_the_server_forgot_is_begun_anew(
    serving: Any, json_response: bool, caplog: pytest.LogCaptureFixture
) -> None:
    with (
        caplog.at_level(logging.WARNING),
        serving(sdk(json_response=json_response, script=Forgetful())),
        Toolbox({"web": server("legacy")}) as toolbox,
    ):
        cities = ("Paris", "Rome")
        words = [toolbox.call("web_weather", {"city": city}).structured["words"] for city in cities]
        toolbox.refresh()  # comes after the listing that a new session begins with

    assert words == ["sunny in Paris", "sunny in Rome"]
    assert caplog.messages == []


@ERAS
def test_a_program_that_signs_in(serving: Any, protocol: Any, version: str) -> None:
    with (
        serving(sdk_for_programs()),
        Toolbox({"web": server(protocol, auth=robot())}) as toolbox,
    ):
        assert toolbox.status["web"].protocol_version == version
        assert toolbox.call("web_echo", {"text": "hello"}).text == "hello"
