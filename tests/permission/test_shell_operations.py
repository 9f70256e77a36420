"""A forbidden command never runs, however it is embedded: what is allowed is run by real shells."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foundry.permission.decide import decide
from foundry.permission.resolved_path import PathResolver
from foundry.permission.shell_operations import command_operations
from foundry.schema.permission import Effect, Rule

RULES = (
    Rule(effect=Effect.ALLOW, tools=("write_file", "read_file"), paths=("**",)),
    Rule(effect=Effect.ALLOW, tools=("run_command",), commands=("*",)),
    Rule(effect=Effect.DENY, tools=("run_command",), commands=("canary *",)),
)
PROGRAMS = ("cat", "env", "xargs", "find", "timeout", "nohup", "nice", "sh", "bash")

FRAMES = (
    "{0}", "{0} && {1}", "{0} || {1}", "{0}; {1}", "{0} | {1}", "{0}\n{1}", "{0} & {1}", "! {0}",
    "({0})", "{{ {0}; }}", "if {0}; then {1}; fi", "while {0}; do break; done", "time {0}",
    "for i in 1 2; do {0}; done", "for i in $({0}); do {1}; done", "case a in a) {0};; esac",
    "f() {{ {0}; }}; f", "echo $({0})", 'echo "$({0})"', "echo `{0}`", "x=$({0})", "A=1 {0}",
    "echo ${{x:-$({0})}}", "echo $((1 + $({0})))", "cat <<E\n$({0})\nE\n{1}", "{0} > out 2>&1",
    "cat <<'E'\n{0}\nE\n{1}", "cat <<E; {0}\nx\nE", "cat <<E | {0}\nx\nE\n", "cat < $({0})",
    "env A=1 {0}", "env -i {0}", "nohup {0}", "timeout 9 {0}", "nice -n 1 {0}", "command {0}",
    "exec {0}", "echo a | xargs {0}", "echo a | xargs -I X {0} X",
    "find . -maxdepth 0 -exec {0} \\;", "sh -c {q0}", "bash -c {q0}", "bash -ec {q0}",
    "trap {q0} EXIT", "eval {q0}", "echo {q0}", "echo {q0} | sh", "bash -c 'cat <({0})'",
    "echo a\\\n{0}", "echo a \\\n{0}", "# {0}\n{1}",
    "echo 'a\\'; {0}; #'", "echo $'a\\'; {0}; #'", "[[ a && {0} ]]", "echo \"a\\\"; {0}; #\"",
    "echo a #b\\\n{0}", "a[$({0})]=1", "cat <<E\n`{0}`\nE\n", "x='a[$({0})]'; echo $((x))",
)  # fmt: skip
SPELLINGS = (
    "canary", "c'anar'y", '"canary"', "\\canary", "can\\\nary", "$(echo canary)", "`echo canary`",
    "bin/canary", "./bin/canary", "$PWD/bin/canary", "ca*ry", "bin/ca?ary", "{canary,a}",
    "$'canary'", "X=canary; $X", "${X:-canary}", "./link", "bin/../link", "\"c\"'a'nary",
    "canary() { :; }; canary",
)  # fmt: skip
TOKENS = (
    "canary", "canary", "canary", "echo", "cat", "true", "sh -c", "env", "x", "E", "a=", "a", "1",
    " ", " ", " ", "\n", "\n", ";", "&&", "||", "|", "&", "(", ")", "{", "}", "{ ", "; }", "$(",
    ")", "`", "'", '"', "\\", "\\\n", "$", "${a:-", "$((", "))",
    "<<E\n", "<<'E'\n", "<<-E\n", "\nE\n",
    "<", ">", ">&2", "#", "!", "=", "*", "?", "[", "]", "[[ ", " ]]", "$'", '$"', "if ", "then ",
    "fi", "for a in ", "do ", "done", "case a in ", "esac", ";;", "f() ", "<(", ">(", "<<<", "\t",
    "function f", "time ", "&>", "|&", "{a,", "~", "-", "@", "$a", "$@", "exec ", "command ",
)  # fmt: skip


SETTINGS = (
    "X=echo", "X=echo && true", "true && X=echo", "true && X=echo || exit 1", "X=`echo echo`",
    "X=$(mktemp)", "X=$(mktemp) || exit 1", "set -e\nX=$(mktemp)", "Y=echo; X=$Y", "X=can",
)  # fmt: skip
CHANGES = (
    "true", "X=canary", "X+=canary", "true && X=canary", "false || X=canary", "(X=canary)",
    "X=canary | cat", "X=canary & wait", "X=canary true", "X=canary >x", "{ X=canary; }",
    "! X=canary", "if true; then X=canary; fi", "while true; do X=canary; break; done",
    "for X in canary; do :; done", "for X in can?ry; do :; done", "f() { X=canary; }; f",
    "read X <<E\ncanary\nE", "command read -r X <<E\ncanary\nE", "unset X; : ${X:=canary}",
    "export X=canary", "readonly X=canary", "local X=canary", "printf -v X canary",
    "printf -vX canary", "declare -n Z=X; Z=canary", "eval X=canary", ". ./x", "trap 'X=canary' 0",
    "exec {X}>x", "IFS=a", "set +e", "case a in a) X=canary;; esac", "time X=canary",
)  # fmt: skip
USES = (
    "$X a", '"$X" a', "${X} a", "${X}ary", '"${X}ary"', "sh -c \"$X a\"", "env $X a",
    "trap '$X a' 0", "(true && $X a)", "for Y in a $X; do $Y a; done",
    "for Y in can echo; do ${Y}ary; done",
)  # fmt: skip


@pytest.fixture
def yard(tmp_path: Path) -> Path:
    """A folder whose PATH knows few harmless programs and `canary`, which leaves a mark."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in PROGRAMS:
        (programs / name).symlink_to(shutil.which(name) or "/nowhere")
    canary = programs / "canary"
    canary.write_text(f"#!/bin/sh\n: > {shlex.quote(str(tmp_path))}/sang\n")
    canary.chmod(0o755)
    (tmp_path / "link").symlink_to(canary)
    return tmp_path


def allowed(command: str, yard: Path) -> bool:
    resolver = PathResolver.of(yard)
    return decide(RULES, command_operations(command, resolver)).effect is Effect.ALLOW


def sings(command: str, yard: Path) -> str:
    """The shell under which `command` reaches the canary, or nothing."""
    for shell in _shells(yard):
        with subprocess.Popen(
            [*shell, command], cwd=yard, env={"PATH": str(yard / "bin"), "PWD": str(yard)},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:  # fmt: skip
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
        if (yard / "sang").exists():
            (yard / "sang").unlink()
            return " ".join(shell)
    return ""


def _shells(yard: Path) -> Iterator[list[str]]:
    """`sh` as it may be on a machine: what it is here, and bash under that name."""
    yield ["/bin/sh", "-c"]
    yield [str(yard / "bin/bash"), "--posix", "-c"]


def _framed(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.builds(
        lambda frame, one, two: frame.format(one, two, q0=shlex.quote(one)),
        st.sampled_from(FRAMES), inner, inner,
    )  # fmt: skip


LEAVES = st.sampled_from((*SPELLINGS, "echo a", "true", "cat x", "echo canary"))
CALM = settings(
    max_examples=int(os.environ.get("PERMISSION_EXAMPLES", "60")),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@CALM
@given(command=st.recursive(LEAVES, _framed, max_leaves=5))
def test_what_is_allowed_never_reaches_the_canary_however_embedded(command: str, yard: Path):
    assert not (allowed(command, yard) and sings(command, yard))


@CALM
@given(tokens=st.lists(st.sampled_from(TOKENS), min_size=1, max_size=14))
def test_what_is_allowed_never_reaches_the_canary_in_any_muddle(tokens: list[str], yard: Path):
    command = "".join(tokens)
    assert not (allowed(command, yard) and sings(command, yard))


@CALM
@given(
    known=st.sampled_from(SETTINGS),
    changes=st.lists(st.sampled_from(CHANGES), min_size=1, max_size=2),
    use=st.sampled_from(USES),
)
def test_what_is_allowed_never_reaches_the_canary_through_a_variable(
    known: str, changes: list[str], use: str, yard: Path
):
    (yard / "x").write_text("X=canary\n")
    command = "\n".join((known, *changes, use))
    assert not (allowed(command, yard) and sings(command, yard))


@pytest.mark.parametrize("frame", FRAMES)
def test_the_canary_is_forbidden_in_every_frame(frame: str, yard: Path):
    command = frame.format("canary", "./link", q0=shlex.quote("canary"))
    assert not (allowed(command, yard) and sings(command, yard))


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_spelling_is_forbidden(spelling: str, yard: Path):
    assert not allowed(spelling, yard)


def test_the_canary_can_sing(yard: Path):
    assert sings("canary", yard)
    assert sings("echo $(canary)", yard)
    assert sings("x='a[$(canary)]'; echo $((x))", yard)


OPAQUE = (
    "eval {q0}", "echo {q0} | sh", "x='", "cat < $(", "echo $((1 +", "[[ a &&", "echo $'a",
    "echo \"a\\\"", "a[$(", "echo a #b",
)  # fmt: skip


@pytest.mark.parametrize("frame", [each for each in FRAMES if not each.startswith(OPAQUE)])
def test_frames_themselves_are_allowed(frame: str, yard: Path):
    """So that the tests above do not hold because all is refused."""
    assert allowed(frame.format("echo a", "true", q0=shlex.quote("echo a")), yard)
