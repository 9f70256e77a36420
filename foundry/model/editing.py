"""Context editing by the server: what a request asks for, and the betas that it takes.

Only where a step's budget says `compaction: server`; the default needs nothing of the kind.
"""

from typing import Any

BETAS = ("context-management-2025-06-27", "compact-2026-01-12")

KEPT_RESULTS = 6
LEAST_COMPACTION = 50_000
"""Tokens below which the API does not compact."""


def context_management(threshold: int) -> dict[str, Any]:
    """Clear old tool results from `threshold` tokens on, and sum up what is still too much."""
    return {
        "edits": [
            {
                "type": "clear_tool_uses_20250919",
                "trigger": {"type": "input_tokens", "value": threshold},
                "keep": {"type": "tool_uses", "value": KEPT_RESULTS},
            },
            {
                "type": "compact_20260112",
                "trigger": {
                    "type": "input_tokens",
                    "value": max(LEAST_COMPACTION, threshold * 5 // 4),
                },
            },
        ]
    }
