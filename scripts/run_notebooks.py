"""Run the notebooks anew and keep their outputs: `make notebooks`.

In: the notebooks of `notebooks/`, or those named on the command line. Out: the same files with new
outputs. Each runs in a kernel of its own and in a copy of the folder, so that what it writes is gone
afterwards. The exit code is 1 if a cell fails.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

__all__ = ("main", "run")

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"
SECONDS = 120
"""For one cell."""


def run(notebook: Path) -> Any:
    """Execute a notebook in a fresh kernel and give it with its new outputs.

    Raises:
        CellExecutionError: A cell failed.

    """
    content: Any = nbformat.read(notebook, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(notebook.parent, folder, dirs_exist_ok=True)
        client = NotebookClient(
            content, timeout=SECONDS, kernel_name="python3", resources={"metadata": {"path": folder}}
        )
        client.execute()
    for cell in content.cells:
        cell.metadata.pop("execution", None)  # the times of this run
    content.metadata["language_info"] = {"name": "python"}
    return content


def main(names: list[str]) -> int:
    """Run the notebooks with these names, or all, and write them back."""
    failed = 0
    for notebook in sorted(NOTEBOOKS.glob("*.ipynb")):
        if names and notebook.stem not in names:
            continue
        try:
            nbformat.write(run(notebook), notebook)
        except CellExecutionError as error:
            failed = 1
            print(f"{notebook.name}: {error}", file=sys.stderr)
        else:
            print(notebook.name)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
