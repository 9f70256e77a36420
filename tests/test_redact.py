"""What is taken out of a text before it is written, and what is left alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundry.redact import REDACTED, redact, redacted, secret_values

PEM = "MIIEpAIBAAKCAQEA7Jx0\nq1uv+/8Zk2b0aYxw\nQw=="
WORD = "s3cr3tV4lue9"

SECRETS = {
    # by their shape
    "anthropic": ("key sk-ant-api03-abcDEF-012_xyz!", "key [redacted]!"),
    "another sk": ("sk-proj-abcdefghij0123456789ABCD", REDACTED),
    "old sk": ("sk-abcdefghijklmnop0123456789abcd", REDACTED),
    "github": ("ghp_0123456789abcdefghijABCDEFGHIJ012345", REDACTED),
    "github, cut off": ("ghs_0123456789abcdefgh", REDACTED),
    "github, fine-grained": ("github_pat_11ABCDEFG0abcdefghijkl_xyz", REDACTED),
    "gitlab": ("glpat-ABCDEFGHIJ0123456789", REDACTED),
    "aws id": ("id AKIAIOSFODNN7EXAMPLE.", "id [redacted]."),
    "slack": ("xoxb-123456789012-abcdefghijkl", REDACTED),
    "slack hook": (
        "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXX",
        "https://hooks.slack.com/services/[redacted]",
    ),
    "google": ("AIzaSyA1234567890abcdefghijklmnopqrstuv", REDACTED),
    "stripe": ("sk_live_abcdefghij0123", REDACTED),
    "npm": ("npm_abcdefghijklmnopqrstuvwxyz0123456789", REDACTED),
    "hugging face": ("hf_abcdefghijklmnopqrstuvwxyzABCDEFGH", REDACTED),
    "web token": ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmN", REDACTED),
    "private key": (
        f"a\n-----BEGIN RSA PRIVATE KEY-----\n{PEM}\n-----END RSA PRIVATE KEY-----\nb",
        "a\n[redacted]\nb",
    ),
    "private key, encrypted": (
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00FF\n\n"
        f"{PEM}\n-----END RSA PRIVATE KEY-----",
        REDACTED,
    ),
    "private key, in a string": (
        r'"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\nxyz1\n-----END PRIVATE KEY-----\n"',
        r'"[redacted]\n"',
    ),
    "private key, cut off": (f"-----BEGIN PRIVATE KEY-----\n{PEM}", REDACTED),
    "pgp key": (
        f"-----BEGIN PGP PRIVATE KEY BLOCK-----\n{PEM}\n-----END PGP PRIVATE KEY BLOCK-----",
        REDACTED,
    ),
    # by their place
    "bearer": (f"Authorization: Bearer {WORD}", f"Authorization: Bearer {REDACTED}"),
    "bearer in a command": (
        "curl -H 'Authorization: token abcdef012345' x",
        f"curl -H 'Authorization: token {REDACTED}' x",
    ),
    "basic": ("authorization: Basic dXNlcjpwYXNz", f"authorization: Basic {REDACTED}"),
    "bearer alone": (f"sent bearer {WORD}", f"sent bearer {REDACTED}"),
    "api key header": ("x-api-key: 0123abcd4567", f"x-api-key: {REDACTED}"),
    "cookie": ("Set-Cookie: session=abcdef; Path=/", f"Set-Cookie: {REDACTED}"),
    "url": ("https://me:hunter2@h.example/x", f"https://me:{REDACTED}@h.example/x"),
    "database url": ("postgres://u:p@localhost/db", f"postgres://u:{REDACTED}@localhost/db"),
    "shell": ("export DB_PASSWORD=letmein", f"export DB_PASSWORD={REDACTED}"),
    "shell, quoted": ('TOKEN="letmein now"', f'TOKEN="{REDACTED} now"'),
    "rails": ("SECRET_KEY_BASE=abcdefabcdef", f"SECRET_KEY_BASE={REDACTED}"),
    "mysql": ("MYSQL_PWD=hunter x", f"MYSQL_PWD={REDACTED} x"),
    "aws secret": (
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        f"aws_secret_access_key = {REDACTED}",
    ),
    "option with sign": ("login --password=letmein", f"login --password={REDACTED}"),
    "option with blank": (f"login --token {WORD} -v", f"login --token {REDACTED} -v"),
    "json": ('{"password": "hunter2"}', f'{{"password": "{REDACTED}"}}'),
    "json in json": (r"{\"api_key\": \"abc123def\"}", rf"{{\"api_key\": \"{REDACTED}\"}}"),
    "yaml": ("password: hunter2x", f"password: {REDACTED}"),
    "npmrc": ("//r.example/:_authToken=abc123def456", f"//r.example/:_authToken={REDACTED}"),
    "query": ("/x?access_token=abc123def456&y=1", f"/x?access_token={REDACTED}&y=1"),
    "python": ("client_secret='a1b2c3d4e5'", f"client_secret='{REDACTED}'"),
}

HARMLESS = [
    "max_tokens: 4096, tokens=1234567, total_tokens_used: 62000",
    "tokenizer = 'bert-base-uncased'",
    "sk-learn, sk-toggleable-content-label, task-0123456789abcdefghijklmnop",
    "4f2a6e1b9c0d4f2a6e1b9c0d4f2a6e1b9c0d4f2a",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
    "password = input('x1y2z3')",
    "api_key = os.environ['API_KEY']",
    "token = self.token1",
    "token = tokens1[0]",
    "secret = hashlib.sha256(x)",
    "token: str = ''",
    '{"password": "string", "token_type": "bearer"}',
    "API_KEY=$MY_KEY API_KEY=${MY_KEY} API_KEY=<your key> API_KEY=your-key-here",
    "ANTHROPIC_API_KEY=... ANTHROPIC_API_KEY=",
    "Authorization: Bearer <token>, Authorization: Bearer ${TOKEN}",
    "postgres://${USER}:${PASS}@host",
    "bearer of bad news, bearer authentication",
    "the secret of 12monkeys; password must have 8 characters; token expired401",
    "use --password to log in, --token is the token2 of",
    "git@github.com:me/x.git ssh://git@github.com/x",
    "https://example.com:8080/@scope/pkg",
    "-----BEGIN PUBLIC KEY-----\nMIIBIjANBg\n-----END PUBLIC KEY-----",
    "if '-----BEGIN PRIVATE KEY-----' in text:\n    return 1",
    '<input type="password" name="pass1">',
    "{{ token }} {% csrf_token %}",
    "keyboard: qwerty123",
    "def test_token_is_checked(token): assert token == expected1",
]


@pytest.mark.parametrize("case", SECRETS)
def test_secrets_go(case: str) -> None:
    text, told = SECRETS[case]
    assert redact(text) == told


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_speaks_of_secrets_stays(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize("text", [*HARMLESS, *(text for text, _ in SECRETS.values())])
def test_twice_is_as_good_as_once(text: str) -> None:
    assert redact(redact(text)) == redact(text)


def test_values_of_the_environment_go_wherever_they_stand() -> None:
    environment = {
        "MY_API_KEY": "plain-words-only",
        "DB_PASSWORD": "plain-words-only-and-more",
        "SSH_AUTH_SOCK": "/tmp/agent.123",
        "GIT_AUTHOR_NAME": "Ada Lovelace",
        "TOKEN": "short",
        "HOME": "/home/ada-lovelace",
    }
    values = secret_values(environment)
    assert values == ("plain-words-only-and-more", "plain-words-only")
    told = redact("x plain-words-only-and-more, /tmp/agent.123 Ada Lovelace", values)
    assert told == f"x {REDACTED}, /tmp/agent.123 Ada Lovelace"


def test_a_json_value_keeps_its_shape() -> None:
    value = {"a": ["ghp_0123456789abcdefghij", 1, None], "b": ({"c": f"--token={WORD}"},)}
    assert redacted(value) == {"a": [REDACTED, 1, None], "b": ({"c": f"--token={REDACTED}"},)}


PROSE = st.text(alphabet="abc XYZ01\n.:=-\"'/{}[]()é完", max_size=60)


@given(PROSE, PROSE, st.sampled_from(sorted(SECRETS)))
def test_a_secret_goes_whatever_stands_around_it(before: str, after: str, case: str) -> None:
    text, told = SECRETS[case]
    shown = redact(f"{before} \n{text}\n {after}")
    assert text not in shown
    assert told.split("\n")[0] in shown


@given(st.text(alphabet="aB1 \n\"'=:,;token pasword secret key://@-{}\\İß完", max_size=200))
def test_any_text_is_settled_by_one_pass(text: str) -> None:
    once = redact(text)
    assert redact(once) == once
