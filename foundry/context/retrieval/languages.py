"""What a source file defines and imports, by regular expressions.

Not by ctags, which may be missing, or speak other languages in each of its versions. On four
projects (Python, TypeScript, Go, Rust) Universal Ctags 5.9 named half as many again. Most of what
is missed here is inside of something: local constants, properties, fields; of the functions 15%,
of the methods 3%. All of that is still found as words.
"""

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence

from foundry.context.retrieval.files import suffix

_PYTHON = re.compile(
    r"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)"
    r"|^([A-Za-z_]\w*)[ \t]*(?::[^=\n]+)?=(?!=)",
    re.M,
)
_SCRIPT = re.compile(
    r"^[ \t]*(?:export[ \t]+)?(?:default[ \t]+)?(?:declare[ \t]+)?(?:abstract[ \t]+)?"
    r"(?:async[ \t]+)?(?:function\*?|class|interface|type|enum|namespace)[ \t]+(\w+)"
    r"|^(?:export[ \t]+)?(?:const|let|var)[ \t]+(\w+)"
    r"|^[ \t]+(?:const|let)[ \t]+(\w+)[ \t]*=[ \t]*(?:async[ \t]*)?(?:\([^()\n]*\)|\w+)[ \t]*=>"
    r"|^[ \t]+(?:(?:public|private|protected|static|async|override|readonly|get|set)[ \t]+)*"
    r"(?!if\b|for\b|while\b|switch\b|catch\b|return\b|function\b)(\w+)[ \t]*(?:<[^>\n]*>)?"
    r"\([^()\n]*\)[ \t]*(?::[^{};\n]+)?\{[ \t]*$",
    re.M,
)
_GO = re.compile(
    r"^func[ \t]+(?:\([^)\n]*\)[ \t]*)?(\w+)|^type[ \t]+(\w+)|^(?:var|const)[ \t]+(\w+)"
    r"|^\t(\w+)[ \t]+(?:struct|interface)\b|^\t([A-Z]\w+)[ \t]*(?:[\w.]+[ \t]*)?=",
    re.M,
)
_RUST = re.compile(
    r"^[ \t]*(?:pub(?:\([^)\n]*\))?[ \t]+)?(?:default[ \t]+)?(?:const[ \t]+)?(?:async[ \t]+)?"
    r"(?:unsafe[ \t]+)?(?:extern[ \t]+\"[^\"\n]*\"[ \t]+)?"
    r"(?:fn|struct|enum|trait|mod|type|union|const|static|macro_rules!)[ \t]+(?:mut[ \t]+)?(\w+)",
    re.M,
)
_OTHER = re.compile(
    r"^[ \t]*(?:[\w@]+[ \t]+)*?(?:class|interface|struct|enum|trait|module|def|fun|func|function"
    r"|fn|record|object|protocol|namespace|type|sub|table|view|message|service|rpc)[ \t]+"
    r"(?:if[ \t]+not[ \t]+exists[ \t]+)?[\"'`]?(\w+)",
    re.M | re.IGNORECASE,
)
_HEADING = re.compile(r"^#{1,4}[ \t]+(.{1,80})$", re.M)
_PATTERNS = {
    **dict.fromkeys(("py", "pyi"), _PYTHON),
    **dict.fromkeys(("ts", "tsx", "js", "jsx", "cjs", "mjs", "mts", "cts"), _SCRIPT),
    **dict.fromkeys(("vue", "svelte"), _SCRIPT),
    "go": _GO,
    "rs": _RUST,
    **dict.fromkeys(("md", "mdx"), _HEADING),
}  # fmt: skip
_NONE = frozenset(
    """rst txt adoc json jsonc json5 yaml yml toml ini cfg conf html htm css scss sass less
    xml""".split()  # noqa: SIM905
)


def pattern(path: str) -> re.Pattern[str] | None:
    """What a definition looks like in a file; exactly one group of a match is its name."""
    ending = suffix(path)
    return None if ending in _NONE else _PATTERNS.get(ending, _OTHER)


def definitions(path: str, text: str) -> list[str]:
    """The names that a file defines, in order, repeated ones too."""
    form = pattern(path)
    if form is None:
        return []
    return [match[match.lastindex] for match in form.finditer(text) if match.lastindex]


_PYTHON_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n#]+)"
    r"|import[ \t]+([\w., \t]+))",
    re.M,
)
_SCRIPT_IMPORT = re.compile(
    r"(?:\bfrom|\bimport|\brequire\(|\bimport\()[ \t]*[\"']([^\"'\n]+)[\"']"
)
_GO_BLOCK = re.compile(r"^import[ \t]*(?:\(([^)]*)\)|(?:\w+[ \t]+)?(\"[^\"\n]+\"))", re.M)
_QUOTED = re.compile(r"\"([^\"\n]+)\"")
_RUST_USE = re.compile(
    r"^[ \t]*(?:pub(?:\([^)\n]*\))?[ \t]+)?use[ \t]+([\w:]+)(?:\{([^;]*)\})?", re.M
)
_RUST_MOD = re.compile(r"^[ \t]*(?:pub(?:\([^)\n]*\))?[ \t]+)?mod[ \t]+(\w+)[ \t]*;", re.M)
_NAME = re.compile(r"\w+")
_SCRIPTS = frozenset(["ts", "tsx", "js", "jsx", "cjs", "mjs", "mts", "cts", "vue", "svelte"])
_SCRIPT_ENDING = re.compile(r"\.(?:[cm]?[jt]sx?|vue|svelte)$")
MOST = 12
"""An import that could mean more files than this says nothing."""


def imports(path: str, text: str) -> list[str]:
    """What a file imports, as slash-separated names; a leading dot means relative to it."""
    ending = suffix(path)
    if ending in ("py", "pyi"):
        return _python(text)
    if ending in _SCRIPTS:
        return sorted({_SCRIPT_ENDING.sub("", name) for name in _SCRIPT_IMPORT.findall(text)})
    if ending == "go":
        blocks = "".join(a or b for a, b in _GO_BLOCK.findall(text))
        return sorted({name for name in _QUOTED.findall(blocks) if "/" in name})
    return _rust(text) if ending == "rs" else []


def _python(text: str) -> list[str]:
    found: set[str] = set()
    for module, names, plain in _PYTHON_IMPORT.findall(text):
        if plain:
            found.update(
                each.split()[0].replace(".", "/") for each in plain.split(",") if each.split()
            )
            continue
        level = len(module) - len(module.lstrip("."))
        base = ("./" + "../" * (level - 1) if level else "") + module[level:].replace(".", "/")
        found.add(base)
        found.update(posixpath.join(base, name) for name in _NAME.findall(names)[:20])
    return sorted(found)


def _rust(text: str) -> list[str]:
    found = {"./" + name for name in _RUST_MOD.findall(text)}
    for base, names in _RUST_USE.findall(text):
        stem = base.rstrip(":").replace("::", "/")
        for word in ("crate/", "self/", "super/super/", "super/"):
            stem = stem.removeprefix(word)
        found.add(stem)
        found.add(posixpath.dirname(stem))
        found.update(f"{stem}/{name}" for name in _NAME.findall(names)[:30])
    return sorted(found - {""})


def edges(files: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    """Pairs (importer, imported) among these files, from what each one imports."""
    by_name = _by_name(files)
    folders = _go_folders(files)
    found: set[tuple[str, str]] = set()
    for path, names in files.items():
        language = _language(path)
        for name in names:
            found.update(
                (path, other) for other in _resolve(path, name, language, by_name, folders)
            )
    return sorted((a, b) for a, b in found if a != b)


def _language(path: str) -> str:
    ending = suffix(path)
    return "script" if ending in _SCRIPTS else "py" if ending == "pyi" else ending


def _module(path: str) -> str:
    """A file's name as others import it: without ending, and without index, mod, __init__."""
    name = path.rpartition(".")[0]
    for last in ("/__init__", "/index", "/mod", "/lib", "/main"):
        name = name.removesuffix(last)
    return name


def _by_name(paths: Iterable[str]) -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = {}
    for path in paths:
        found.setdefault((_language(path), posixpath.basename(_module(path))), []).append(path)
    return found


def _go_folders(paths: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in paths:
        if path.endswith(".go") and not path.endswith("_test.go"):
            folder = posixpath.dirname(path)
            found.setdefault(posixpath.basename(folder), []).append(path)
    return found


def _resolve(
    path: str,
    name: str,
    language: str,
    by_name: Mapping[tuple[str, str], Sequence[str]],
    folders: Mapping[str, Sequence[str]],
) -> list[str]:
    if language == "go":
        near = folders.get(posixpath.basename(name), ())
        ours = [each for each in near if name.endswith("/" + posixpath.dirname(each))]
        return ours if len(ours) <= 4 * MOST else []
    relative = name.startswith(".")
    if relative:
        name = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
    name = name.lstrip("@~/") if not relative else name
    near = by_name.get((language, posixpath.basename(name)), ())
    if relative:
        ours = [each for each in near if _module(each) == name]
        if language == "rs" and not ours:  # `mod x;` in a.rs means a/x.rs
            inner = posixpath.join(_module(path), posixpath.basename(name))
            ours = [each for each in near if _module(each) == inner]
        return ours
    if "/" not in name:
        ours = [each for each in near if posixpath.dirname(_module(each)).count("/") <= 1]
    else:
        ours = [each for each in near if ("/" + _module(each)).endswith("/" + name)]
    return ours if len(ours) <= MOST else []
