"""An interrupt cancels what a thread waits for, at whatever moment it comes."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from typing import Any

import pytest

from mcp_adapters._portal import Portal, portal

MOMENTS = (
    "before it is handed over",
    "after it began, before its future is handed back",
    "while its result is waited for",
)


class Work:
    """Something that goes on until it is cancelled."""

    def __init__(self) -> None:
        self.began = threading.Event()
        self.cancelled = threading.Event()

    async def run(self) -> None:
        self.began.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise


@pytest.fixture
def work() -> Work:
    return Work()


def interrupt(work: Work, moment: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the waiting thread interrupted at that moment, as a signal does between two instructions."""
    submit = Portal.submit

    def interrupted(self: Portal, *args: Any, **kwargs: Any) -> Future[Any]:
        if moment == MOMENTS[0]:
            raise KeyboardInterrupt
        future = submit(self, *args, **kwargs)
        assert work.began.wait(60)
        if moment == MOMENTS[1]:
            raise KeyboardInterrupt
        monkeypatch.setattr(future, "result", _raise)
        return future

    monkeypatch.setattr(Portal, "submit", interrupted)


def _raise() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("moment", MOMENTS)
def test_an_interrupt_leaves_nothing_running(
    work: Work, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        interrupt(work, moment, patched)
        with pytest.raises(KeyboardInterrupt):
            portal().run(work.run)

    began = moment != MOMENTS[0]
    assert work.began.is_set() is began
    assert work.cancelled.wait(60 if began else 0) is began


def test_work_that_is_given_up_before_its_turn_never_begins(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loop is busy while the work is handed over and the interrupt comes."""
    busy, free = threading.Event(), threading.Event()

    async def occupy() -> None:
        busy.set()
        assert free.wait(60)

    occupied = portal().submit(occupy)
    assert busy.wait(60)
    submit = Portal.submit

    def interrupted(self: Portal, *args: Any, **kwargs: Any) -> Future[Any]:
        submit(self, *args, **kwargs)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Portal, "submit", interrupted)
        with pytest.raises(KeyboardInterrupt):
            portal().run(work.run)
    free.set()
    occupied.result(60)

    assert portal().run(_one) == 1
    assert not work.began.is_set()


async def _one() -> int:
    return 1


def test_an_error_of_the_work_reaches_the_caller_and_the_loop_goes_on() -> None:
    async def fail() -> None:
        raise LookupError("not here")

    with pytest.raises(LookupError, match="not here"):
        portal().run(fail)

    assert portal().run(_one) == 1
