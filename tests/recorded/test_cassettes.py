"""What recordings are worth: they hold no secret, and a client or a file that changed does not pass by them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import vcr
import yaml
from vcr.errors import CannotOverwriteExistingCassetteException
from vcr.request import Request

from mcp_adapters import ConnectionLostError, HttpServer, McpAdaptersError, ServerStartError, Toolbox

from . import test_recorded
from .conftest import register, rules
from .scrubbing import HIDDEN, Scrubber
from .servers import BASIC, CLIENT_SECRET, COOKIE, SECRETS, TOKEN, URL, server

pytestmark = pytest.mark.block_network

CASSETTES = Path(__file__).parent / "cassettes" / "test_recorded"
MODERN = "test_a_session_of_the_sdks_server[2026-07-28-json].yaml"
SESSION = "test_a_session_of_the_sdks_server[2025-11-25-json].yaml"
PARIS = {"city": "Paris"}


@pytest.fixture(autouse=True)
def cassettes_stay(record_mode: str) -> None:
    if record_mode != "none":
        pytest.skip("these look at recordings, and record nothing")


@contextmanager
def playing(path: Path) -> Iterator[Any]:
    player = vcr.VCR(record_mode="none", **rules())
    register(player)
    with player.use_cassette(str(path)) as cassette:
        yield cassette


def weather(told: HttpServer) -> str:
    with Toolbox({"web": told}) as toolbox:
        return toolbox.call("web_weather", PARIS).text


def unrecorded(error: BaseException | None) -> CannotOverwriteExistingCassetteException:
    """The complaint of vcrpy that an error of ours goes back to."""
    while error is not None and not isinstance(error, CannotOverwriteExistingCassetteException):
        error = error.__cause__
    assert error is not None
    return error


def test_what_was_recorded_is_played() -> None:
    with playing(CASSETTES / MODERN):
        assert "sunny in Paris" in weather(server("2026-07-28"))


def differences(complaint: CannotOverwriteExistingCassetteException) -> set[str]:
    """In what the refused request differs from the recorded ones that come closest."""
    closest = complaint.cassette.find_requests_with_most_matches(complaint.failed_request)
    return {name for _, _, failed in closest for name, _ in failed}


CHANGED: list[tuple[HttpServer, set[str]]] = [
    (server("2026-07-28", auth=None), {"same_headers"}),
    (server("legacy"), {"same_message", "same_headers"}),
    (server("2026-07-28").model_copy(update={"url": f"{URL}/other"}), {"uri"}),
    (server("2026-07-28").model_copy(update={"url": "http://127.0.0.1:1/mcp"}), {"uri"}),
]


@pytest.mark.parametrize(("told", "different"), CHANGED, ids=["credentials", "protocol", "path", "port"])
def test_a_client_that_changed_does_not_connect_and_the_difference_is_named(
    told: HttpServer, different: set[str]
) -> None:
    with playing(CASSETTES / MODERN), pytest.raises(ServerStartError) as caught:
        weather(told)

    assert (caught.value.server, caught.value.phase) == ("web", "connect")
    assert differences(unrecorded(caught.value)) == different


@pytest.mark.parametrize("arguments", [{"city": "Lyon"}, {"city": "Paris", "more": 1}], ids=str)
def test_a_call_that_was_not_recorded_fails_and_names_itself(arguments: dict[str, Any]) -> None:
    with (
        playing(CASSETTES / MODERN),
        Toolbox({"web": server("2026-07-28")}) as toolbox,
        pytest.raises(ConnectionLostError) as caught,
    ):
        toolbox.call("web_weather", arguments)

    complaint = unrecorded(caught.value)
    assert (caught.value.tool, complaint.failed_request.uri) == ("weather", f"{URL}/mcp")
    assert differences(complaint) == {"same_message"}


def test_a_call_is_played_once() -> None:
    """A client that sends a call twice does not pass."""
    with playing(CASSETTES / MODERN), Toolbox({"web": server("2026-07-28")}) as toolbox:
        toolbox.call("web_weather", PARIS)
        with pytest.raises(ConnectionLostError) as caught:
            toolbox.call("web_weather", PARIS)

    assert unrecorded(caught.value)


def test_without_a_recording_nothing_leaves_and_the_error_says_what_stopped_it() -> None:
    with pytest.raises(ServerStartError, match="RuntimeError was raised") as caught:
        weather(server("2026-07-28", auth=None))

    assert "Network is disabled for host '127.0.0.1'" in str(caught.value.__cause__)


Tamper = Callable[[dict[str, Any]], None]


def _request_body(exchange: dict[str, Any]) -> None:
    exchange["request"]["body"] = exchange["request"]["body"].replace("Paris", "Lyon")


def _session(exchange: dict[str, Any]) -> None:
    exchange["request"]["headers"]["mcp-session-id"] = ["session-7"]


def _version(exchange: dict[str, Any]) -> None:
    exchange["request"]["headers"]["mcp-protocol-version"] = ["2025-06-18"]


def _method(exchange: dict[str, Any]) -> None:
    exchange["request"]["method"] = "PUT"


def _status(exchange: dict[str, Any]) -> None:
    exchange["response"]["status"] = {"code": 500, "message": "Internal Server Error"}


@pytest.mark.parametrize("tamper", [_request_body, _session, _version, _method, _status])
def test_a_call_whose_recording_was_changed_fails(tamper: Tamper, tmp_path: Path) -> None:
    with (
        playing(tampered(SESSION, tamper, tmp_path)),
        Toolbox({"web": server("legacy")}) as toolbox,
        pytest.raises(McpAdaptersError) as caught,
    ):
        toolbox.call("web_weather", PARIS)

    assert caught.value.tool == "weather"


def test_an_answer_that_was_changed_arrives_changed(tmp_path: Path) -> None:
    """Tests that compare results compare them with what the cassette says, and with nothing else."""

    def other_weather(exchange: dict[str, Any]) -> None:
        body = exchange["response"]["body"]
        body["string"] = body["string"].replace("sunny", "foggy")

    with playing(tampered(SESSION, other_weather, tmp_path)):
        assert "foggy in Paris" in weather(server("legacy"))


def tampered(name: str, tamper: Tamper, folder: Path) -> Path:
    """A copy of a cassette whose first call of the weather is changed."""
    cassette = yaml.safe_load((CASSETTES / name).read_text(encoding="utf-8"))
    [exchange] = [it for it in cassette["interactions"] if "Paris" in (it["request"]["body"] or "")]
    before = yaml.safe_dump(exchange)
    tamper(exchange)
    assert yaml.safe_dump(exchange) != before
    path = folder / "tampered.yaml"
    path.write_text(yaml.safe_dump(cassette), encoding="utf-8")
    return path


# -- secrets ----------------------------------------------------------------------------------------

SHAPES = (
    *map(re.escape, SECRETS),
    r"(?i)\b(?:bearer|basic) (?!error=|realm=|resource_metadata=|scope=)[\w+/=.~-]{6,}",
    r"\beyJ[\w-]{10}",
    r"\b[0-9a-f]{32,}\b",
    r"\b(?!00000000-)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b",
    r"-----BEGIN",
    r'"(?:access_token|refresh_token|id_token|client_secret)"\s*:\s*"(?!scrubbed")',
)
"""The secrets of the recording, and what tokens of any origin look like."""


def texts_in(value: Any) -> Iterator[str]:
    """Every text of a cassette, put together again where the file folds it."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from texts_in(key)
            yield from texts_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts_in(item)
    else:
        yield value.decode("latin-1") if isinstance(value, bytes) else str(value)


def secrets_in(value: Any) -> set[str]:
    return {shape for shape in SHAPES for text in texts_in(value) if re.search(shape, text)}


@pytest.mark.parametrize("path", sorted(CASSETTES.glob("*.yaml")), ids=lambda path: path.stem)
def test_no_cassette_holds_a_secret(path: Path) -> None:
    cassette = yaml.safe_load(path.read_text(encoding="utf-8"))
    headers = [
        (name.lower(), value)
        for exchange in cassette["interactions"]
        for side in ("request", "response")
        for name, values in exchange[side]["headers"].items()
        for value in values
    ]

    assert secrets_in(cassette) == set()
    assert {value for name, value in headers if name in HIDDEN} <= {"scrubbed"}
    assert {value for name, value in headers if name == "mcp-session-id"} <= {"session-1", "session-2"}


LEAKS = [
    *SECRETS,
    f"Echo: {TOKEN}",
    "Bearer abcdef123",
    "Basic cm9ib3Q6eA==",
    "eyJhbGciOiJIUzI1NiJ9",
    "0" * 40,
    "4a785103-9b5d-4f68-a09a-7ad196196631",
    "-----BEGIN PRIVATE KEY-----",
    '{"access_token":"abc"}',
    '{"client_secret": "abc"}',
]


@pytest.mark.parametrize("leak", LEAKS)
def test_the_search_for_secrets_finds_each_kind(leak: str) -> None:
    texts = {
        "interactions": [{"request": {"headers": {"x": [leak]}}}, {"response": leak.encode()}, {leak: 1}]
    }

    assert [secrets_in(text) != set() for text in texts["interactions"]] == [True, True, True]


REQUESTS: list[tuple[dict[str, str], bytes, dict[str, str], bytes]] = [
    ({"Authorization": f"Bearer {TOKEN}"}, b"", {"Authorization": "scrubbed"}, b""),
    ({"authorization": f"Basic {BASIC}"}, b"", {"authorization": "scrubbed"}, b""),
    ({"Cookie": f"user={COOKIE}"}, b"", {"Cookie": "scrubbed"}, b""),
    ({"X-API-Key": "k"}, b"", {"X-API-Key": "scrubbed"}, b""),
    ({"User-Agent": "python", "Accept": "*/*"}, b"", {"Accept": "*/*"}, b""),
    ({"mcp-session-id": "0f" * 16}, b"", {"mcp-session-id": "session-1"}, b""),
    ({}, f'{{"text":"{TOKEN}"}}'.encode(), {}, b'{"text":"scrubbed"}'),
    ({}, f"client_secret={CLIENT_SECRET}&a=b".encode(), {}, b"client_secret=scrubbed&a=b"),
    ({}, b"grant_type=x&code=c0de&code_verifier=v", {}, b"grant_type=x&code=scrubbed&code_verifier=scrubbed"),
    ({}, b"client_assertion=eyJh.b.c&a=b", {}, b"client_assertion=scrubbed&a=b"),
    ({}, b'{"access_token": "a", "b": 1}', {}, b'{"access_token": "scrubbed", "b": 1}'),
    ({}, b"id: 4a785103-9b5d-4f68-a09a-7ad196196631", {}, b"id: 00000000-0000-4000-8000-000000000001"),
]


@pytest.mark.parametrize(("headers", "body", "kept", "left"), REQUESTS)
def test_what_is_secret_or_varies_is_scrubbed_and_a_second_time_changes_nothing(
    headers: dict[str, str], body: bytes, kept: dict[str, str], left: bytes
) -> None:
    scrubber = Scrubber(SECRETS)
    once = scrubber.request(Request("POST", URL, body, headers))
    seen = (dict(once.headers), once.body)
    answer = {"headers": {name: [value] for name, value in headers.items()}, "body": {"string": body}}
    answered = scrubber.response(answer)
    again = scrubber.request(once)

    assert seen == (kept, left)
    assert answered == {
        "headers": {name: [value] for name, value in kept.items()},
        "body": {"string": left},
    }
    assert (dict(again.headers), again.body) == seen
    assert scrubber.response(answered) == answered


def test_different_sessions_stay_different() -> None:
    scrubber = Scrubber(SECRETS)
    sent = [Request("POST", URL, b"", {"mcp-session-id": name}) for name in ("a", "b", "a")]

    assert [scrubber.request(request).headers["mcp-session-id"] for request in sent] == [
        "session-1",
        "session-2",
        "session-1",
    ]


# -- what there is ----------------------------------------------------------------------------------

Kinds = dict[str, set[Any]]


def kinds_of(name: str) -> Kinds:
    """What the answers of one cassette are."""
    exchanges = yaml.safe_load((CASSETTES / f"{name}.yaml").read_text(encoding="utf-8"))["interactions"]
    answers = [exchange["response"] for exchange in exchanges]
    forms = [answer["headers"].get("content-type", [""])[0] for answer in answers if answer["body"]["string"]]
    versions = [exchange["request"]["headers"].get("mcp-protocol-version", [""])[0] for exchange in exchanges]
    return {
        "statuses": {answer["status"]["code"] for answer in answers},
        "forms": {form.partition(";")[0] for form in forms},
        "versions": set(filter(None, versions)),
    }


JSON, SSE = "application/json", "text/event-stream"
THERE_IS: dict[str, tuple[set[int], set[str], set[str]]] = {
    "test_a_session_of_the_sdks_server[2025-11-25-json]": ({200, 202}, {JSON}, {"2025-11-25"}),
    "test_a_session_of_the_sdks_server[2025-11-25-sse]": ({200, 202}, {SSE}, {"2025-11-25"}),
    "test_a_session_of_the_sdks_server[2026-07-28-json]": ({200}, {JSON}, {"2026-07-28"}),
    # A modern server of the SDK streams only where there is something to tell before the answer.
    "test_a_session_of_the_sdks_server[2026-07-28-sse]": ({200}, {JSON, SSE}, {"2026-07-28"}),
    "test_a_session_of_the_reference_server": ({200, 202, 400}, {JSON, SSE}, {"2025-11-25", "2026-07-28"}),
    "test_a_server_that_lets_nobody_in[2025-11-25]": ({401}, {JSON}, set()),
    "test_a_server_that_lets_nobody_in[2026-07-28]": ({401}, {JSON}, {"2026-07-28"}),
    "test_a_session_that_the_server_forgot_is_begun_anew[json]": ({200, 202, 404}, {JSON}, {"2025-11-25"}),
    "test_a_session_that_the_server_forgot_is_begun_anew[sse]": ({200, 202, 404}, {SSE}, {"2025-11-25"}),
    "test_a_program_that_signs_in[2025-11-25]": ({200, 202, 401}, {JSON}, {"2025-11-25", "2026-07-28"}),
    "test_a_program_that_signs_in[2026-07-28]": ({200, 401}, {JSON}, {"2026-07-28"}),
}


def test_every_cassette_is_of_a_test_and_holds_what_its_name_says() -> None:
    found = {path.stem: kinds_of(path.stem) for path in CASSETTES.glob("*.yaml")}

    assert found == {
        name: {"statuses": statuses, "forms": forms, "versions": versions}
        for name, (statuses, forms, versions) in THERE_IS.items()
    }
    assert {name.partition("[")[0] for name in found} == {
        name for name in vars(test_recorded) if name.startswith("test_")
    }
