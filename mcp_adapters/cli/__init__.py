"""The command `mcp-adapters`: look at servers, call their tools, check them, find out what is wrong.

In: words of a command line. Out: text for people (tables on a terminal, plain lines in a pipe) or
JSON, and an exit code: 0 when all is well, 1 when something was found or failed, 2 for wrong use. It
needs the extra `cli`; without it one line says what to install.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ("main",)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and end the process with its exit code.

    Args:
        arguments: The words after the program's name; None means those of this process.

    """
    try:
        import rich  # noqa: F401 - only whether it is there
        import typer  # noqa: F401 - only whether it is there
    except ModuleNotFoundError as error:
        line = 'pip install "mcp-adapters[cli]"'
        sys.exit(f"the command line needs the package {error.name!r}, which is not installed; run: {line}")
    from .app import run

    sys.exit(run(sys.argv[1:] if arguments is None else list(arguments)))
