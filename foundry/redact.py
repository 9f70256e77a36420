r"""Secrets out of text, before it is written anywhere. Pure: the environment is the caller's.

A secret is known in three ways: by its value (what this process's environment holds), by its shape
(keys that carry a maker's mark), and by its place (assigned to a name like `API_KEY`, in a header,
the password of a URL). What only speaks of secrets stays as it is: names, types, placeholders,
expressions. Applied twice it does the same as once.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

REDACTED = "[redacted]"
SHORTEST = 8
"""Characters. A shorter value of the environment would be found in ordinary words."""

SHORTEST_WORD = 6
"""The same for what stands beside a secret's name."""

_SECRET_NAME = re.compile(
    r"KEY(?!BOARD|MAP|RING)|TOKEN(?!IZER)|SECRET|PASSW|PASSPHRASE|CREDENTIAL|AUTH(?!OR)",
    re.IGNORECASE,
)

_SHAPE = re.compile(
    r"""
    \b(?:
        sk-ant-[\w-]{8,}                                       # Anthropic
      | sk-(?=[\w-]{0,40}\d)(?:[a-z]{2,8}-){0,2}[A-Za-z0-9_]{20}[\w-]*  # others that do it alike
      | [rs]k_(?:live|test)_\w{10,} | whsec_[\w+/=]{16,}       # Stripe
      | gh[pousr]_[A-Za-z0-9]{16,} | github_pat_\w{20,}
      | gl(?:pat|dt|rt|ptt|cbt)-[\w-]{16,}                     # GitLab
      | xox[abeprs]-[\w-]{10,} | xapp-\d-[\w-]{10,}            # Slack
      | (?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b                  # AWS
      | AIza[\w-]{30,} | ya29\.[\w-]{20,} | GOCSPX-[\w-]{20,}  # Google
      | npm_[A-Za-z0-9]{30,} | pypi-AgE[\w-]{30,} | hf_[A-Za-z0-9]{30,}
      | SG\.[\w-]{16,}\.[\w-]{16,}                             # SendGrid
      | dop_v1_[a-f0-9]{40,} | shp(?:at|ca|pa|ss)_[a-fA-F0-9]{20,} | dckr_pat_[\w-]{20,}
      | eyJ[\w-]{10,}\.eyJ[\w-]{10,}(?:\.[\w-]*)?              # JSON web tokens
    )
    | (?<=hooks\.slack\.com/services/)[\w/]{20,}
    """,
    re.VERBOSE,
)

_MARKS = (
    "sk-", "k_live_", "k_test_", "whsec_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_",
    "glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "xox", "xapp-", "AKIA", "ASIA", "ABIA", "ACCA",
    "AIza", "ya29.", "GOCSPX-", "npm_", "pypi-AgE", "hf_", "SG.", "dop_v1_", "shpat_", "shpca_",
    "shppa_", "shpss_", "dckr_pat_", "eyJ", "hooks.slack.com",
)  # fmt: skip
"""One of these is in whatever _SHAPE finds; looking for them is much quicker."""

_PRIVATE_KEY = re.compile(
    r"""
    -----BEGIN[ ][A-Z0-9 ]{0,30}PRIVATE[ ]KEY(?:[ ]BLOCK)?-----
    (?:
        (?: \\+[nrt] | [\s"',] )+
        (?: (?:Proc-Type|DEK-Info|Comment|Version):[^\n\\]{0,100} | =?[A-Za-z0-9+/]{4,}={0,2}
          | [A-Za-z0-9+/]{2,3}={1,2} )
    )+
    (?: (?: \\+[nrt] | [\s"',] )* -----END[ ][A-Z0-9 ]{0,30}PRIVATE[ ]KEY(?:[ ]BLOCK)?----- )?
    """,
    re.VERBOSE,
)
"""As it stands in a file or, its line breaks escaped, in a string; whole or cut off."""

_URL = re.compile(r"(?P<before>://[^\s/@:\"'<>]{0,100}:)(?P<value>[^\s/@\"'<>]{1,300})(?=@)")
_HEADER = re.compile(
    r"""
    (?P<before>
        \b(?:proxy-)?authorization(?:\\?["'])?[ \t]{0,3}[:=][ \t]{0,3}(?:\\?["'])?
        (?:(?:bearer|basic|token|digest|negotiate|apikey)[ \t]{1,3})?
      | \bbearer[ \t]{1,3}
      | \bx-(?:api-key|auth-token|goog-api-key)(?:\\?["'])?[ \t]{0,3}[:=][ \t]{0,3}(?:\\?["'])?
    )
    (?P<value>[\w.~+/=:-]{8,})
    """,
    re.VERBOSE | re.IGNORECASE,
)
_COOKIE = re.compile(
    r"(?P<before>\b(?:set-)?cookie:[ \t]{0,3})(?P<value>[\w.-]{1,80}=[^\n\"'\\]{4,})", re.IGNORECASE
)
_ASSIGNED = re.compile(
    r"""
    (?P<before>
        (?P<name>
            (?:api|access|account|private|signing|encryption)[_-]?key | passphrase
          | secret(?:[_-]?(?:access[_-]?)?key(?:_base)?)? | token | passw(?:or)?d | credentials?
          | (?<![a-z])pwd | _auth
        )\d{0,3}
        (?P<sign>(?:\\?["'`])?[ \t]{0,3}(?:=>|[:=])[ \t]{0,3}|(?P<gap>\ {1,2}))
        (?P<quote>\\?["'`])?
    )
    (?P<value>[^\s"'`&;,<>()\[\]{}\\]{4,})
    (?P<call>[\[(])?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_HINT = re.compile(r"key|token|secret|passw|passphrase|pwd|credential|auth|bearer|cookie")
"""One of these is in every line where a secret is known by its place."""

_TEMPLATE = re.compile(r"[$<%{*.]")
_PLACEHOLDER = re.compile(r"[$<%{*.]|(.)\1*$|(?:your|my|the)[-_]|change[-_]?me|example|xxx", re.I)
_EXPRESSION = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$")


def redact(text: str, values: Iterable[str] = ()) -> str:
    """The text without secrets; `values` are those that are known (see `secret_values`)."""
    for value in values:
        text = text.replace(value, REDACTED)
    if any(mark in text for mark in _MARKS):
        text = _SHAPE.sub(REDACTED, text)
    if "PRIVATE KEY" in text:
        text = _PRIVATE_KEY.sub(REDACTED, text)
    if "://" in text:
        text = _URL.sub(_unless_template, text)
    return "".join(_by_place(part) if told else part for part, told in _parts(text))


def _parts(text: str) -> Iterator[tuple[str, bool]]:
    """The text in pieces, whole lines where a secret's name is in one: few of a text's lines."""
    low = text.lower()
    if len(low) != len(text):  # there are letters that grow
        yield text, True
        return
    done = 0
    while hint := _HINT.search(low, done):
        start = max(done, text.rfind("\n", 0, hint.start()) + 1)
        end = text.find("\n", hint.end()) + 1 or len(text)
        yield text[done:start], False
        yield text[start:end], True
        done = end
    yield text[done:], False


def _by_place(line: str) -> str:
    line = _HEADER.sub(_if_credential, line)
    line = _COOKIE.sub(_unless_template, line)
    return _ASSIGNED.sub(_if_assigned, line)


def redacted(value: Any, values: Iterable[str] = ()) -> Any:
    """A JSON value with `redact` applied to every text in it; its names stay."""
    if isinstance(value, str):
        return redact(value, values)
    if isinstance(value, Mapping):
        return {key: redacted(each, values) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(redacted(each, values) for each in value)
    return value


def secret_values(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The secrets that an environment holds, longest first: values of names that say so."""
    found = {
        value.strip()
        for name, value in environment.items()
        if _SECRET_NAME.search(name) and _is_secret(value.strip())
    }
    return tuple(sorted(found, key=lambda value: (-len(value), value)))


def _is_secret(value: str) -> bool:
    """Not a path (SSH_AUTH_SOCK), a switch, or what is found in every text."""
    return len(value) >= SHORTEST and not value.startswith(("/", "~", "./"))


def _if_credential(found: re.Match[str]) -> str:
    return _replaced(found) if _is_random(found["value"], both_cases=8) else found[0]


def _unless_template(found: re.Match[str]) -> str:
    return found[0] if _TEMPLATE.match(found["value"]) else _replaced(found)


def _if_assigned(found: re.Match[str]) -> str:
    """A shell's `NAME=value` needs no more proof; elsewhere the value has to look like a secret."""
    value, name = found["value"], found["name"]
    if found["call"] or _PLACEHOLDER.match(value):
        return found[0]
    shell = found["sign"] == "=" and (name.isupper() or _is_option(found))
    if shell and not _EXPRESSION.match(value):
        return _replaced(found)
    if found["gap"] and not _is_option(found):
        return found[0]
    return _replaced(found) if _is_random(value) and not _EXPRESSION.match(value) else found[0]


def _is_option(found: re.Match[str]) -> bool:
    """Whether the name is that of a command's option: `--password`, `--db-token`."""
    before = found.string[max(0, found.start() - 30) : found.start()]
    return re.search(r"(?:^|\s)--?[\w-]*$", before) is not None


def _is_random(value: str, *, both_cases: int = 16) -> bool:
    """Whether no word is written like this: letters with digits, or long and in both cases."""
    if len(value) < SHORTEST_WORD:
        return False
    digit, letter = any(map(str.isdigit, value)), any(map(str.isalpha, value))
    return (digit and letter) or (
        len(value) >= both_cases and value.lower() != value != value.upper()
    )


def _replaced(found: re.Match[str]) -> str:
    rest = found["call"] or "" if "call" in found.re.groupindex else ""
    return f"{found['before']}{REDACTED}{rest}"
