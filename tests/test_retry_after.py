"""When a server says how long to wait, in seconds or as a date."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest
from starlette.responses import Response

from mcp_adapters import Toolbox, ToolExecutionError
from mcp_adapters._verdicts import verdict

from .web import Seen, Web, tools_app

NOW = "Sun, 06 Nov 1994 08:49:37 GMT"
WAITS: dict[str, tuple[str, float | None]] = {
    "seconds": ("7", 7.0),
    "no seconds": ("0", 0.0),
    "the date that everybody sends": ("Sun, 06 Nov 1994 08:51:37 GMT", 120.0),
    "the date of RFC 850": ("Sunday, 06-Nov-94 08:51:37 GMT", 120.0),
    "the date of asctime": ("Sun Nov  6 08:51:37 1994", 120.0),
    "another zone": ("Sun, 06 Nov 1994 09:51:37 +0100", 120.0),
    "a date that is over": ("Sun, 06 Nov 1994 08:00:00 GMT", 0.0),
    "now": (NOW, 0.0),
    "nothing": ("", None),
    "a word": ("soon", None),
    "less than nothing": ("-1", None),
    "a fraction": ("1.5", None),
    "more digits than a number of seconds has": ("9" * 400, None),
    "no such hour": ("Sun, 06 Nov 1994 99:51:37 GMT", None),
    "no such year": ("Sun, 06 Nov 99999 08:51:37 GMT", None),
    "no such zone": ("Sun, 06 Nov 1994 08:51:37 +99999999", None),
}


@pytest.mark.parametrize(("value", "seconds"), WAITS.values(), ids=WAITS)
async def test_the_wait_is_counted_from_the_moment_of_the_answer(value: str, seconds: float | None) -> None:
    assert await wait_of({"Retry-After": value, "Date": NOW}) == seconds


@pytest.mark.parametrize("headers", [{}, {"Date": "yesterday"}])
async def test_a_server_without_a_clock_means_ours(headers: dict[str, str]) -> None:
    past = await wait_of({"Retry-After": "Sun, 06 Nov 1994 08:51:37 GMT", **headers})
    future = await wait_of({"Retry-After": "Sun, 06 Nov 9994 08:51:37 GMT", **headers})

    assert past == 0.0
    assert future is not None
    assert future > 1e9


async def test_a_server_that_does_not_say_is_not_waited_for() -> None:
    assert await wait_of({"Date": NOW}) is None


def test_a_date_reaches_whoever_called() -> None:
    busy = Response(status_code=503, headers={"Retry-After": NOW})

    def refuse(seen: Seen) -> Response | None:
        return busy if seen.rpc == "tools/call" else None

    with Web(tools_app()) as web, Toolbox({"web": web.mcp}, call_timeout=20.0) as toolbox:
        web.front.script = refuse
        with pytest.raises(ToolExecutionError) as caught:
            toolbox.call("web_echo", {"text": "x"})

    assert (caught.value.status, caught.value.retry_after) == (503, 0.0)
    assert "wait 0 s" in str(caught.value)


async def wait_of(headers: dict[str, str]) -> Any:
    request = httpx2.Request("POST", "http://server.invalid/mcp")
    response = httpx2.Response(429, headers=headers, request=request)
    fault = await verdict(request, response, advice="", redact=str, shown=str)
    assert fault is not None
    return fault.retry_after
