"""A server without any SDK, for tests: it says what a script tells it to say, well-formed or not.

Run as `python wire_server.py SCRIPT.json`. The script is a JSON object:

    tools     the entries of tools/list, as they are to go over the wire
    page      entries for each page (default: all)
    list_changed  true: the server says that it announces changes of its tools
    cursors   "repeat": the same cursor again and again; "endless": always another one
    ledger    a file that gets one JSON line for each process start and each message
    era       "handshake" (default), "modern"; with ", late" the probe is answered only when the
              handshake comes too; "dies of the probe": no answer to it, and the end at the handshake
    answers   what calls are answered with, by tool name: an object with `result` or `error`
    at_start  "exit": end at once with code 3 and a word on stderr; "silent": answer nothing, ever;
              "noise": print text that is no message before and between messages
    question  the parameters of what the tools `ask` and `ask_again` ask
    asks      the method of that question (default: "elicitation/create")
    state     the request state that modern questions carry (default: none)
    listens   false: the server knows no `subscriptions/listen`
    honors    what it says that it will tell of (default: whatever it is asked for)
    offers    further capabilities, such as {"resources": {}}
    replies   what other requests are answered with, by method: a list of objects with `result` or `error`,
              "die" or "hang", one after the other over all processes; the last one again and again

What else a call does follows from the tool's name: `echo` answers its arguments as JSON text, `fail` says
isError, `refuse` answers a JSON-RPC error, `picture` sends text and an image, `structured` sends
structured content, `die` ends the process, `die_once` does so at its first call, `hang` never answers, `log` logs
before it answers, `announce` says that the list of tools has changed, `ask` asks the person and answers what
came back as JSON text, `ask_again` never stops asking, `ask_model` wants a model's word, `visit` does
nothing before a page is visited, `visit_always` not even then, `finish` says that the person is done with it; everything else answers "ok".
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def main() -> None:
    with open(sys.argv[1]) as file:
        script: dict[str, Any] = json.load(file)
    record(script, {"event": "start", "pid": os.getpid()})
    if script.get("at_start") == "exit":
        print("the wire server was told to give up", file=sys.stderr, flush=True)
        sys.exit(3)
    if script.get("at_start") == "noise":
        print("Loading configuration...\n{not json}\n", flush=True)
    held: list[dict[str, Any]] = []
    for line in sys.stdin:
        message = json.loads(line)
        record(script, {"event": "message", "method": message.get("method"), "params": message.get("params")})
        if "id" not in message or "method" not in message or script.get("at_start") == "silent":
            continue
        if message["method"] == "server/discover" and script.get("era", "").endswith(("late", "probe")):
            held.append(message)
            continue
        if message["method"] == "initialize" and held and script["era"] == "dies of the probe":
            sys.exit(1)
        for late in held:
            answer(script, late)
        held.clear()
        answer(script, message)


def record(script: dict[str, Any], entry: dict[str, Any]) -> None:
    if "ledger" in script:
        with open(script["ledger"], "a") as file:
            file.write(json.dumps(entry) + "\n")


def answer(script: dict[str, Any], message: dict[str, Any]) -> None:
    with open(sys.argv[1]) as file:  # the script may have changed since the start
        script = json.load(file)
    method, params = message["method"], message.get("params") or {}
    reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
    modern = script.get("era", "").startswith("modern")
    if method == "server/discover" and modern:
        reply["result"] = {"supportedVersions": ["2026-07-28"], "capabilities": capabilities(script)}
    elif method == "initialize" and modern:
        reply["error"] = {
            "code": -32022,
            "message": "modern only",
            "data": {"supported": ["2026-07-28"], "requested": "x"},
        }
    elif method == "initialize":
        reply["result"] = {
            "protocolVersion": params["protocolVersion"],
            "capabilities": capabilities(script),
            "serverInfo": {"name": "wire", "version": "1"},
            "instructions": "say what you are told",
        }
    elif method == "tools/list":
        reply["result"] = listing(script, params.get("cursor"))
    elif method == "subscriptions/listen" and script.get("listens", True):
        SUBSCRIPTION.append(message["id"])
        about = {"io.modelcontextprotocol/subscriptionId": message["id"]}
        say(
            "notifications/subscriptions/acknowledged",
            {"notifications": script.get("honors", params["notifications"]), "_meta": about},
        )
        return
    elif method == "tools/call":
        if params["name"] == "die_once" and not seen_before(script, "die_once"):
            os._exit(7)
        if params["name"] == "finish":
            say("notifications/elicitation/complete", {"elicitationId": "page-1"})
        if params["name"] == "log":
            say("notifications/message", {"level": "warning", "logger": "wire", "data": {"n": 1}})
        if params["name"] == "announce":
            about = {"io.modelcontextprotocol/subscriptionId": SUBSCRIPTION[0]} if SUBSCRIPTION else {}
            say("notifications/tools/list_changed", {"_meta": about})
        outcome = (
            asked(script, params)
            or scripted(script, params["name"])
            or called(params["name"], params.get("arguments") or {})
        )
        if outcome is None:
            return
        reply.update(outcome)
    elif method in script.get("replies", {}):
        outcome = next_reply(script, method)
        if outcome is None:
            return
        reply.update(outcome)
    else:
        reply["error"] = {"code": -32601, "message": f"Method not found: {method}"}
    text = json.dumps(reply)
    print(("debug: about to answer " if script.get("at_start") == "noise" else "") + text, flush=True)


SUBSCRIPTION: list[Any] = []
PAGE = {"mode": "url", "message": "Sign in", "url": "https://example.com/in", "elicitationId": "page-1"}


def say(method: str, params: dict[str, Any]) -> None:
    print(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}), flush=True)


def capabilities(script: dict[str, Any]) -> dict[str, Any]:
    tools = {"listChanged": True} if script.get("list_changed") else {}
    return {"tools": tools, "logging": {}, **script.get("offers", {})}


def next_reply(script: dict[str, Any], method: str) -> dict[str, Any] | None:
    with open(script["ledger"]) as file:
        number = sum(json.loads(line).get("method") == method for line in file)
    replies = script["replies"][method]
    reply = replies[min(number, len(replies)) - 1]
    if reply == "die":
        os._exit(7)
    return None if reply == "hang" else reply


def seen_before(script: dict[str, Any], tool: str) -> bool:
    with open(script["ledger"]) as file:
        calls = [json.loads(line) for line in file]
    return sum((call.get("params") or {}).get("name") == tool for call in calls) > 1


def listing(script: dict[str, Any], cursor: str | None) -> dict[str, Any]:
    tools, size = script["tools"], script.get("page") or len(script["tools"]) or 1
    start = int(cursor or 0)
    result: dict[str, Any] = {"tools": tools[start : start + size]}
    if script.get("cursors") == "repeat":
        result["nextCursor"] = "0"
    elif script.get("cursors") == "endless":
        result["nextCursor"] = str(start + 1)
    elif start + size < len(tools):
        result["nextCursor"] = str(start + size)
    return result


def asked(script: dict[str, Any], params: dict[str, Any]) -> dict[str, Any] | None:
    if not params["name"].startswith("ask"):
        return None
    question = {"method": script.get("asks", "elicitation/create"), "params": script.get("question")}
    if params["name"] == "ask_model":
        question = {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 10}}
    if not script.get("era", "").startswith("modern"):
        return {"result": {"content": [text(json.dumps(ask(question)))]}}
    if "inputResponses" in params and params["name"] == "ask":
        came = {"answer": params["inputResponses"]["q"], "state": params.get("requestState")}
        return {"result": {"resultType": "complete", "content": [text(json.dumps(came))]}}
    state = {"requestState": script["state"]} if "state" in script else {}
    return {"result": {"resultType": "input_required", "inputRequests": {"q": question}, **state}}


def ask(question: dict[str, Any]) -> Any:
    """Ask the client, as servers of the handshake years do, and wait for what it says."""
    print(json.dumps({"jsonrpc": "2.0", "id": "q", **question}), flush=True)
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("id") == "q":
            return {"answer": message.get("result") or message.get("error")}
    return None


def scripted(script: dict[str, Any], name: str) -> dict[str, Any] | None:
    if name == "visit_always" or (name == "visit" and not seen_before(script, name)):
        return {"error": {"code": -32042, "message": "sign in first", "data": {"elicitations": [PAGE]}}}
    outcome: dict[str, Any] | None = script.get("answers", {}).get(name)
    return outcome


def called(name: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
    if name == "die":
        os._exit(7)
    if name == "hang":
        return None
    if name == "refuse":
        return {"error": {"code": -32602, "message": "bad arguments, says the server"}}
    if name == "fail":
        return {"result": {"content": [text("it did not work")], "isError": True}}
    if name == "picture":
        image = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
        return {"result": {"content": [text("a pixel"), image]}}
    if name == "structured":
        return {"result": {"content": [text("a summary")], "structuredContent": {"rows": [1, 2, 3]}}}
    return {"result": {"content": [text(json.dumps(arguments) if name == "echo" else "ok")]}}


def text(content: str) -> dict[str, Any]:
    return {"type": "text", "text": content}


if __name__ == "__main__":
    main()
