"""Programs of this folder, imported once and forked for each run: a new process in no time.

`python -m tests.asking.warm MODULE...` imports modules of this folder, and for each line on its input, which is
a module's name and arguments as JSON, has a fork of it be that program. Answers each with its exit code and
what it wrote, as JSON.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import subprocess
import sys
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def main() -> None:
    warnings.simplefilter("ignore")
    programs = {name: importlib.import_module(f"tests.asking.{name}") for name in sys.argv[1:]}
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        source, sink = os.pipe()
        if os.fork() == 0:
            os.close(source)
            sys.argv = [name, *arguments]
            said = json.dumps(outcome(programs[name]))
            with os.fdopen(sink, "w") as file:
                file.write(said)
            os._exit(0)
        os.close(sink)
        with os.fdopen(source) as file:
            said = file.read()
        os.wait()
        print(said or '["killed", ""]', flush=True)
    os._exit(0)


def outcome(program: Any) -> tuple[str, str]:
    words = io.StringIO()
    try:
        with contextlib.redirect_stdout(words):
            program.main()
    except BaseException:  # whatever it is ends the process that this is
        return "failed", traceback.format_exc()
    return "done", words.getvalue()


class Programs:
    """What a process of its own prints, program by program."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def __call__(self, name: str, *arguments: str) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([name, *arguments]) + "\n")
        self._process.stdin.flush()
        outcome, words = json.loads(self._process.stdout.readline())
        assert outcome == "done", words
        result: dict[str, Any] = json.loads(words.splitlines()[-1])
        return result


@contextlib.contextmanager
def programs(*names: str) -> Iterator[Programs]:
    """Modules of this folder, ready to be run in processes of their own."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.asking.warm", *names],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        yield Programs(process)
        assert process.stdin
        process.stdin.close()


if __name__ == "__main__":
    main()
