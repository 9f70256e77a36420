"""The table of commands, and what the rules say about files and tools."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from foundry.permission.decide import decide
from foundry.permission.operation import Operation
from foundry.permission.policy import _File
from foundry.permission.resolved_path import PathResolver
from foundry.permission.shell_operations import command_operations
from foundry.schema.permission import Effect, Policy, Rule

TABLE = yaml.safe_load((Path(__file__).parent / "permission_cases.yaml").read_text())
RULES = tuple(entry.rule("table") for entry in _File(rules=TABLE["rules"]).rules)
CASES = [
    pytest.param(command, effect, id=f"{topic}: {command!r}")
    for topic, cases in TABLE["cases"].items()
    for case in cases
    for effect, command in case.items()
]


@pytest.fixture
def resolver(tmp_path: Path) -> PathResolver:
    """A project with links, and a home beside it."""
    root = tmp_path / "project"
    for name in ("src/app.py", "secrets/key", "scripts/run", "a b/c"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/x").touch()
    (root / "out").symlink_to(tmp_path / "elsewhere")
    (root / "in").symlink_to("secrets")
    (root / "tool").symlink_to("/usr/bin/env")
    return PathResolver.of(root)


def verdict(rules: tuple[Rule, ...], command: str, resolver: PathResolver) -> str:
    settled = resolver.resolve_rules(Policy(rules=rules)).rules
    return decide(settled, command_operations(command, resolver)).effect


@pytest.mark.parametrize(("command", "effect"), CASES)
def test_table(command: str, effect: str, resolver: PathResolver):
    assert verdict(RULES, command, resolver) == effect


def test_the_table_is_large_and_has_every_verdict():
    effects = [case.values[1] for case in CASES]
    assert len(effects) >= 60
    assert set(effects) == {"allow", "ask", "deny"}


def rule(effect: str, *tools: str, **narrowed: Any) -> Rule:
    return Rule(effect=Effect(effect), tools=tools, **narrowed)


ALL = rule("allow", "run_command")
NO_RM = rule("deny", "run_command", commands=("rm *",))


@pytest.mark.parametrize(
    ("rules", "command", "effect"),
    [
        ((), "ls", "deny"),
        ((ALL,), "eval $X", "allow"),
        ((ALL,), "rm x", "allow"),
        ((ALL, NO_RM), "rm x", "deny"),
        ((ALL, NO_RM), "eval $X", "deny"),
        ((ALL, NO_RM), "ls", "allow"),
        ((NO_RM, ALL), "rm x; eval $X", "allow"),
        ((rule("allow", "run_command", commands=("*",)),), "ls $X", "allow"),
        ((rule("allow", "run_command", commands=("*",)),), "$X", "deny"),
        ((ALL, NO_RM, rule("ask", "run_command", commands=("git *",))), "$X", "deny"),
        ((ALL, rule("ask", "run_command", commands=("git *",))), "$X", "ask"),
        ((rule("ask", "run_command", commands=("git *",)),), "$X", "deny"),
        ((rule("ask", "*"), rule("allow", "run_command", commands=("ls",))), "ls", "allow"),
        ((rule("ask", "*"), rule("allow", "run_command", commands=("ls",))), "env ls", "allow"),
        ((rule("ask", "*"), rule("allow", "run_command", commands=("ls",))), "ls; $X", "ask"),
        ((ALL, rule("deny", "*", paths=("/etc/**",))), "cat /etc/passwd", "deny"),
        ((ALL, rule("deny", "*", paths=("~/.ssh",))), "cp ~/.ssh/id x", "deny"),
        ((ALL, rule("deny", "write_file")), "echo > x", "deny"),
        ((ALL, rule("allow", "write_file", paths=("/**",))), 'echo > "$X"', "allow"),
        ((ALL, rule("allow", "write_file", paths=("**",))), 'echo > "$X"', "deny"),
    ],
)
def test_the_last_rule_that_matches_decides(
    rules: tuple[Rule, ...], command: str, effect: str, resolver: PathResolver
):
    assert verdict(rules, command, resolver) == effect


@pytest.mark.parametrize(
    ("pattern", "path", "covered"),
    [
        ("src/**", "src/app.py", True),
        ("src", "src/app.py", True),
        ("src/*.py", "src/app.py", True),
        ("*.py", "src/app.py", True),
        ("./*.py", "src/app.py", False),
        ("./*.py", "app.py", True),
        ("app.py", "src/app.py", True),
        ("./app.py", "src/app.py", False),
        ("**/app.py", "app.py", True),
        ("sr", "src/app.py", False),
        ("src/[!a]*", "src/app.py", False),
        ("**", "src/app.py", True),
        ("**", "../x", False),
        ("*", "../x", False),
        ("/**", "../x", True),
        ("./", ".", True),
        ("./", "src", False),
        ("src/**", "src/../x", False),
        ("secrets", "in/key", True),
        ("**", "~/x", True),  # to a file tool `~` is a name
        ("~/**", "~/x", False),
    ],
)
def test_path_patterns_are_those_of_gitignore(
    pattern: str, path: str, covered: bool, resolver: PathResolver
):
    rules = resolver.resolve_rules(
        Policy(rules=(rule("allow", "write_file", paths=(pattern,)),))
    ).rules
    operation = Operation("write_file", path, paths=resolver.resolve(resolver.root, path))
    expected = covered and path != "in/key"  # as it is written that one is not in secrets
    assert (decide(rules, [operation]).effect is Effect.ALLOW) == expected
