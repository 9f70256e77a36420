"""Sections of the report of `foundry status` that a registry holds.

A section is a callable that is given what session-summary.json and evidence.json would hold now and
returns Markdown; nothing where it has nothing to say. A package brings one as `report.NAME`, see
`foundry.plugins`. So far none is ours.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from foundry.errors import PluginError
from foundry.plugins import Registry

if TYPE_CHECKING:
    from foundry.schema.summary import Evidence, SessionSummary

    ReportSection = Callable[[SessionSummary, Evidence], str]

SECTIONS: "Registry[ReportSection]" = Registry("report", {})


def section_text(name: str, summary: "SessionSummary", evidence: "Evidence") -> str:
    """A section's Markdown, `` when it has nothing to say.

    Raises PluginError when the section can't be loaded, fails, or returns something else.
    """
    section = SECTIONS.get(name)
    try:
        text: object = section(summary, evidence)
    except Exception as error:  # a stranger's code may raise whatever it likes
        raise PluginError(f"the report {name!r} failed: {type(error).__name__}: {error}") from error
    if not isinstance(text, str):
        raise PluginError(f"the report {name!r} returned no text but {type(text).__name__}")
    return text.strip("\n")
