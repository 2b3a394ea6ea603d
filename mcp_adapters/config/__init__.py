"""Which servers there are and how each is reached: models, files in all known dialects, discovery.

In: a file, a parsed configuration, or plain values; the environment as a mapping. Out: frozen
models, or one `ConfigError` that lists everything that is wrong. No secret is in any text that these
make. Nothing is started; only the file that `load_servers` is given is read, with its `envFile`s.
"""

from .auth import (
    ApiKeyAuth,
    Auth,
    AuthModel,
    BasicAuth,
    BearerAuth,
    ClientCredentials,
    OAuth,
    reserved_headers,
)
from .base import ProtocolChoice
from .discovery import FoundConfig, discover_configs
from .loading import load_servers
from .models import HttpServer, Server, SseServer, StdioServer
from .problems import ConfigProblem
from .sandbox import Bubblewrap, Container, Install, Sandbox
from .travel import travelling
from .variables import AskInput

__all__ = (
    "ApiKeyAuth",
    "AskInput",
    "Auth",
    "AuthModel",
    "BasicAuth",
    "BearerAuth",
    "Bubblewrap",
    "ClientCredentials",
    "ConfigProblem",
    "Container",
    "FoundConfig",
    "HttpServer",
    "Install",
    "OAuth",
    "ProtocolChoice",
    "Sandbox",
    "Server",
    "SseServer",
    "StdioServer",
    "discover_configs",
    "load_servers",
    "reserved_headers",
    "travelling",
)
