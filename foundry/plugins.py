"""The parts that Foundry finds by name: those that it ships, and those of installed packages.

A package brings a part by an entry point of the group `foundry.plugins`, named SORT.NAME:

    [project.entry-points."foundry.plugins"]
    "tool.count_words" = "foundry_words:count_words"

Foundry's own parts stand in a table of the same form, or among the entry points of its own package
where a room above the registry brings them. Nothing is imported before it is asked for, and a part
that is broken harms only who asks for it.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Generic, TypeVar

from foundry.errors import PluginError

GROUP = "foundry.plugins"
OURS = "foundry"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Plugin:
    """A part that an installed package brings: where it comes from, and where it is."""

    sort: str
    name: str
    target: str
    """`module:attribute`."""
    origin: str
    """The distribution with its version, or `foundry`."""


class Registry(Generic[T]):
    """The parts of one sort by name: `ours` are module:attribute by name, the others installed.

    `fits` tells whether what was loaded is such a part. A name of ours can't be taken by a package.
    """

    def __init__(
        self, sort: str, ours: Mapping[str, str], fits: Callable[[object], bool] = callable
    ) -> None:
        self.sort = sort
        self._ours = ours
        self._fits = fits

    def plugins(self) -> tuple[Plugin, ...]:
        """Every part, ours first; two packages may bring the same name."""
        ours = (Plugin(self.sort, name, target, OURS) for name, target in self._ours.items())
        return (*ours, *(each for each in installed() if each.sort == self.sort))

    def names(self) -> tuple[str, ...]:
        """What may be named; nothing is imported to tell."""
        return tuple(dict.fromkeys(each.name for each in self.plugins()))

    def __contains__(self, name: object) -> bool:
        return name in self._ours or name in self.names()

    def get(self, name: str) -> T:
        """The part of this name; raises PluginError where there is none or it is broken."""
        if name in self._ours:
            return self.load(Plugin(self.sort, name, self._ours[name], OURS))
        found = [each for each in installed() if (each.sort, each.name) == (self.sort, name)]
        found = [each for each in found if each.origin == OURS] or found
        if not found:
            known = ", ".join(self.names())
            raise PluginError(f"there is no {self.sort} {name!r}", hint=f"Known: {known}")
        if len(found) > 1:
            origins = " and ".join(each.origin for each in found)
            raise PluginError(
                f"{origins} both bring the {self.sort} {name!r}", hint="Uninstall one of them"
            )
        return self.load(found[0])

    def load(self, plugin: Plugin) -> T:
        """Import a part; raises PluginError with the cause where that fails or it does not fit."""
        module, _, attribute = plugin.target.partition(":")
        try:
            part: Any = import_module(module)
            for name in attribute.split("."):
                part = getattr(part, name)
        except Exception as error:  # a stranger's module may raise whatever it likes
            raise _broken(plugin, f"{type(error).__name__}: {error}") from error
        if not self._fits(part):
            raise _broken(plugin, f"{plugin.target} is no {self.sort}")
        fitting: T = part
        return fitting


@cache
def installed() -> tuple[Plugin, ...]:
    """The parts that installed packages bring, in the order of their sorts and names."""
    from importlib.metadata import entry_points

    return tuple(sorted(_named(entry_points(group=GROUP)), key=lambda each: (each.sort, each.name)))


def _named(points: Any) -> Iterator[Plugin]:
    for point in points:
        sort, _, name = point.name.partition(".")
        dist = point.dist
        origin = f"{dist.name} {dist.version}" if dist is not None else "an unnamed package"
        if point.module.partition(".")[0] == OURS:
            origin = OURS
        yield Plugin(sort, name, point.value, origin)


def _broken(plugin: Plugin, why: str) -> PluginError:
    return PluginError(
        f"the {plugin.sort} {plugin.name!r} of {plugin.origin} can't be used: {why}",
        hint="`foundry plugins` lists what is installed; mend or uninstall that package",
    )
