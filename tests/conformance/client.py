"""The client that the conformance suite starts: a Toolbox does what each scenario asks of a client.

Run as `python client.py URL`, with the scenario's name, its context (JSON) and the protocol version in
the environment; in tests it is run by `waiting.py`. It lists the server's tools and calls each of them;
nothing in it knows what a scenario checks. Exit code 0, or 1 with the error on standard error.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import Any

import httpx2
from mcp.client.auth import TokenStorage
from mcp.client.auth.extensions.identity_assertion import IdentityAssertionOAuthProvider
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

from mcp_adapters import (
    ClientCredentials,
    ElicitationAnswer,
    ElicitationRequest,
    Handlers,
    HttpServer,
    McpAdaptersError,
    OAuth,
    Tool,
    Toolbox,
    ToolError,
)

CLIENT_METADATA_URL = "https://conformance-test.local/client-metadata.json"
VALUES: Mapping[str, Any] = {
    "string": "a",
    "integer": 1,
    "number": 1.5,
    "boolean": True,
    "array": [],
    "object": {},
}


def follow(address: str) -> None:
    """Be the person with the browser, who signs in at once."""
    with httpx2.Client(follow_redirects=True) as browser:
        browser.get(address)


def issuer_of(url: str) -> str:
    """The authorization server that the scenario's server names, as its operator would tell us."""
    with httpx2.Client() as client:
        place = httpx2.URL(url).join("/.well-known/oauth-protected-resource/mcp")
        return str(client.get(place).json()["authorization_servers"][0])


def enterprise_auth(url: str, context: Mapping[str, Any]) -> httpx2.Auth:
    """A company's identity provider vouches for the user: the SDK's own form, given as it is."""
    issuer = issuer_of(url)

    async def assertion(audience: str, resource: str) -> str:
        form = {
            "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
            "requested_token_type": "urn:ietf:params:oauth:token-type:id-jag",
            "subject_token": context["idp_id_token"],
            "subject_token_type": "urn:ietf:params:oauth:token-type:id_token",
            "audience": audience,
            "resource": resource,
            "client_id": context["idp_client_id"],
        }
        async with httpx2.AsyncClient() as client:
            answer = await client.post(context["idp_token_endpoint"], data=form)
            return str(answer.raise_for_status().json()["access_token"])

    return IdentityAssertionOAuthProvider(
        server_url=url,
        storage=Memory(),
        client_id=context["client_id"],
        client_secret=context["client_secret"],
        issuer=issuer,
        assertion_provider=assertion,
        token_endpoint_auth_method="client_secret_basic",
    )


class Memory(TokenStorage):
    """Keeps tokens as long as the process runs."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def auth_for(
    scenario: str, url: str, context: Mapping[str, Any]
) -> OAuth | ClientCredentials | httpx2.Auth | None:
    if not scenario.startswith("auth/"):
        return None
    known = {"client_id": context.get("client_id"), "client_secret": context.get("client_secret")}
    if "idp_id_token" in context:
        return enterprise_auth(url, context)
    if scenario.startswith("auth/client-credentials"):
        key = context.get("private_key_pem")
        ways = {"private_key": key, "signing_algorithm": context["signing_algorithm"]} if key else {}
        return ClientCredentials(**{**known, **ways}, issuer=issuer_of(url))
    metadata = None if known["client_id"] else CLIENT_METADATA_URL
    return OAuth(**known, issuer=context.get("issuer"), client_metadata_url=metadata, open_browser=follow)


def arguments_for(tool: Tool, first: Tool) -> dict[str, Any]:
    """Something for each required argument; a tool that wants a schema gets the one of the first tool."""
    schema = tool.input_schema
    if schema.get("required") == ["schema"]:
        return {"schema": first.input_schema}
    return {
        name: VALUES.get(schema["properties"][name].get("type"), "a")
        for name in schema.get("required", [])
        if name in schema.get("properties", {})
    }


def agree(request: ElicitationRequest) -> ElicitationAnswer:
    """Be the person who takes every proposal, and says yes where there is none."""
    wanted = {name: VALUES.get(field.get("type"), "a") for name, field in request.fields.items()}
    required = {name: wanted[name] for name in request.required}
    return ElicitationAnswer(action="accept", content={**required, **request.defaults})


def call_all(toolbox: Toolbox, calls: list[dict[str, Any]]) -> None:
    asked = [(call["name"], call["arguments"]) for call in calls]
    if not asked:
        asked = [(tool.remote_name, arguments_for(tool, toolbox.tools[0])) for tool in toolbox.tools]
    for name, arguments in asked:
        [tool] = [tool for tool in toolbox.tools if tool.remote_name == name]
        try:
            tool.call(arguments)
        except ToolError as error:
            print(error, file=sys.stderr)


def run(url: str) -> int:
    """Be the client of the scenario that the environment names; the exit code."""
    scenario = os.environ["MCP_CONFORMANCE_SCENARIO"]
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    try:
        server = HttpServer(url=url, auth=auth_for(scenario, url, context))
        handlers = Handlers(elicitation=agree)
        with Toolbox({"server": server}, on_bad_tool="skip", handlers=handlers, call_timeout=60) as toolbox:
            call_all(toolbox, context.get("toolCalls", []))
    except McpAdaptersError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[-1]))
