"""The way of a call: arguments in, the server's answer out, on whatever thread or loop it is made.

In: a tool's spec and a model's arguments. Out: a `ToolResult`, or an error of the family. Arguments
are decoded and results are read where the caller is, inside the interceptors; only the request
itself crosses to the background loop. Nothing is sent twice unless an interceptor does so.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, get_args

from mcp_adapters._chain import Chain
from mcp_adapters._connection import Connection
from mcp_adapters._handlers import Messenger, running_loop
from mcp_adapters._portal import portal
from mcp_adapters._repeats import Repeats
from mcp_adapters._resource_tools import Reader
from mcp_adapters._tracing import Operation, tool_call
from mcp_adapters.errors import (
    ConfigError,
    InvalidArgumentsError,
    InvalidResultError,
    ToolboxClosedError,
    ToolExecutionError,
    ToolNotFoundError,
)
from mcp_adapters.filtering import ToolFilter
from mcp_adapters.interception import CallRequest, Interceptor
from mcp_adapters.naming import Identity
from mcp_adapters.outputs import OutputCheck, OutputSchemaMode, describe_mismatch
from mcp_adapters.results import StructuredMode, read_result
from mcp_adapters.schema import ArgumentCodec, describe
from mcp_adapters.spec import CallAnswers, OnProgress, OnToolError, Progress, ToolResult, ToolSpec

__all__ = ("CallOptions", "Calls")

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOptions:
    """What the user decided about calls; `Toolbox` explains each.

    Raises:
        ConfigError: A value is not one of those that are accepted.

    """

    on_tool_error: OnToolError = "return"
    structured: StructuredMode = "auto"
    output_schema: OutputSchemaMode = "warn"
    max_result_chars: int | None = None
    max_identical_failures: int | None = None
    interceptors: tuple[Interceptor, ...] = ()
    retry_safe: ToolFilter | None = None
    trace_content: bool = False

    def __post_init__(self) -> None:
        _require_choice("on_tool_error", self.on_tool_error, get_args(OnToolError))
        _require_choice("structured", self.structured, get_args(StructuredMode))
        _require_choice("output_schema", self.output_schema, get_args(OutputSchemaMode))
        _require_count("max_result_chars", self.max_result_chars)
        _require_count("max_identical_failures", self.max_identical_failures)
        for interceptor in self.interceptors:
            if not callable(interceptor):
                raise ConfigError(f"interceptors must be functions; {interceptor!r} is none")


def _require_choice(option: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ConfigError(f"{option} is {value!r}; use one of {', '.join(map(repr, choices))}")


def _require_count(option: str, value: object) -> None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value > 0):
        return
    raise ConfigError(f"{option} is {value!r}; use a positive number, or None for no limit")


class Calls:
    """Carries out the calls of one toolbox's tools; it is their `Caller`.

    Args:
        options: What the user decided.
        progressed: Is told of the progress of every call, on the background loop.

    """

    def __init__(self, options: CallOptions, *, progressed: Callable[[Progress], None]) -> None:
        self._options = options
        self.progressed = progressed
        self._chain = Chain(options.interceptors)
        self._repeats = Repeats(options.max_identical_failures)
        self._outputs: dict[tuple[Identity, str], OutputCheck] = {}
        self._warned: dict[tuple[Identity, str], object] = {}
        self._codecs: Mapping[Identity, ArgumentCodec] = {}
        self._connections: Mapping[str, Connection] | None = None
        self.home: Any = None
        """The toolbox; what travels to another process is the way to its calls there."""
        self.wake: Callable[[], Awaitable[None]] | None = None
        """Opens the toolbox at the first call; None where that is the user's business."""
        self.verify: Callable[[str], Awaitable[None]] = _nothing_to_verify
        """Makes sure that a server offers what its stored listing says; on the background loop."""
        self.reader: Callable[[str, str], Reader | None] = _no_reader
        """What carries out a tool that stands for reading resources; None for the server's own tools."""

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (self.home, "_calls")

    def begin(self, codecs: Mapping[Identity, ArgumentCodec], connections: Mapping[str, Connection]) -> None:
        """Serve these tools over these connections from now on."""
        self._codecs, self._connections = codecs, connections

    def end(self) -> None:
        """Refuse every further call."""
        self._codecs, self._connections = {}, None

    def call(
        self,
        spec: ToolSpec,
        arguments: Mapping[str, Any] | None,
        *,
        timeout: float | None = None,
        context: Mapping[str, Any] | None = None,
        on_progress: OnProgress | None = None,
        resume: CallAnswers | None = None,
    ) -> ToolResult:
        """Call and wait; see `Tool.call`."""
        if self._connections is None and self.wake is not None:
            portal().run(self.wake)
        with self._traced(spec, arguments) as operation:
            request = self._request(spec, arguments, context)
            with Messenger(None) as messenger, self._repeats.watch(request) as watch:
                way = _Way(self, spec, timeout, messenger, on_progress, resume)
                watch.result = self._chain.run(request, way.send, way.asend)
            self._told(operation, watch.result)
        return self._final(spec, watch.result)

    async def acall(
        self,
        spec: ToolSpec,
        arguments: Mapping[str, Any] | None,
        *,
        timeout: float | None = None,
        context: Mapping[str, Any] | None = None,
        on_progress: OnProgress | None = None,
        resume: CallAnswers | None = None,
    ) -> ToolResult:
        """Call and await; see `Tool.acall`."""
        if self._connections is None and self.wake is not None:
            await portal().arun(self.wake)
        with self._traced(spec, arguments) as operation:
            request = self._request(spec, arguments, context)
            way = _Way(self, spec, timeout, Messenger(running_loop()), on_progress, resume)
            with self._repeats.watch(request) as watch:
                watch.result = await self._chain.arun(request, way.asend)
            self._told(operation, watch.result)
        return self._final(spec, watch.result)

    @contextmanager
    def _traced(self, spec: ToolSpec, arguments: Mapping[str, Any] | None) -> Iterator[Operation]:
        with tool_call(spec.server, spec.remote_name, spec.exposed_name) as operation:
            if self._options.trace_content:
                operation.content("gen_ai.tool.call.arguments", arguments or {})
            yield operation

    def _told(self, operation: Operation, result: ToolResult) -> None:
        if result.is_error:
            operation.fail("tool_error")
        if self._options.trace_content:
            operation.content("gen_ai.tool.call.result", result.text)

    def _request(
        self, spec: ToolSpec, arguments: Mapping[str, Any] | None, context: Mapping[str, Any] | None
    ) -> CallRequest:
        self.route(spec)  # a tool that cannot be called is no business of the interceptors
        return CallRequest(
            server=spec.server,
            tool=spec.remote_name,
            exposed_name=spec.exposed_name,
            # A copy, for interceptors to change; what is no object is refused with all other wrong
            # arguments, later.
            arguments={} if arguments is None else _copied(arguments),
            context=context or {},
            annotations=spec.annotations,
        )

    def route(self, spec: ToolSpec) -> tuple[Connection, ArgumentCodec]:
        """Where the calls of a tool go, and how its arguments are written.

        Raises:
            ToolboxClosedError: The toolbox is not open.
            ToolNotFoundError: The server no longer offers the tool.

        """
        if self._connections is None:
            raise ToolboxClosedError(
                f"the toolbox of tool {spec.exposed_name!r} is closed; open it again or keep it open longer",
                server=spec.server,
                tool=spec.remote_name,
            )
        codec = self._codecs.get((spec.server, spec.remote_name))
        if codec is None:
            raise ToolNotFoundError(
                f"server {spec.server!r} no longer offers the tool {spec.remote_name!r}",
                server=spec.server,
                tool=spec.remote_name,
            )
        return self._connections[spec.server], codec

    async def transmit(
        self, connection: Connection, request: CallRequest, arguments: dict[str, Any], way: _Way
    ) -> dict[str, Any]:
        """Send the call; on the background loop."""
        await self.verify(request.server)
        way.check_still_offered()
        if (reader := self.reader(request.server, request.tool)) is not None:
            return await reader(arguments, way.timeout, request.headers)
        safe = self._options.retry_safe
        return await connection.call(
            request.tool,
            arguments,
            timeout=way.timeout,
            retry_safe=safe is not None and safe.refusal(request.tool, request.annotations) is None,
            headers=request.headers,
            on_progress=way.progressed,
            messenger=way.messenger,
            resume=way.resume,
        )

    def read(self, spec: ToolSpec, answer: Mapping[str, Any]) -> ToolResult:
        """Read the server's answer and compare it with what the tool promises.

        Raises:
            InvalidResultError: It breaks the output schema and that counts.

        """
        result = read_result(answer, structured=self._options.structured, wrapped=spec.wraps_result)
        if spec.output_json is None or result.is_error or self._options.output_schema == "off":
            return result
        self._compare(spec, spec.output_json, result)
        return result

    def _compare(self, spec: ToolSpec, output_json: str, result: ToolResult) -> None:
        # With the schema in the key: a refreshed tool may promise something else.
        key = ((spec.server, spec.remote_name), output_json)
        check = self._outputs.setdefault(key, OutputCheck(output_json))
        problems = check.problems(result.raw)
        if problems and self._options.output_schema == "strict":
            raise InvalidResultError(
                f"{_mismatch(spec)}: {describe_mismatch(problems)}",
                server=spec.server,
                tool=spec.remote_name,
                result=result,
                problems=problems,
            )
        if problems:
            self._warn_once(key, f"{_mismatch(spec)}: {describe_mismatch(problems)}")
        elif check.defect:
            what = f"the output schema of tool {spec.remote_name!r} of server {spec.server!r} cannot be used"
            self._warn_once(key, f"{what}, its results are not checked: {check.defect}")

    def _warn_once(self, key: tuple[Identity, str], message: str) -> None:
        mine = object()
        if self._warned.setdefault(key, mine) is mine:  # one step, so that one of many threads wins
            logger.warning("%s", message)

    def _final(self, spec: ToolSpec, result: ToolResult) -> ToolResult:
        if result.is_error and self._options.on_tool_error == "raise":
            raise ToolExecutionError(
                f"tool {spec.remote_name!r} of server {spec.server!r} failed: {result.text}",
                server=spec.server,
                tool=spec.remote_name,
                result=result,
            )
        return result


def _copied(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    return dict(arguments) if isinstance(arguments, dict) else arguments


class _Way:
    """The end of the chain for one call: validate, send, read."""

    __slots__ = ("_calls", "_on_progress", "_spec", "messenger", "resume", "timeout")

    def __init__(
        self,
        calls: Calls,
        spec: ToolSpec,
        timeout: float | None,
        messenger: Messenger,
        on_progress: OnProgress | None,
        resume: CallAnswers | None,
    ) -> None:
        self._calls = calls
        self._spec = spec
        self.timeout = timeout
        self.messenger = messenger
        self._on_progress = on_progress
        self.resume = resume

    def send(self, request: CallRequest) -> ToolResult:
        connection, arguments = self._prepared(request)
        connection.refuse_blocking()
        answer = portal().run(self._calls.transmit, connection, request, arguments, self)
        return self._calls.read(self._spec, answer)

    async def asend(self, request: CallRequest) -> ToolResult:
        connection, arguments = self._prepared(request)
        answer = await portal().arun(self._calls.transmit, connection, request, arguments, self)
        return self._calls.read(self._spec, answer)

    def check_still_offered(self) -> None:
        self._calls.route(self._spec)

    async def progressed(self, progress: float, total: float | None, message: str | None) -> None:
        news = Progress(
            server=self._spec.server,
            tool=self._spec.remote_name,
            progress=progress,
            total=total,
            message=message,
        )
        self.messenger.tell(self._on_progress, news)
        self._calls.progressed(news)

    def _prepared(self, request: CallRequest) -> tuple[Connection, dict[str, Any]]:
        """Where the call goes, and the arguments as the server wants them."""
        connection, codec = self._calls.route(self._spec)
        if self.resume is not None and self.resume.task is not None:
            return connection, {}  # the server has them already
        decoded = codec.decode(request.arguments)
        if decoded.problems:
            raise InvalidArgumentsError(
                describe(decoded.problems, self._spec.exposed_name),
                server=self._spec.server,
                tool=self._spec.remote_name,
                problems=decoded.problems,
            )
        return connection, decoded.arguments


def _no_reader(_: str, __: str) -> None:
    """Every tool is the server's own."""


async def _nothing_to_verify(_: str) -> None:
    """Every listing was read from its server."""


def _mismatch(spec: ToolSpec) -> str:
    return (
        f"the result of tool {spec.remote_name!r} of server {spec.server!r} does not match its output schema"
    )
