"""verify.sh: the essential part of `foundry audit` for whoever has git and a shell. Pure.

Names and commands come from a model: they stand in it quoted, and are printed without what a
terminal would obey.
"""

import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from foundry.schema.plan import Check, Checks, Plan
from foundry.schema.run import Status
from foundry.schema.summary import Evidence

SHOWN = ("proven", "tested")
"""States of a requirement that say that a command shows it."""


@dataclass(frozen=True, slots=True)
class Proof:
    """A command that stands for requirements, by their ids."""

    command: str
    requirements: tuple[str, ...]


def proofs(plan: Plan | None, evidence: Evidence) -> tuple[Proof, ...]:
    """The commands of the requirements that the evidence calls shown, each once."""
    shown = {each.id for each in evidence.requirements if each.state in SHOWN}
    found: dict[str, list[str]] = {}
    for task in plan.tasks if plan else ():
        for each in task.acceptance:
            for command in (task.verify, getattr(each, "verify", "")):
                if command and each.requirement in shown:
                    found.setdefault(command, []).append(each.requirement)
    return tuple(Proof(command, tuple(dict.fromkeys(ids))) for command, ids in found.items())


def script(evidence: Evidence, checks: Checks, plan: Plan | None) -> str:
    """The text of verify.sh for a run that ends with this evidence."""
    lines = [*(_call("setup", each.name, each.command) for each in checks.setup), "snapshot"]
    lines += _checks(evidence, checks)
    for proof in proofs(plan, evidence):
        lines += ["restore", _call("run", ", ".join(proof.requirements), proof.command)]
    if evidence.status is not Status.VERIFIED:
        lines.append(_call("told", "verdict", f"the build itself ended {evidence.status}"))
    return _TEMPLATE.replace("@RUN@", _quoted(evidence.run)).replace("@CALLS@", "\n".join(lines))


def _checks(evidence: Evidence, checks: Checks) -> Iterator[str]:
    status = {check.name: check.status for check in evidence.final_checks}
    for check in _verifying(checks):
        ended = status.get(check.name, "not_run")
        if ended == "passed":
            yield _call("run", check.name, check.command)
        else:
            word = "unknown" if ended == "preexisting" else "told"
            yield _call(word, check.name, f"{ended.replace('_', ' ')} when the build ended")


def _verifying(checks: Checks) -> Iterable[Check]:
    return (*checks.test, *checks.lint, *checks.run)


def _call(function: str, name: str, argument: str) -> str:
    shown = "".join(each if each.isprintable() else " " for each in name)
    return f"{function} {_quoted(shown)} {_quoted(argument)}"


def _quoted(text: str) -> str:
    """As one word of a POSIX shell; what no argument and no file can hold is left out."""
    plain = text.replace("\0", "").encode("utf-8", "replace").decode()
    return shlex.quote(plain)


_TEMPLATE = r"""#!/bin/sh
# Checks a build of Foundry anew, without Foundry: the chain through its commits, and what its
# verdict leans on, in a clean clone with an empty HOME. IT RUNS THE PROJECT'S OWN COMMANDS.
# Exit code: 0 all holds, 1 something does not. `foundry audit` tells more.
set -u
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
run=@RUN@
f=.context-foundry
here=$(cd "$(dirname "$0")" && pwd -P) || exit 1
top=$(git -C "$here" rev-parse --show-toplevel) || exit 1
room=$(mktemp -d) || exit 1
trap 'rm -rf "$room"' EXIT
trap 'exit 1' HUP INT TERM
bad=0
ok() { printf '+ %s: %s\n' "$1" "$2"; }
told() { printf 'x %s: %s\n' "$1" "$2"; bad=1; }
unknown() { printf '? %s: %s\n' "$1" "$2"; }
sum() {
  if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi | cut -d ' ' -f 1
}
# A commit holds the tree that its line names, with the journal as it was before.
tree() {
  got='' blob=$(git rev-parse -q --verify "$1^:$f/journal.jsonl") || return 1
  GIT_INDEX_FILE=$room/index && export GIT_INDEX_FILE
  git read-tree "$1" && git update-index --cacheinfo "100644,$blob,$f/journal.jsonl" &&
    got=$(git write-tree); unset GIT_INDEX_FILE
  [ "$got" = "$2" ]
}
chain() {
  before='' number=0 old=0
  : >"$room/lines"
  for at in $(git log --reverse --topo-order --format=%H --grep="^Foundry-Run: $run\$" HEAD); do
    number=$((number + 1))
    git show "$at:$f/journal.jsonl" >"$room/journal" 2>/dev/null || return 1
    [ "$(wc -l <"$room/journal")" -eq "$number" ] || return 1
    head -n $((number - 1)) "$room/journal" | cmp -s - "$room/lines" || return 1
    cp "$room/journal" "$room/lines"
    line=$(tail -n 1 "$room/journal")
    want=$(git log -1 --format='%(trailers:key=Foundry-Chain,valueonly)' "$at")
    this=$(tail -n 1 "$room/journal" | tr -d '\n' | sum)
    if [ -z "$want" ] && [ "$old" -eq $((number - 1)) ]; then
      old=$number before=$this && continue
    fi
    [ "$want" = "$this" ] || return 1
    case $line in '{"seq":'"$number"',"at":"'*'","run":"'"$run"'","previous":"'"$before"'",'*) ;;
      *) return 1 ;;
    esac
    named=$(printf '%s\n' "$line" | sed -n 's/.*"tree":"\([0-9a-f]*\)"}$/\1/p')
    if [ "$number" -gt 1 ]; then tree "$at" "$named" || return 1; fi
    before=$this
  done
  [ "$number" -gt 1 ] && [ "$old" -eq 0 ] # older lines, made before there was one, tell nothing
}
enter() { cd "$room/clone" && HOME=$room/home TMPDIR=$room/tmp CI=1 && export HOME TMPDIR CI; }
run() {
  (enter && exec sh -c "$2") </dev/null >"$room/out" 2>&1; code=$?
  if [ "$code" -eq 0 ]; then ok "$1" 'exit code 0'; else told "$1" "exit code $code"; fi
}
setup() { run "set up: $1" "$2"; }
snapshot() { git -C "$room/clone" add -A; }
restore() { git -C "$room/clone" checkout-index -afq; git -C "$room/clone" clean -ffdq; }

commit=$(git -C "$top" log -1 --format=%H --grep="^Foundry-Run: $run\$" HEAD)
[ -n "$commit" ] || { told commit "HEAD holds no commit of the run $run"; exit 1; }
mkdir "$room/home" "$room/tmp"
git clone -q --no-checkout "$top" "$room/clone" &&
  git -C "$room/clone" checkout -q --detach "$commit" && mkdir -p "$room/clone/$f/local" || exit 1
if (cd "$room/clone" && chain); then ok chain "whole, up to $commit"
else told chain 'broken: a line, a commit or a file is not as the build left it'; fi
git -C "$top" show "$commit:$f/evidence.json" | cmp -s - "$here/evidence.json" ||
  told evidence.json 'is not the one of the last commit'
@CALLS@
exit "$bad"
"""
