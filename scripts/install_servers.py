"""Install the MCP servers that the tests run against, in pinned versions, into `.servers/`.

In: npm and the Python that runs this script. Out: one folder for each entry of the tables below:
a `node_modules` with servers from npm, or a virtual environment with one server from PyPI. What is
there in the right version is left alone. Nothing outside `.servers/` is touched, and no package's
install script is run.

Without npm the Python servers are installed all the same; the tests that need the others are then
skipped and say so. Any other failure ends with exit code 1.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ("NPM_PACKAGES", "PYPI_PACKAGES", "SERVERS")

SERVERS = Path(__file__).resolve().parent.parent / ".servers"
"""Where everything goes."""

NPM_PACKAGES = {
    "node": {
        "@modelcontextprotocol/server-everything": "2026.8.31",
        "@modelcontextprotocol/server-filesystem": "2026.8.31",
        "@modelcontextprotocol/server-memory": "2026.8.31",
    },
    # Alone and with this zod, which it imports without declaring it: that is what its users get, and
    # what makes every one of its schemas come out empty.
    "node-gitlab": {"@modelcontextprotocol/server-gitlab": "2025.4.25", "zod": "4.6.7"},
}
"""Folder -> package -> exact version. They run on Node 20 and later."""

PYPI_PACKAGES = {
    "mcp-server-git": "2026.10.19",
    "mcp-server-time": "2026.10.19",
}
"""Package -> exact version; each has an environment of its own, named like the package."""


class InstallError(Exception):
    """A command failed; the message ends with what it printed."""


def _run(*command: str | Path, cwd: Path) -> None:
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        shown = " ".join(str(part) for part in command[:3])
        printed = (done.stdout + done.stderr).strip()
        raise InstallError(f"{shown} ... ended with code {done.returncode}:\n{printed}")


def _installed(stamp: Path, wanted: object) -> bool:
    return stamp.is_file() and json.loads(stamp.read_text()) == wanted


def _install_npm(folder: str, packages: Mapping[str, str]) -> str:
    """Bring one folder's node_modules to exactly these versions; the answer is one line for people."""
    home = SERVERS / folder
    stamp = SERVERS / f"{folder}.json"
    names = ", ".join(name for name in packages if "server" in name)
    if _installed(stamp, packages):
        return f"already there: {names}"
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        return f"left out, as npm and node (20 or later) were not found: {names}; their tests will be skipped"
    stamp.unlink(missing_ok=True)
    home.mkdir(exist_ok=True)
    (home / "package.json").write_text(json.dumps({"private": True, "dependencies": packages}, indent=2))
    _run(npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", cwd=home)
    stamp.write_text(json.dumps(packages))
    return f"installed: {names}"


def _install_pypi(package: str, version: str) -> str:
    """Give one package an environment of its own; the answer is one line for people."""
    home = SERVERS / package
    stamp = SERVERS / f"{package}.json"
    wanted = {"version": version, "python": f"{sys.version_info.major}.{sys.version_info.minor}"}
    if _installed(stamp, wanted):
        return f"already there: {package}"
    stamp.unlink(missing_ok=True)
    _run(sys.executable, "-m", "venv", "--clear", home, cwd=SERVERS)
    pip = (home / "bin" / "python", "-m", "pip", "--disable-pip-version-check")
    _run(*pip, "install", "--quiet", f"{package}=={version}", cwd=SERVERS)
    stamp.write_text(json.dumps(wanted))
    return f"installed: {package}"


def main() -> int:
    """Install all that is missing, side by side; the exit code is 1 if anything failed."""
    SERVERS.mkdir(exist_ok=True)
    failed = False
    with ThreadPoolExecutor() as pool:
        jobs = [
            *(pool.submit(_install_npm, folder, packages) for folder, packages in NPM_PACKAGES.items()),
            *(pool.submit(_install_pypi, package, version) for package, version in PYPI_PACKAGES.items()),
        ]
        for job in jobs:
            try:
                print(job.result())
            except InstallError as error:
                failed = True
                print(error, file=sys.stderr)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
