"""How identifiers and words are taken apart."""

import pytest

from foundry.tokenize import parts, stem, terms


@pytest.mark.parametrize(
    ("identifier", "words"),
    [
        ("parseHTTPRequest", ["parse", "http", "request"]),
        ("_sys_db", ["sys", "db"]),
        ("MAX_TOKENS", ["max", "tokens"]),
        ("utf8Decode", ["utf", "8", "decode"]),
        ("XMLHttpRequest", ["xml", "http", "request"]),
        ("plain", ["plain"]),
    ],
)
def test_identifiers_are_split(identifier: str, words: list[str]) -> None:
    assert parts(identifier) == words


@pytest.mark.parametrize(
    "forms",
    [
        ("parse", "parsing", "parsed", "parser", "parses"),
        ("stop", "stops", "stopped", "stopping"),
        ("retry", "retries"),
        ("config", "configuration", "configure", "configs"),
        ("directory", "directories", "folder", "dir"),
    ],
)
def test_forms_of_a_word_have_one_stem(forms: tuple[str, ...]) -> None:
    assert len({stem(form) for form in forms}) == 1


def test_every_spelling_of_a_name_has_one_term() -> None:
    whole = "=parserequest"
    assert all(whole in terms(name) for name in ("parse_request", "parseRequest", "PARSE_REQUEST"))
