"""Time the check, the projections and the way back over the tools of real servers.

Usage: python benchmarks/schemas.py FOLDER

FOLDER holds JSON files, each an object with `tools` as `tools/list` gives them. Prints the time for
one tool in milliseconds: median, 99th percentile and largest.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from mcp_adapters.schema import ArgumentCodec, Dialect, check, project

if TYPE_CHECKING:
    from collections.abc import Callable


def main(folder: str) -> None:
    """Print a line for each step."""
    tools = [
        tool
        for file in sorted(Path(folder).glob("*.json"))
        for tool in json.loads(file.read_text()).get("tools", [])
    ]
    raw = [tool.get("inputSchema") for tool in tools]
    check({"type": "object"})  # the meta-schema is compiled once
    print(f"{len(raw)} tools, {sum(len(json.dumps(one)) for one in raw):,} characters; milliseconds for each")
    _report("check", raw, check)
    schemas = [schema for schema in (check(one).schema for one in raw) if schema is not None]
    for dialect in get_args(Dialect):
        _report(f"project {dialect}", schemas, lambda schema, to=dialect: project(schema, to))
    codecs = [ArgumentCodec(json.dumps(schema)) for schema in schemas]
    _report("first decode", codecs, lambda codec: codec.decode({}))
    _report("next decode", codecs, lambda codec: codec.decode({}))


def _report(step: str, values: list[Any], work: Callable[[Any], object]) -> None:
    times = []
    for value in values:
        start = time.perf_counter()
        work(value)
        times.append((time.perf_counter() - start) * 1e3)
    times.sort()
    high = times[int(len(times) * 0.99)]
    print(f"{step:24} median {statistics.median(times):8.3f}   99 % {high:8.3f}   largest {times[-1]:8.3f}")


if __name__ == "__main__":
    main(sys.argv[1])
