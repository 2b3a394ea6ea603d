"""Install what the tests run against, in pinned versions, into `.servers/`.

In: npm and the Python that runs this script. Out: one folder for each entry of the tables below:
a `node_modules` with servers from npm, a virtual environment with one server from PyPI, or one with
the packages that talk to model providers beside this project. What is
there in the right version is left alone, and no package's install script is run. Nothing outside
`.servers/` is touched, but that root on Debian gets the package `bubblewrap`, in which tests put servers.

Without npm the Python servers are installed all the same; the tests that need the others are then
skipped and say so. Any other failure ends with exit code 1.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ("NPM_PACKAGES", "PROVIDER_PACKAGES", "PYPI_PACKAGES", "SERVERS")

PROJECT = Path(__file__).resolve().parent.parent
SERVERS = PROJECT / ".servers"
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
    "conformance": {"@modelcontextprotocol/conformance": "0.1.16"},
    "conformance-alpha": {"@modelcontextprotocol/conformance": "0.2.0-alpha.12"},
}
"""Folder -> package -> exact version. They run on Node 20 and later."""

PYPI_PACKAGES = {
    "mcp-server-git": "2026.10.19",
    "mcp-server-time": "2026.10.19",
}
"""Package -> exact version; each has an environment of its own, named like the package."""

PROVIDER_PACKAGES = {
    "langchain": {
        "anthropic": "2.14.0",
        "google-genai": "3.6.1",
        "langchain-anthropic": "1.7.10",
        "langchain-aws": "1.9.1",
        "langchain-google-genai": "4.4.3",
        "langchain-openai": "1.7.4",
        "openai": "3.57.0",
    },
    "llamaindex": {
        # The newest that llama-index-llms-anthropic 0.12.3 works with: from 2.0 on its messages cannot be
        # made (MessageParam is a union), and 1.x refuses the temperature that it always sends.
        "anthropic": "0.125.0",
        "llama-index-llms-anthropic": "0.12.3",
        "llama-index-llms-bedrock-converse": "0.15.5",
        "llama-index-llms-google-genai": "0.11.3",
        "llama-index-llms-openai": "0.8.3",
    },
}
"""Extra of this project -> package -> exact version; the environment is `providers-` and the extra.

One each, as the two do not agree on the versions of the providers' clients.
"""


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
    names = ", ".join(name for name in packages if name.startswith("@"))
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


def _install_providers(extra: str, packages: Mapping[str, str]) -> str:
    """Give a framework's provider packages an environment, with this project as it stands in its folder."""
    home = SERVERS / f"providers-{extra}"
    stamp = SERVERS / f"providers-{extra}.json"
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    wanted = {
        "packages": packages,
        "project": [str(PROJECT), *project["dependencies"], *project["optional-dependencies"][extra]],
        "python": f"{sys.version_info.major}.{sys.version_info.minor}",
    }
    if _installed(stamp, wanted):
        return f"already there: {home.name}"
    stamp.unlink(missing_ok=True)
    _run(sys.executable, "-m", "venv", "--clear", home, cwd=SERVERS)
    pinned = [f"{name}=={version}" for name, version in packages.items()]
    _run(*_pip_install(home / "bin" / "python"), "--editable", f"{PROJECT}[{extra}]", *pinned, cwd=SERVERS)
    stamp.write_text(json.dumps(wanted))
    return f"installed: {home.name}"


def _pip_install(python: Path) -> tuple[str | Path, ...]:
    """The start of a command that installs many packages: by uv, where it is at hand."""
    if importlib.util.find_spec("uv") is not None:
        return sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", python
    return python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"


def _install_bubblewrap() -> str:
    """Install Debian's package where that can be done; without it its tests are skipped and say so."""
    if shutil.which("bwrap") is not None:
        return "already there: bubblewrap"
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return "not installed: bubblewrap, which needs root and apt-get"
    install = ("apt-get", "install", "--yes", "--quiet", "bubblewrap")
    try:
        _run("apt-get", "update", "--quiet", cwd=SERVERS)
        _run(*install, cwd=SERVERS)
    except InstallError as error:
        return f"not installed: bubblewrap; {error}"
    return "installed: bubblewrap"


def main() -> int:
    """Install all that is missing, side by side; the exit code is 1 if anything failed."""
    SERVERS.mkdir(exist_ok=True)
    failed = False
    with ThreadPoolExecutor() as pool:
        jobs = [
            pool.submit(_install_bubblewrap),
            *(pool.submit(_install_npm, folder, packages) for folder, packages in NPM_PACKAGES.items()),
            *(pool.submit(_install_pypi, package, version) for package, version in PYPI_PACKAGES.items()),
            *(pool.submit(_install_providers, extra, pins) for extra, pins in PROVIDER_PACKAGES.items()),
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
