"""The demo tells the truth: it ends well when its calls happened, and only then."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

CHANGES = {
    '"limit": 5': '"limit": 500',
    '"note_id": 1, ': '"note_id": 77, ',
    'expected="Call Ada"': 'expected="Call Bob"',
    "notes_stats": "notes_chart",
}
"""Of the LlamaIndex script: wrong arguments, an unknown note, another answer, another tool."""


def _run(script: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, script], stdin=subprocess.DEVNULL, capture_output=True, text=True)


def test_the_demo_makes_all_its_calls() -> None:
    done = _run(ROOT / "scripts" / "demo.py")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "All 10 calls were made and answered as scripted."


def test_the_demo_fails_and_names_each_step_that_went_otherwise(tmp_path: Path) -> None:
    source = (ROOT / "scripts" / "demo.py").read_text()
    for before, after in CHANGES.items():
        assert source.count(before) == 1
        source = source.replace(before, after)
    script = tmp_path / "demo.py"
    script.write_text(source)

    done = _run(script)

    assert done.returncode == 1
    heading, *problems = done.stderr.strip().splitlines()
    assert heading == "Not as scripted:"
    assert [problem.partition(":")[0] for problem in problems] == [
        "LlamaIndex, step 1",
        "LlamaIndex, step 3",
        "LlamaIndex, step 4",
        "LlamaIndex, step 5",
    ]
