"""What a file is, told from its path alone."""

import re
from enum import IntEnum

SOURCE = frozenset(
    """py pyi ts tsx js jsx cjs mjs mts cts vue svelte go rs java kt kts scala c h cc cpp cxx hpp
    hh m mm swift cs fs rb php pl lua r jl ex exs erl hs clj dart zig nim sh bash zsh fish ps1
    sql proto graphql""".split()  # noqa: SIM905
)
PROSE = frozenset(["md", "mdx", "rst", "txt", "adoc"])
SETTINGS = frozenset(
    """json jsonc json5 yaml yml toml ini cfg conf html htm css scss sass less xml tmpl jinja j2
    tf hcl nix gradle mod properties env""".split()  # noqa: SIM905
)
BARE = frozenset(["makefile", "dockerfile", "justfile", "rakefile", "gemfile", "procfile"])

_TEST = re.compile(
    r"(^|/)(tests?|__tests__|__mocks__|testdata|test-?utils|testing|fixtures|e2e|specs?)/"
    r"|(^|/)(test_[^/]*|conftest)\.py$|[._-](test|spec|tests)\.\w+$|(^|/)tests?\.rs$|_tests?\.\w+$",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"(^|/)(docs?|examples?|samples?|\.github|migrations|vendor(ed)?|third[_-]party|node_modules"
    r"|dist|build|__generated__|generated)/",
    re.IGNORECASE,
)
_GENERATED = re.compile(
    r"\.min\.(js|css)$|\.(pb|gen)\.go$|_pb2(_grpc)?\.pyi?$|\.d\.ts$|\.(lock|map|snap|svg)$"
    r"|(^|/)(package-lock\.json|pnpm-lock\.yaml|yarn\.lock|go\.sum|npm-shrinkwrap\.json)$",
    re.IGNORECASE,
)


class Kind(IntEnum):
    """What a file is for; the order is that of interest to somebody who changes code."""

    SOURCE = 0
    SETTINGS = 1
    PROSE = 2
    TEST = 3
    ASIDE = 4
    GENERATED = 5


def suffix(path: str) -> str:
    """The ending of a file's name, lower-case, without the dot."""
    name = path.rpartition("/")[2].lower()
    return name if name in BARE else name.rpartition(".")[2]


def kind(path: str) -> Kind | None:
    """What a file is; None for what isn't text that a person writes."""
    ending = suffix(path)
    if _GENERATED.search(path):
        return Kind.GENERATED
    if ending in SOURCE:
        if _TEST.search(path):
            return Kind.TEST
        return Kind.ASIDE if _ASIDE.search(path) else Kind.SOURCE
    if ending in PROSE:
        return Kind.PROSE
    return Kind.SETTINGS if ending in SETTINGS or ending in BARE else None
