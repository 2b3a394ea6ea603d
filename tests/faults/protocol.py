"""What the fault servers say and do: requests in, steps out; the transports carry the steps out.

A server is described by a script, a JSON object:

    ledger    a file that gets one JSON line for each start, message, child and abort
    era       "legacy": the initialize handshake; "modern": 2026-07-28 (default: "legacy")
    tools     names of the tools besides `do` (default: none); each answers "ok"
    on        faults by method, as {"tools/list": {"fault": "hang"}}
    starts    for the first, second, ... start: what to change in this script; the last one stays
    ignore    any of "eof", "sigterm": what the process does not end at
    at_start  "exit": end at once with code 3; "child", "sessionless_child": as the faults of these names
    answers   over HTTP: "json" or "sse" (default: "json")

A fault is an object with the key `fault` and options. The tool `do` takes one as its arguments, next
to an `id` that the ledger repeats, so that a call that ran twice is seen. The faults are:

    none, exit_before, exit_after (code), kill, hang, late (until), twice, wrong_id, garbage, not_utf8,
    huge (megabytes), cut, half_line, close_output, close_input, error (code), no_result, child,
    sessionless_child, progress (count, every), log, tools_changed (tools)
    only over pipes: stop_reading (the input stays open), complain (kilobytes, on standard error)
    only over HTTP: status (status), not_mcp, hang_up, reset, drop_stream, lose_session, stop_listening

`until` is a number of seconds or an event of the ledger: "cancelled" or "aborted" of this request, or
a method that was received; "signal" is the signal SIGUSR1.
"""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

Json = dict[str, Any]
Step = tuple[Any, ...]
"""A verb and its object: ("send", message), ("raw", bytes), ("wait", seconds or None), and so on."""

MODERN = "2026-07-28"
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CACHED: Json = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}


class Server:
    """One process's memory: its script, its ledger, and what it has seen."""

    def __init__(self, path: str) -> None:
        with open(path) as file:
            script: Json = json.load(file)
        self._ledger = script["ledger"]
        if starts := script.get("starts"):
            script.update(starts[min(self._earlier_starts(), len(starts) - 1)])
        self.script = script
        self.tools: list[str] = script.get("tools", [])
        self._seen: set[str] = set()
        self._news = threading.Condition()
        if "sigterm" in script.get("ignore", ()):
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGUSR1, lambda *_: self.note("signal"))
        self.record("start")
        self._at_start(script.get("at_start"))

    def _earlier_starts(self) -> int:
        try:
            with open(self._ledger) as file:
                return sum(json.loads(line)["event"] == "start" for line in file)
        except FileNotFoundError:
            return 0

    def _at_start(self, what: str | None) -> None:
        if what == "exit":
            os.write(2, b"the fault server was told to give up\n")
            os._exit(3)
        if what in ("child", "sessionless_child"):
            self.child(own_session=what == "sessionless_child")

    @property
    def modern(self) -> bool:
        return self.script.get("era") == "modern"

    def record(self, event: str, **facts: Any) -> None:
        line = json.dumps({"event": event, "pid": os.getpid(), **facts}) + "\n"
        with open(self._ledger, "a") as file:
            file.write(line)

    def receive(self, message: Json, **facts: Any) -> None:
        """Write a message down, and wake the answers that wait for it."""
        params = message.get("params") or {}
        arguments = params.get("arguments") or {}
        self.record(
            "message",
            method=message.get("method"),
            id=message.get("id"),
            call=arguments.get("id"),
            params=params,
            **facts,
        )
        self.note(str(message.get("method")))
        if message.get("method") == "notifications/cancelled":
            self.note(f"cancelled {params.get('requestId')}")

    def aborted(self, request: Json) -> None:
        """The client hung up on a request that was not answered."""
        self.record("aborted", method=request.get("method"), id=request.get("id"))
        self.note(f"cancelled {request.get('id')}")

    def note(self, what: str) -> None:
        """Wake the answers that wait for `what`."""
        with self._news:
            self._seen.add(what)
            self._news.notify_all()

    def wait(self, until: Any) -> None:
        """Wait some seconds, for something to be seen, or (None) for ever."""
        with self._news:
            if until is None or isinstance(until, int | float):
                self._news.wait_for(lambda: False, until)
            else:
                self._news.wait_for(lambda: until in self._seen)

    def child(self, *, own_session: bool) -> None:
        """Fork a process that holds none of the server's pipes and sleeps until it is killed."""
        pid = os.fork()
        if pid == 0:
            if own_session:
                os.setsid()
            nothing = os.open(os.devnull, os.O_RDWR)
            for number in (0, 1, 2):
                os.dup2(nothing, number)
            os.closerange(3, 256)
            self.record("child", own_session=own_session)
            while True:
                signal.pause()

    def steps(self, request: Json) -> Iterator[Step]:
        """What happens when `request` comes in."""
        params = request.get("params") or {}
        fault = self.script.get("on", {}).get(request["method"], {})
        if request["method"] == "tools/call" and params.get("name") == "do":
            fault = fault or params.get("arguments") or {}
        reply = {"jsonrpc": "2.0", "id": request["id"], **self._outcome(request["method"], params)}
        yield from FAULTS[fault.get("fault", "none")](self, request, reply, fault)

    def _outcome(self, method: str, params: Json) -> Json:
        if self.modern and VERSION_KEY not in (params.get("_meta") or {}):
            data = {"supported": [MODERN], "requested": params.get("protocolVersion")}
            return {"error": {"code": -32022, "message": "this server speaks 2026-07-28", "data": data}}
        if method == "server/discover" and self.modern:
            return {"result": {**CACHED, "supportedVersions": [MODERN], **INTRODUCTION}}
        if method == "initialize":
            return {"result": {"protocolVersion": params["protocolVersion"], **INTRODUCTION}}
        if method == "tools/list":
            return {
                "result": {**(CACHED if self.modern else {}), "tools": [DO, *map(plain_tool, self.tools)]}
            }
        if method == "tools/call":
            return {"result": self._result(params)}
        return {"error": {"code": -32601, "message": f"Method not found: {method}"}}

    def _result(self, params: Json) -> Json:
        arguments = params.get("arguments") or {}
        return {
            **({"resultType": "complete"} if self.modern else {}),
            "content": [{"type": "text", "text": str(arguments.get("id", "ok"))}],
        }

    def notification(self, method: str, params: Json) -> Json:
        return {"jsonrpc": "2.0", "method": method, "params": params}


INTRODUCTION: Json = {
    "capabilities": {"tools": {"listChanged": True}, "logging": {}},
    "serverInfo": {"name": "faults", "version": "1"},
}
DO: Json = {
    "name": "do",
    "description": "Misbehaves as it is told.",
    "inputSchema": {
        "type": "object",
        "properties": {"id": {"type": "string"}, "fault": {"type": "string"}},
        "required": ["id"],
    },
}


def plain_tool(name: str) -> Json:
    return {"name": name, "description": f"Says ok as {name}.", "inputSchema": {"type": "object"}}


# -- the faults: each gets the server, the request, its right answer and its options ------------------

Fault = Callable[[Server, Json, Json, Json], Iterator[Step]]


def _plainly(*steps: Callable[[Json, Json], Step]) -> Fault:
    """A fault whose steps follow from the answer and the options alone."""

    def fault(_server: Server, _request: Json, reply: Json, options: Json) -> Iterator[Step]:
        for step in steps:
            yield step(reply, options)

    return fault


def _send(reply: Json, _options: Json) -> Step:
    return ("send", reply)


def _exit(_reply: Json, options: Json) -> Step:
    return ("exit", options.get("code", 7))


def _hang(_reply: Json, _options: Json) -> Step:
    return ("wait", None)


def _raw(data: bytes) -> Callable[[Json, Json], Step]:
    return lambda _reply, _options: ("raw", data)


def _verb(*step: Any) -> Callable[[Json, Json], Step]:
    return lambda _reply, _options: step


def _late(_server: Server, request: Json, reply: Json, options: Json) -> Iterator[Step]:
    until = options["until"]
    yield ("wait", f"cancelled {request['id']}" if until in ("cancelled", "aborted") else until)
    yield ("send", reply)


def _huge(_server: Server, _request: Json, reply: Json, options: Json) -> Iterator[Step]:
    text = "x" * (options.get("megabytes", 50) * 1_000_000)
    result = {**reply["result"], "content": [{"type": "text", "text": text}]}
    yield ("send", {**reply, "result": result})


def _error(_server: Server, request: Json, _reply: Json, options: Json) -> Iterator[Step]:
    error = {"code": options.get("code", -32603), "message": "told to refuse"}
    yield ("send", {"jsonrpc": "2.0", "id": request["id"], "error": error})


def _child(server: Server, _request: Json, reply: Json, options: Json) -> Iterator[Step]:
    server.child(own_session=options["fault"] == "sessionless_child")
    yield ("send", reply)


def _progress(server: Server, request: Json, reply: Json, options: Json) -> Iterator[Step]:
    token = (request["params"].get("_meta") or {}).get("progressToken")
    count = options.get("count", 3)
    for done in range(1, count + 1):
        yield ("wait", options.get("every", 0))
        report = {"progressToken": token, "progress": done, "total": count}
        yield ("send", server.notification("notifications/progress", report))
    yield ("wait", options.get("every", 0))
    yield ("send", reply)


def _log(server: Server, _request: Json, reply: Json, _options: Json) -> Iterator[Step]:
    for data in ("a text", {"an": "object"}, None):
        params = {"level": "warning", "logger": "faults", "data": data}
        yield ("send", server.notification("notifications/message", params))
    yield ("send", reply)


def _tools_changed(server: Server, _request: Json, reply: Json, options: Json) -> Iterator[Step]:
    server.tools = options["tools"]
    yield ("send", server.notification("notifications/tools/list_changed", {}))
    yield ("send", reply)


FAULTS: dict[str, Fault] = {
    "none": _plainly(_send),
    "exit_before": _plainly(_exit),
    "exit_after": _plainly(_send, _exit),
    "kill": _plainly(_verb("kill")),
    "hang": _plainly(_hang),
    "late": _late,
    "twice": _plainly(_send, _send),
    "wrong_id": _plainly(lambda reply, _: ("send", {**reply, "id": 987_654_321})),
    "garbage": _plainly(_raw(b'\n  \n[1, 2]\n17\n{"level": "info"}\n{broken\n\x00\x01\n'), _send),
    "not_utf8": _plainly(_raw(b"\xff\xfe caf\xe9 \x80\n"), _send),
    "huge": _huge,
    "cut": _plainly(_raw(b'{"jsonrpc": "2.0", "id": 1, "resu'), _exit),
    "half_line": _plainly(_raw(b"debug: about to answer "), _send),
    "close_output": _plainly(_verb("close", "output"), _hang),
    "close_input": _plainly(_verb("close", "input"), _send),
    "stop_reading": _plainly(_verb("stop_reading"), _send),
    "complain": _plainly(lambda _, options: ("complain", options["kilobytes"]), _send),
    "error": _error,
    "no_result": _plainly(lambda reply, _: ("send", {**reply, "result": {"content": 17}})),
    "child": _child,
    "sessionless_child": _child,
    "progress": _progress,
    "log": _log,
    "tools_changed": _tools_changed,
    "status": _plainly(lambda _, options: ("status", options["status"])),
    "not_mcp": _plainly(_verb("html")),
    "hang_up": _plainly(_verb("hang_up")),
    "reset": _plainly(_verb("reset")),
    "drop_stream": _plainly(_verb("comment"), _verb("hang_up")),
    "lose_session": _plainly(_verb("lose_session"), _send),
    "stop_listening": _plainly(_verb("stop_listening"), _send),
}
