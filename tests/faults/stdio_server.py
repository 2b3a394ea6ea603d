"""A fault server over standard input and output: `python -S -E stdio_server.py SCRIPT.json`.

Every request is answered in a thread of its own, so that one that hangs delays no other.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Any

from protocol import Json, Server, Step

_output = threading.Lock()
_wake_end, _wake = os.pipe()
_closed = threading.Event()
_stopping = threading.Event()
"""Whether the input is to stay open, although nobody reads it."""


def main() -> None:
    server = Server(sys.argv[1])
    for line in _lines():
        message: Json = json.loads(line)
        server.receive(message)
        if "id" in message and "method" in message:
            threading.Thread(target=_answer, args=(server, message), daemon=True).start()
    if not _closed.is_set():
        server.record("eof")
        if "eof" not in server.script.get("ignore", ()):
            os._exit(0)
    while True:
        signal.pause()


def _lines() -> Iterator[bytes]:
    """The lines of the input, until its end or until a fault wants it closed."""
    pending = b""
    while _wake_end not in select.select([0, _wake_end], [], [])[0]:
        chunk = os.read(0, 1 << 16)
        if not chunk:
            return
        *lines, pending = (pending + chunk).split(b"\n")
        yield from lines
    if not _stopping.is_set():
        _replace(0)
    _closed.set()


def _replace(number: int) -> None:
    """Close a stream; its number stays taken, or the next file would get it."""
    os.dup2(os.open(os.devnull, os.O_RDWR), number)


def _answer(server: Server, request: Json) -> None:
    for step in server.steps(request):
        _perform(server, step)


def _perform(server: Server, step: Step) -> None:
    match step:
        case ("send", message):
            _write(json.dumps(message).encode() + b"\n")
        case ("raw", data):
            _write(data)
        case ("wait", until):
            server.wait(until)
        case ("exit", code):
            os._exit(code)
        case ("kill",):
            os.kill(os.getpid(), signal.SIGKILL)
        case ("close" | "stop_reading" | "complain", *rest):
            _on_streams(step[0], rest)
        case _:
            raise ValueError(f"a pipe cannot do {step!r}")


def _on_streams(verb: str, rest: list[Any]) -> None:
    match [verb, *rest]:
        case ["close", "output"]:
            _replace(1)
        case ["complain", kilobytes]:
            for number in range(kilobytes):
                os.write(2, f"{number:1023}\n".encode())
        case [verb, *_]:
            if verb == "stop_reading":
                _stopping.set()
            os.write(_wake, b"!")
            _closed.wait()


def _write(data: bytes) -> None:
    with _output:
        while data:
            data = data[os.write(1, data) :]


if __name__ == "__main__":
    main()
