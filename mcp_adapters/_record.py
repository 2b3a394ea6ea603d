"""What is known of a login, and how a flow of the SDK gets to see it.

In: what was kept, or nothing. Out: what is to be kept. Nothing here reads or writes a store, and
nothing sends.
"""

from __future__ import annotations

import time

from mcp.client.auth.oauth2 import OAuthContext
from mcp.shared.auth import (
    OAuthClientInformationFull,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from pydantic import BaseModel

__all__ = ("Record", "Storage")

_EARLY_S = 10.0
"""How long before its end a token counts as over: it has to get to the server."""


class Record(BaseModel):
    """What is kept of a login; secret as a whole."""

    tokens: OAuthToken | None = None
    expires_at: float | None = None
    """Seconds since the epoch; None when the authorization server did not say."""
    client: OAuthClientInformationFull | None = None
    metadata: OAuthMetadata | None = None
    """The authorization server's: without it, a refresh token would go to the wrong place."""
    resource: ProtectedResourceMetadata | None = None
    auth_server_url: str | None = None

    @property
    def access_token(self) -> str | None:
        """The token as it is, valid or not."""
        return self.tokens.access_token if self.tokens else None

    def is_over(self, now: float) -> bool:
        """Whether the token's time is known to have passed."""
        return self.expires_at is not None and now >= self.expires_at - _EARLY_S


class Storage:
    """What one flow of the SDK reads and writes: a record, and never the store itself.

    Args:
        record: What is known; changed by the flow.
        refresh: Whether the flow is to begin with the refresh token. Else it does not see it.

    """

    def __init__(self, record: Record, *, refresh: bool) -> None:
        self.record = record
        self._refresh = refresh
        self.context: OAuthContext

    async def get_tokens(self) -> OAuthToken | None:
        """The tokens; also gives the flow what its own memory would have."""
        self.context.oauth_metadata = self.record.metadata
        self.context.protected_resource_metadata = self.record.resource
        self.context.auth_server_url = self.record.auth_server_url
        if self._refresh:
            self.context.token_expiry_time = 1.0
            return self.record.tokens
        tokens = self.record.tokens
        return tokens.model_copy(update={"refresh_token": None}) if tokens else None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Take new tokens, with the time at which they end."""
        context = self.context
        self.record = Record(
            tokens=tokens,
            expires_at=None if tokens.expires_in is None else time.time() + tokens.expires_in,
            client=context.client_info,
            metadata=context.oauth_metadata,
            resource=context.protected_resource_metadata,
            auth_server_url=context.auth_server_url,
        )

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """The client as it is registered."""
        return self.record.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Take a new registration."""
        self.record.client = client_info
