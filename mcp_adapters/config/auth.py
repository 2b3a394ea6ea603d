"""How a client shows who it is: the forms of `auth`, as values.

In: what a configuration or Python code says. Out: frozen models whose secrets are hidden. Nothing
here signs in, keeps a token or knows HTTP; the models only say what is to be done.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, SecretStr, ValidationInfo, field_validator

from mcp_adapters.errors import ConfigError

from .base import ReportingModel, Seconds, SecretText, Text

__all__ = (
    "ApiKeyAuth",
    "Auth",
    "BasicAuth",
    "BearerAuth",
    "ClientCredentials",
    "OAuth",
    "read_auth",
    "reserved_headers",
)

LOOPBACK = ("127.0.0.1", "localhost")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def _scopes(value: object) -> object:
    return value.split() if isinstance(value, str) else value


def _is_loopback(uri: str) -> bool:
    try:
        parts = urlsplit(uri)
        return parts.scheme == "http" and parts.hostname in LOOPBACK and bool(parts.port)
    except ValueError:  # its message has the value
        return False


def _single_line(value: SecretStr) -> SecretStr:
    if re.search(r"[\r\n\0]", value.get_secret_value()):
        raise ValueError("must be a single line")
    return value


Scopes: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(_scopes)]
Store: TypeAlias = Any
"""Where tokens are kept: "memory", "file", "keyring", or an object with `load`, `save` and `delete`."""


class AuthModel(ReportingModel):
    """What all forms have in common."""

    def secret_values(self) -> Iterator[str]:
        """Give every secret of the form in plain text, for masking."""
        for name in type(self).model_fields:
            if isinstance(value := getattr(self, name), SecretStr):
                yield value.get_secret_value()


class BearerAuth(AuthModel):
    """A token that is there already, sent as `Authorization: Bearer ...`.

    Source: RFC 6750, section 2.1.
    """

    type: Literal["bearer"] = "bearer"
    token: SecretText
    """The token alone, without `Bearer`."""

    _checked = field_validator("token")(_single_line)


class ApiKeyAuth(AuthModel):
    """A key that is sent in a header of its own."""

    type: Literal["api_key"] = "api_key"
    key: SecretText
    header: str = "X-API-Key"
    """The header's name."""

    _checked = field_validator("key")(_single_line)

    @field_validator("header")
    @classmethod
    def _header_is_a_name(cls, header: str) -> str:
        if not _TOKEN.fullmatch(header):
            raise ValueError("cannot be the name of an HTTP header")
        return header


class BasicAuth(AuthModel):
    """A user name and a password.

    Source: RFC 7617.
    """

    type: Literal["basic"] = "basic"
    username: Text
    password: SecretText


class _TokenAuth(AuthModel):
    scopes: Scopes = ()
    """What to ask for; empty means what the server itself asks for."""
    store: Store = "memory"
    """Where tokens are kept between uses: "memory" (for the life of the toolbox), "file" (a folder that
    only the user can read), "keyring" (needs the package of that name), or an object of your own."""

    @field_validator("store")
    @classmethod
    def _store_is_known(cls, store: Any) -> Any:
        if isinstance(store, str) and store not in ("memory", "file", "keyring"):
            raise ValueError("must be 'memory', 'file', 'keyring' or an object with load, save and delete")
        return store


class OAuth(_TokenAuth):
    """A person signs in with a browser, once; the tokens are kept and renewed.

    Source: MCP 2025-11-25, basic/authorization; RFC 8252, section 7.3 (the loopback address).
    """

    type: Literal["oauth"] = "oauth"
    client_id: str | None = None
    """Of a client that is registered already; None lets the client register itself."""
    client_secret: SecretText | None = None
    issuer: str | None = None
    """The authorization server that `client_id` belongs to; None trusts the one that the server names."""
    client_metadata_url: str | None = None
    """An https address with the client's metadata, which then is its identity."""
    client_name: str = "mcp-adapters"
    """What the authorization server shows to the person."""
    redirect_uri: str | None = None
    """Where the browser is sent back to, on this machine; None takes a free port of 127.0.0.1."""
    login_timeout: Seconds = 300.0
    """Seconds that a person may take."""
    open_browser: Callable[[str], Any] | None = Field(default=None, repr=False)
    """Shows an address to the person, sync or async; None opens the default browser."""

    @field_validator("redirect_uri")
    @classmethod
    def _redirect_is_here(cls, uri: str | None) -> str | None:
        if uri is None:
            return None
        if not _is_loopback(uri):
            raise ValueError("must be of the form http://127.0.0.1:PORT/PATH or http://localhost:PORT/PATH")
        return uri

    @field_validator("client_metadata_url")
    @classmethod
    def _metadata_has_an_address(cls, url: str | None) -> str | None:
        if url is not None and (urlsplit(url).scheme != "https" or urlsplit(url).path in ("", "/")):
            raise ValueError("must be an https address with a path")
        return url

    @field_validator("client_secret")
    @classmethod
    def _secret_has_a_client(cls, secret: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
        if secret is not None and info.data.get("client_id") is None:
            raise ValueError("needs 'client_id'")
        return secret


class ClientCredentials(_TokenAuth):
    """A program signs in for itself, with a secret or with a signed assertion.

    Source: RFC 6749, section 4.4; RFC 7523, section 2.2.
    """

    type: Literal["client_credentials"] = "client_credentials"
    client_id: str
    issuer: str
    """The authorization server that the client is registered with; its secret goes nowhere else."""
    client_secret: SecretText | None = None
    private_key: SecretText | None = Field(default=None, validate_default=True)
    """In PEM form; the client then signs assertions (`private_key_jwt`) instead of sending a secret."""
    signing_algorithm: str = "RS256"
    """Of the assertions, by its name in JWA; it has to fit `private_key`."""
    token_endpoint_auth_method: Literal["client_secret_basic", "client_secret_post"] = "client_secret_basic"  # noqa: S105
    """How the secret is sent: in the header `Authorization`, or in the body."""

    @field_validator("private_key")
    @classmethod
    def _one_way_to_sign_in(cls, key: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
        if "client_secret" in info.data and (info.data["client_secret"] is None) == (key is None):
            raise ValueError("is one way to sign in; give either 'client_secret' or 'private_key'")
        return key


def reserved_headers(auth: Any) -> frozenset[str]:
    """Give the names of the headers, in lower case, that belong to this form of `auth` alone."""
    if auth is None:
        return frozenset()
    return frozenset({auth.header.lower() if isinstance(auth, ApiKeyAuth) else "authorization"})


Auth: TypeAlias = BearerAuth | ApiKeyAuth | BasicAuth | OAuth | ClientCredentials
"""Every form of `auth` that this package knows."""

_FORMS: Mapping[str, type[AuthModel]] = {
    "bearer": BearerAuth,
    "api_key": ApiKeyAuth,
    "basic": BasicAuth,
    "oauth": OAuth,
    "client_credentials": ClientCredentials,
}
_FOREIGN = {"CLIENT_ID": "client_id", "CLIENT_SECRET": "client_secret", "scopes": "scopes"}
"""Cursor's names for a client that is registered already."""


def read_auth(value: Any) -> Any:
    """Read what a configuration says under `auth`.

    Args:
        value: "oauth", another text (a bearer token), an object with a `type`, Cursor's object with
            a `CLIENT_ID`, a model of this module, or an authentication object of the HTTP client.

    Returns:
        A model of this module, or an object of another kind as it is.

    Raises:
        ValueError: The value is of no such form; the message names fields, never values.

    """
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    if isinstance(value, str):
        return OAuth() if value == "oauth" else _made(BearerAuth, {"token": value})
    if not isinstance(value, Mapping):
        return value
    if "CLIENT_ID" in value and value.keys() <= _FOREIGN.keys():
        return _made(OAuth, {_FOREIGN[key]: item for key, item in value.items()})
    form = value.get("type")
    if not isinstance(form, str) or form not in _FORMS:
        raise ValueError(f"needs a 'type', which is one of {_listed(tuple(_FORMS))}")
    return _made(_FORMS[form], value)


def _made(form: type[AuthModel], values: Mapping[str, Any]) -> AuthModel:
    try:
        return form(**values)
    except ConfigError as error:
        problems = error.problems
    # Outside of the handler: a chained error could carry values along.
    raise ValueError("; ".join(f"{p.field!r} {p.message}" if p.field else str(p.message) for p in problems))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:-1])) + f" and {names[-1]!r}"
