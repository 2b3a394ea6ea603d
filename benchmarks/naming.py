"""How the time for naming grows with the number of tools: about 10 for ten times as many.

Run with `python benchmarks/naming.py`.
"""

from __future__ import annotations

import time

from mcp_adapters.naming import NamePolicy, assign_names

SERVERS = 50


def tools(count: int) -> list[tuple[str, str]]:
    """A third each of names that stay, that change, and that clash."""
    forms = ("tool_{}", "tool/{}", "tool {}")
    return [(f"server{n % SERVERS}", forms[n % 3].format(n // (3 * SERVERS))) for n in range(count)]


def seconds(count: int, policy: NamePolicy, *, rounds: int = 3) -> float:
    """Best time of some rounds, in seconds."""
    listed = tools(count)
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        assign_names(listed, policy)
        best = min(best, time.perf_counter() - start)
    return best


def main() -> None:
    """Print one line for each kind of prefix."""
    for policy in (NamePolicy(), NamePolicy(prefix="never"), NamePolicy(prefix="on_clash")):
        small, large = seconds(10_000, policy), seconds(100_000, policy)
        print(
            f"{policy.prefix}: 100,000 tools in {large:.2f} s; 10,000 to 100,000: ratio {large / small:.1f}"
        )


if __name__ == "__main__":
    main()
