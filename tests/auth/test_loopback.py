"""The listener that a browser comes back to after a login."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

import httpx2
import pytest

from mcp_adapters._loopback import Loopback


async def get(uri: str) -> httpx2.Response:
    async with httpx2.AsyncClient() as client:
        return await client.get(uri)


async def test_the_answer_with_the_right_state_counts_and_only_the_first() -> None:
    async with Loopback() as loopback:
        loopback.expect("st4te")
        first = await get(f"{loopback.uri}?code=one&state=st4te&iss=https://a.example")
        second = await get(f"{loopback.uri}?code=two&state=st4te")
        answer = await loopback.answer(5)

    assert answer == {"code": "one", "state": "st4te", "iss": "https://a.example"}
    assert (first.status_code, second.status_code) == (200, 400)
    assert "code" not in first.text
    assert first.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("tail", "status"),
    [
        ("?code=x&state=other", 400),
        ("?code=x", 400),
        ("", 400),
        ("/more?code=x&state=st4te", 404),
        ("?error=access_denied&state=other", 400),
        ("?code=x&state=st%C3%A4te", 400),
    ],
)
async def test_what_belongs_to_no_login_is_refused_and_ends_nothing(tail: str, status: int) -> None:
    async with Loopback() as loopback:
        loopback.expect("st4te")
        response = await get(loopback.uri + tail)
        with pytest.raises(TimeoutError):
            await loopback.answer(0.01)

    assert response.status_code == status


async def test_before_a_login_has_begun_nothing_is_taken() -> None:
    async with Loopback() as loopback:
        response = await get(f"{loopback.uri}?code=x&state=")

    assert response.status_code == 400


async def test_it_listens_on_this_machine_alone_and_is_gone_afterwards() -> None:
    async with Loopback() as loopback:
        parts = urlsplit(loopback.uri)
        assert parts.hostname == "127.0.0.1"
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", parts.port)


async def test_the_port_that_is_asked_for_is_taken_when_it_is_free() -> None:
    async with Loopback() as first:
        port = urlsplit(first.uri).port
        async with Loopback(preferred_port=port) as second:
            assert urlsplit(second.uri).port != port
        with pytest.raises(OSError, match="in use"):
            async with Loopback(uri=f"http://localhost:{port}/back"):
                pass
    async with Loopback(preferred_port=port) as again:
        assert again.uri == f"http://127.0.0.1:{port}/callback"
    async with Loopback(uri=f"http://localhost:{port}/back") as fixed:
        fixed.expect("s")
        assert (await get(f"http://127.0.0.1:{port}/back?state=s&code=c")).status_code == 200
        assert fixed.uri == f"http://localhost:{port}/back"


@pytest.mark.parametrize("sent", [b"nonsense\r\n\r\n", b"POST /callback HTTP/1.1\r\n\r\n", b"x" * 40_000])
async def test_noise_is_answered_or_dropped_and_ends_nothing(sent: bytes) -> None:
    async with Loopback() as loopback:
        loopback.expect("s")
        port = urlsplit(loopback.uri).port
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        writer.write_eof()
        try:
            answer = await reader.read()
        except ConnectionResetError:
            answer = b""
        writer.close()
        await get(f"{loopback.uri}?state=s&code=c")

        assert answer == b"" or answer.startswith(b"HTTP/1.1 404")
        assert await loopback.answer(5) == {"state": "s", "code": "c"}
