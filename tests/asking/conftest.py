"""One server over HTTP for all tests of this folder that ask it nothing but questions."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ASKING = Path(__file__).with_name("asking_server.py")


@pytest.fixture(scope="session")
def asking_url() -> Iterator[str]:
    """The address of `asking_server`, in a process of its own."""
    with subprocess.Popen(
        [sys.executable, str(ASKING), "http"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()
