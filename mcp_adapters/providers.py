"""What model providers accept as tools: dated data, and pure checks against it.

In: names, descriptions and counts. Out: what a provider would refuse, before it is asked. The data
says where each rule was read and when; providers change their rules, so a profile is a value that
can be replaced (`dataclasses.replace`), and nothing elsewhere knows a provider's limits by heart.
Nothing here changes a name, reads a schema or calls a provider.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias, assert_never

from mcp_adapters.errors import ConfigError, ToolboxLoadError

if TYPE_CHECKING:
    from mcp_adapters.spec import ToolSpec

__all__ = (
    "PORTABLE_RULE",
    "PROFILES",
    "FirstCharacter",
    "NameRule",
    "ProviderProfile",
    "check_count",
    "profile",
    "shorten_description",
    "violations",
    "with_note",
)

FirstCharacter: TypeAlias = Literal["letter", "letter_or_underscore", "any"]
"""What a name may start with; "any" means every character that the name may hold."""

_CUT_MARK = "…"
_SERVERS_SHOWN = 20


@dataclass(frozen=True, kw_only=True)
class NameRule:
    """Which tool names are legal: ASCII letters, digits and some punctuation, up to a length."""

    punctuation: str = "_-"
    """The characters beyond ASCII letters and digits; always with "_"."""
    first: FirstCharacter = "letter"
    max_length: int = 63
    """In characters."""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The rule as a regular expression, for `fullmatch` ("$" would admit a final newline)."""
        follow = f"[A-Za-z0-9{re.escape(self.punctuation)}]"
        match self.first:
            case "letter":
                lead = "[A-Za-z]"
            case "letter_or_underscore":
                lead = "[A-Za-z_]"
            case "any":
                lead = follow
            case _:
                assert_never(self.first)
        return re.compile(f"{lead}{follow}{{0,{self.max_length - 1}}}")

    def allows(self, name: str) -> bool:
        """Tell whether the whole name is legal."""
        return self.pattern.fullmatch(name) is not None


PORTABLE_RULE = NameRule()
"""`[A-Za-z][A-Za-z0-9_-]{0,62}`: legal for every profile of this module."""

_SIXTY_FOUR = NameRule(first="any", max_length=64)
_NO_LIMIT_FOUND = "no limit documented"
_NO_COUNT_FOUND = "no fixed number documented"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderProfile:
    """What one provider accepts as tools.

    Each `..._source` says where the rule beside it was read: documentation, client source, or the
    text of the provider's own error.
    """

    name: str
    title: str
    """For people."""
    aliases: tuple[str, ...] = ()
    name_rule: NameRule | None
    """None when the provider checks no names."""
    name_source: str
    description_min: int = 0
    """Shortest description, in characters."""
    description_max: int | None = None
    """Longest description, in characters; None without a limit."""
    description_source: str = _NO_LIMIT_FOUND
    count_max: int | None = None
    """Most tools in one request; None without a limit."""
    count_source: str = _NO_COUNT_FOUND
    as_of: str = "2026-11"
    """Year and month in which the rules were read."""


PROFILES: tuple[ProviderProfile, ...] = (
    ProviderProfile(
        name="portable",
        title="every provider",
        aliases=("any", "default"),
        name_rule=PORTABLE_RULE,
        name_source="the part that all profiles below have in common",
        description_min=1,
        description_max=1024,
        description_source="bedrock for the shortest, azure for the longest",
        count_max=128,
        count_source="the lowest number of the profiles below",
    ),
    ProviderProfile(
        name="openai",
        title="OpenAI Chat Completions",
        aliases=("openai-chat", "openai-completions"),
        name_rule=_SIXTY_FOUR,
        name_source='openai 3.57, docstring of FunctionDefinition; error text "does not match pattern '
        '\'^[a-zA-Z0-9_-]+$\'" and "maximum length 64"',
        description_source="no limit now; 1024 in the past",
        count_max=128,
        count_source='error text "array too long. Expected an array with maximum length 128"',
    ),
    ProviderProfile(
        name="openai-responses",
        title="OpenAI Responses",
        name_rule=_SIXTY_FOUR,
        name_source="openai/codex#8174, error text for 'tools[48].name'",
        count_max=128,
        count_source="as Chat Completions",
    ),
    ProviderProfile(
        name="azure",
        title="Azure OpenAI",
        aliases=("azure-openai",),
        name_rule=_SIXTY_FOUR,
        name_source="as OpenAI",
        description_max=1024,
        description_source="All-Hands-AI/OpenHands#4838 and modelcontextprotocol/servers#799, error text "
        '"Expected a string with maximum length 1024"',
        count_max=128,
        count_source="as OpenAI",
    ),
    ProviderProfile(
        name="anthropic",
        title="Anthropic Messages API",
        aliases=("anthropic-api", "claude"),
        name_rule=NameRule(first="any", max_length=128),
        name_source="IlyaGulya/gradle-mcp-server#2, error text "
        "\"String should match pattern '^[a-zA-Z0-9_-]{1,128}$'\"",
        count_source="none documented; hundreds work",
    ),
    ProviderProfile(
        name="anthropic-64",
        title="Claude clients and tool search",
        aliases=("claude.ai", "claude-desktop", "anthropic-tool-search"),
        name_rule=_SIXTY_FOUR,
        name_source="NetApp/ontap-mcp#38, anthropics/claude-code#57813 and #19882, error text "
        "\"String should match pattern '^[a-zA-Z0-9_-]{1,64}$'\"",
    ),
    ProviderProfile(
        name="gemini",
        title="Gemini API",
        aliases=("google", "google-genai"),
        name_rule=NameRule(punctuation="_.:-", first="letter_or_underscore", max_length=63),
        name_source='error text "Must start with a letter or an underscore ... with a maximum length of 64"; '
        "google-genai 3.6.1 says 128; gemini-cli, which the lower limit is taken from, uses 63",
        count_max=128,
        count_source="as Vertex AI",
    ),
    ProviderProfile(
        name="vertex",
        title="Gemini on Vertex AI",
        aliases=("vertexai", "google-vertexai"),
        name_rule=NameRule(punctuation="_.:-", first="letter_or_underscore", max_length=63),
        name_source="as Gemini API",
        count_max=128,
        count_source="Vertex AI documentation, FunctionDeclaration",
    ),
    ProviderProfile(
        name="bedrock",
        title="AWS Bedrock Converse",
        aliases=("bedrock-converse", "aws-bedrock"),
        name_rule=_SIXTY_FOUR,
        name_source="botocore 1.44.8, service model; microsoft/mcp#842, error text "
        '"Member must have length less than or equal to 64"',
        description_min=1,
        description_source="botocore 1.44.8, service model; BerriAI/litellm#24668, error text "
        '"Member must have length greater than or equal to 1"',
    ),
    ProviderProfile(
        name="mistral",
        title="Mistral",
        aliases=("mistralai",),
        name_rule=_SIXTY_FOUR,
        name_source='nbonamy/witsy#164, error text "must be a-z, A-Z, 0-9, or contain underscores and '
        'dashes, with a maximum length of 64"',
    ),
    ProviderProfile(
        name="groq",
        title="Groq",
        name_rule=_SIXTY_FOUR,
        name_source="groq 1.7, docstring of FunctionDefinition",
        count_max=128,
        count_source="groq 1.7, docstring; error text \"'tools' : maximum number of items is 128\"",
    ),
    ProviderProfile(
        name="deepseek",
        title="DeepSeek",
        name_rule=_SIXTY_FOUR,
        name_source="error text \"does not match pattern '^[a-zA-Z0-9_-]+$'\"; the length is unproven",
        count_max=128,
        count_source="API documentation",
    ),
    ProviderProfile(
        name="xai",
        title="xAI",
        aliases=("grok",),
        name_rule=_SIXTY_FOUR,
        name_source="like OpenAI, unproven",
        count_max=200,
        count_source="error text quoted in CLIProxyAPI#5214",
    ),
    ProviderProfile(
        name="ollama",
        title="Ollama",
        name_rule=None,
        name_source="ollama 0.6.3, client source: nothing is checked",
        count_source="none; the context size is the limit",
    ),
    ProviderProfile(
        name="qwen",
        title="Qwen on DashScope",
        aliases=("dashscope",),
        name_rule=_SIXTY_FOUR,
        name_source='Qwen3-VL#2069, error text "The length of the tool name cannot exceed 64."',
    ),
    ProviderProfile(
        name="cohere",
        title="Cohere v2",
        name_rule=PORTABLE_RULE,
        name_source="no rule in client or documentation; the portable rule, unproven",
    ),
)
"""All profiles; the first is what no provider refuses."""

_BY_NAME: Mapping[str, ProviderProfile] = {
    word: entry for entry in PROFILES for word in (entry.name, *entry.aliases)
}


def profile(name: str) -> ProviderProfile:
    """Find a provider's profile.

    Args:
        name: A profile's name or one of its aliases; case does not count, and "_" is "-".

    Raises:
        ConfigError: No profile has that name; the message lists those that there are.

    """
    found = _BY_NAME.get(name.casefold().replace("_", "-"))
    if found is None:
        known = ", ".join(entry.name for entry in PROFILES)
        raise ConfigError(f"no provider profile is called {name!r}; there are {known}")
    return found


def shorten_description(text: str, limit: int | None) -> str:
    """Cut a description to a length, at a word, with a mark at the end.

    Args:
        text: Any text.
        limit: Most characters of the outcome, at least 1; None means no limit.

    Returns:
        The text itself when it fits. Else as many of its words as fit, and "…"; a word is cut
        only where none ends in the second half of the room.

    Raises:
        ConfigError: `limit` is below 1.

    """
    if limit is not None and limit < 1:
        raise ConfigError(f"a description cannot be cut to {limit} characters; the limit must be at least 1")
    if limit is None or len(text) <= limit:
        return text
    room = limit - len(_CUT_MARK)
    ends = re.compile(r"\s").finditer(text, room // 2, room + 1)
    end = max((match.start() for match in ends), default=room)
    return text[:end].rstrip() + _CUT_MARK


def with_note(description: str, note: str, *, limit: int | None) -> str:
    """Put a note after a description, within a length.

    Args:
        description: Any text.
        note: What models must read as well; empty for nothing.
        limit: Most characters of the outcome, at least 1; None means no limit.

    Returns:
        The description, cut at a word where needed, a blank line and the whole note; only a note that
        is too long by itself is cut.

    Raises:
        ConfigError: `limit` is below 1.

    """
    if not note:
        return shorten_description(description, limit)
    room = None if limit is None else max(limit - len(note) - 2, 1)
    return shorten_description(f"{shorten_description(description, room)}\n\n{note}", limit)


def check_count(tools: Mapping[str, int] | Iterable[ToolSpec], provider: ProviderProfile) -> None:
    """Refuse more tools than the provider takes in one request.

    Args:
        tools: The tools, or their number by server key.
        provider: Whose limit counts.

    Raises:
        ToolboxLoadError: There are too many; the message has the number of each server, largest
            first, and says how to leave some out.

    """
    counts = tools if isinstance(tools, Mapping) else Counter(tool.server for tool in tools)
    problem = _count_problem(sum(counts.values()), provider)
    if problem is not None:
        raise ToolboxLoadError(
            f"{problem} ({_counts_shown(counts)}); leave some out with "
            "tools=ToolFilter.allow(...) or ToolFilter.deny(...), or use fewer servers"
        )


def _count_problem(count: int, provider: ProviderProfile) -> str | None:
    if provider.count_max is None or count <= provider.count_max:
        return None
    return f"{count} tools are more than the {provider.count_max} that {provider.title} takes in one request"


def _counts_shown(counts: Mapping[str, int]) -> str:
    largest = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    shown = ", ".join(f"{server!r} has {count}" for server, count in largest[:_SERVERS_SHOWN])
    rest = len(largest) - _SERVERS_SHOWN
    return f"{shown}, and {rest} more servers" if rest > 0 else shown


def violations(
    provider: ProviderProfile,
    *,
    name: str | None = None,
    description: str | None = None,
    count: int | None = None,
) -> tuple[str, ...]:
    """Say what the provider would refuse.

    Args:
        provider: Whose rules count.
        name: A tool's name as the model would see it; None leaves it unchecked.
        description: A tool's description; None leaves it unchecked.
        count: Number of tools in one request; None leaves it unchecked.

    Returns:
        One sentence for each rule that is broken: name, description, count. Empty when all is well.

    """
    found = (
        None if name is None else _name_problem(name, provider),
        None if description is None else _description_problem(len(description), provider),
        None if count is None else _count_problem(count, provider),
    )
    return tuple(problem for problem in found if problem is not None)


def _name_problem(name: str, provider: ProviderProfile) -> str | None:
    rule = provider.name_rule
    if rule is None or rule.allows(name):
        return None
    if len(name) > rule.max_length:
        return f"the name {name!r} has {len(name)} characters; {provider.title} takes {rule.max_length}"
    return f"the name {name!r} does not match {rule.pattern.pattern!r}, which {provider.title} asks for"


def _description_problem(length: int, provider: ProviderProfile) -> str | None:
    if length < provider.description_min:
        return f"the description has {length} characters; {provider.title} wants {provider.description_min}"
    if provider.description_max is not None and length > provider.description_max:
        return f"the description has {length} characters; {provider.title} takes {provider.description_max}"
    return None
