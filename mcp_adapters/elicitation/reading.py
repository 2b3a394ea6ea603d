"""Read what a server asks of a person, and check what is answered.

In: the parameters of an `elicitation/create` as JSON, and an answer. Out: frozen values that fit each
other. Nothing here shows anything to anybody: that is the handler's business.

Source: MCP 2025-11-25 and 2026-07-28, client/elicitation.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, get_args
from urllib.parse import urlsplit

from mcp_adapters.asking import ElicitationAction, ElicitationAnswer, ElicitationMode, ElicitationRequest
from mcp_adapters.schema import ArgumentCodec

__all__ = ("check_answer", "read_request", "secret_fields")

_SECRET = re.compile(
    r"pass(word|wd|phrase|code)|secret|credential|api_?key|private_?key|access_?key|token|card_?number|\bcvv\b"
    r"|\bcvc\b|\bpin\b|\bssn\b|\bauth(orization)?\b"
)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def read_request(server: str, params: Mapping[str, Any], *, tool: str | None = None) -> ElicitationRequest:
    """Read the parameters of an `elicitation/create`.

    Args:
        server: The server's key in the configuration.
        params: The parameters as JSON.
        tool: The tool that is being called, when it is known.

    Raises:
        ValueError: They are not of the protocol; the message says what is missing.

    """
    mode, message = params.get("mode", "form"), params.get("message")
    if mode not in get_args(ElicitationMode):
        raise ValueError(f"its mode is {str(mode)[:40]!r}, which is neither 'form' nor 'url'")
    if not isinstance(message, str):
        raise ValueError("it has no message")
    wanted, kind = ("url", str) if mode == "url" else ("requestedSchema", Mapping)
    if not isinstance(params.get(wanted), kind):
        raise ValueError(f"it has no {wanted}")
    if mode == "url" and not _is_page(params["url"]):
        raise ValueError("its url is no address of a page")
    return ElicitationRequest(
        server=server,
        message=message,
        mode=mode,
        schema=params["requestedSchema"] if mode == "form" else None,
        url=params["url"] if mode == "url" else None,
        tool=tool,
        elicitation_id=identifier if isinstance(identifier := params.get("elicitationId"), str) else None,
    )


def _is_page(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and url.isprintable()
    except ValueError:
        return False


def secret_fields(request: ElicitationRequest) -> tuple[str, ...]:
    """The fields of a form whose names or formats speak of a secret, which servers must not ask for so.

    Source: MCP 2025-11-25, client/elicitation, "Security Considerations".
    """
    return tuple(name for name, schema in request.fields.items() if _is_secret(name, schema))


def _is_secret(name: str, schema: Mapping[str, Any]) -> bool:
    title = schema.get("title")
    if schema.get("format") == "password":
        return True
    if schema.get("type") not in ("string", "integer", "number"):
        return False
    texts = (name, title if isinstance(title, str) else "")
    return any(
        _SECRET.search(_HUMP.sub("_", text).lower().replace("-", "_").replace(" ", "_")) for text in texts
    )


def check_answer(request: ElicitationRequest, answer: object) -> ElicitationAnswer:
    """Make sure that an answer is one to this question.

    Args:
        request: The question.
        answer: What the handler gave.

    Returns:
        The answer, without content unless it accepts a form.

    Raises:
        ValueError: It is no answer, or its content breaks the form; the message names every problem.

    """
    if not isinstance(answer, ElicitationAnswer):
        raise ValueError(f"the handler gave {type(answer).__name__} instead of an ElicitationAnswer")
    if answer.action not in get_args(ElicitationAction):
        raise ValueError(f"the handler gave the action {answer.action!r}; use accept, decline or cancel")
    if answer.action != "accept" or request.mode == "url":
        return ElicitationAnswer(action=answer.action)
    content = {} if answer.content is None else dict(answer.content)
    fitted = ArgumentCodec(json.dumps(request.schema)).decode(content)
    problems = [f"{name!r} is not asked for" for name in content if name not in request.fields]
    problems += [f"{problem.pointer or 'the form'} must be {problem.accepted}" for problem in fitted.problems]
    if problems:
        raise ValueError(f"the answer does not fit the form: {'; '.join(problems)}")
    return ElicitationAnswer(action="accept", content=fitted.arguments)
