"""Permission: a wrapper around tools that asks the rules, and a person, before a call runs."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from foundry.errors import DecisionNeeded
from foundry.permission import approvals
from foundry.permission.approvals import Approve, question
from foundry.permission.decide import decide, refused
from foundry.permission.operation import COMMAND, Operation
from foundry.permission.resolved_path import PathResolver
from foundry.permission.shell_operations import command_operations
from foundry.schema.events import Judged, Observer
from foundry.schema.permission import Answer, Effect, Mode, Policy, Question, Verdict
from foundry.tools.base import Tool, ToolResult
from foundry.tools.toolset import OURS

_NAMED = (
    "Name programs and files outright, write `d=$(mktemp -d) || exit 1`, or put the steps into a "
    "script in the project."
)
_OTHERWISE = "Find another way with what is allowed, or say in your submission what is missing."
_PLAN = "This run only plans: read, think, and submit what you found."


class Guard:
    """Decides on the calls of one conversation.

    A refusal is an error result that the model can work around. A call raises DecisionNeeded,
    which pauses the run, when a question finds nobody or when too much was refused; making a
    guard raises ProjectError when the approvals of the run are damaged.
    """

    def __init__(
        self, policy: Policy, root: Path, *, run: str, step: str, approve: Approve,
        observe: Observer,
    ) -> None:  # fmt: skip
        self._resolver = PathResolver.of(root)
        self._run, self._step = run, step
        self._approve, self._observe = approve, observe
        self._kept = approvals.load(run)
        given = policy.model_copy(update={"rules": (*policy.rules, *self._kept.always)})
        self._policy = self._resolver.resolve_rules(given)
        self._refused: list[str] = []

    def wrap(self, tools: Mapping[str, Tool[Any]]) -> dict[str, Tool[Any]]:
        """The same tools, each asking first."""
        return {name: self._guarded(tool) for name, tool in tools.items()}

    def _guarded(self, tool: Tool[Any]) -> Tool[Any]:
        def call(arguments: BaseModel) -> str | ToolResult:
            verdict, asked = self._decide(tool, arguments)
            match verdict.effect:
                case Effect.ALLOW:
                    self._announce(tool, arguments, "allow", verdict, "policy")
                    return tool.call(arguments)
                case Effect.DENY:
                    self._announce(tool, arguments, "deny", verdict, "policy")
                    return self._refuse(verdict.part, self._advice(verdict))
            return self._ask(tool, arguments, verdict, asked)

        return replace(tool, call=call)

    def _decide(
        self, tool: Tool[Any], arguments: BaseModel
    ) -> tuple[Verdict, tuple[Operation, ...]]:
        if self._policy.mode is Mode.PLAN and not tool.reads_only:
            why = "only tools that read are allowed (--permission plan)"
            return Verdict(effect=Effect.DENY, part=tool.name, why=why), ()
        operations = self._operations(tool, arguments)
        return decide(self._policy.rules, operations), refused(self._policy.rules, operations)

    def _operations(self, tool: Tool[Any], arguments: BaseModel) -> tuple[Operation, ...]:
        """What the rules decide on: the tool with its path, and the pieces of its command."""
        path = str(getattr(arguments, tool.path)) if tool.path else ""
        paths = self._resolver.resolve(self._resolver.root, path) if tool.path else ()
        itself = (Operation(self._name_in_rules(tool), path or tool.name, paths=paths),)
        if not tool.command:
            return itself
        pieces = command_operations(str(getattr(arguments, tool.command)), self._resolver)
        return pieces if tool.name == COMMAND else (*itself, *pieces)

    def _name_in_rules(self, tool: Tool[Any]) -> str:
        named = any(tool.name in rule.tools for rule in self._policy.rules)
        return tool.rules_of if tool.rules_of and tool.name in OURS and not named else tool.name

    # -- asking ------------------------------------------------------------------------------

    def _ask(
        self, tool: Tool[Any], arguments: BaseModel, verdict: Verdict, asked: tuple[Operation, ...]
    ) -> str | ToolResult:
        about = question(self._step, tool, arguments, verdict, asked)
        answer = self._answer(about)
        if answer is None:
            self._keep(self._kept.model_copy(update={"pending": about}))
            self._announce(tool, arguments, "wait", verdict, "nobody")
            raise DecisionNeeded(
                f"{self._step} wants to use {tool.name}: {about.subject}",
                hint="`foundry resume` in a terminal asks about it",
            )
        self._announce(tool, arguments, answer.kind, verdict, "person")
        match answer.kind:
            case "no":
                return self._refuse(about.subject, "A person said no. Do it another way.")
            case "edit":
                return self._edited(tool, arguments, about, answer.text)
            case "always":
                self._always(about)
        return tool.call(arguments)

    def _answer(self, about: Question) -> Answer | None:
        """What was answered while the run was paused, else what a person says now."""
        given = self._kept.answers.get(approvals.fingerprint(about))
        if given is None:
            return self._approve(about)
        self._keep(self._kept.without(about))
        return given

    def _always(self, about: Question) -> None:
        self._keep(self._kept.model_copy(update={"always": (*self._kept.always, *about.always)}))
        more = self._resolver.resolve_rules(Policy(rules=about.always)).rules
        self._policy = self._policy.model_copy(update={"rules": (*self._policy.rules, *more)})

    def _keep(self, kept: approvals.Approvals) -> None:
        self._kept = kept
        approvals.save(self._run, kept)

    def _edited(
        self, tool: Tool[Any], arguments: BaseModel, about: Question, text: str
    ) -> ToolResult:
        changed = arguments.model_copy(update={about.editable: text})
        done = tool.call(changed)
        result = done if isinstance(done, ToolResult) else ToolResult(done)
        note = f"A person changed `{about.editable}` before this ran. It was:\n{text}\n---\n"
        return replace(result, content=note + result.content)

    # -- telling -----------------------------------------------------------------------------

    def _refuse(self, what: str, why: str) -> ToolResult:
        self._refused.append(what)
        if len(self._refused) >= self._policy.denials:
            calls = "; ".join(dict.fromkeys(self._refused))
            raise DecisionNeeded(
                f"{len(self._refused)} calls were refused in {self._step}: {calls}",
                hint="Allow what it needs (`foundry resume --allow 'run_command: NAME *'`), "
                "or let it try again with `foundry resume`",
            )
        return ToolResult(f"Not allowed: {what}\n{why}", is_error=True)

    def _advice(self, verdict: Verdict) -> str:
        if self._policy.mode is Mode.PLAN:
            return f"{_sentence(verdict.why)} {_PLAN}"
        advice = _NAMED if "when it runs" in verdict.why else _OTHERWISE
        return f"Why: {_sentence(verdict.why)} Nothing of this call was run. {advice}"

    def _announce(
        self, tool: Tool[Any], arguments: BaseModel, decision: str, verdict: Verdict, who: str
    ) -> None:
        rule = verdict.rule
        self._observe(
            Judged(
                step=self._step,
                tool=tool.name,
                subject=tool.subject(arguments),
                decision=decision,
                part=verdict.part,
                why=verdict.why,
                rule=f"{rule.text} ({rule.source})" if rule else "",
                who=who,
            )
        )


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."
