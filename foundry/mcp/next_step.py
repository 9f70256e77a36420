"""`workflow_next`: begin a walk, go on with it, tell a step again; with a token or without one."""

from collections.abc import Mapping, Sequence
from typing import Any

from foundry.mcp import token
from foundry.mcp.messages import NextReply, NextRequest, Refusal, compact
from foundry.mcp.prompts import engine_step_text
from foundry.mcp.sessions import Session, Sessions, advanced, due_step
from foundry.schema.workflow import LoopStep, Workflow
from foundry.workflow.cursor import Blocked, Cursor, Finished, Instruction, Next, due
from foundry.workflow.disclosure import disclose
from foundry.workflow.loops import own_names
from foundry.workflow.placeholders import fill, unknown_name
from foundry.workflow.replay import replay

LIMIT = 256 * 1024
"""Bytes of a walk's variables, as JSON."""

WARN_AT = 0.8
"""Share of `LIMIT` from which on a reply warns."""

RESERVED = ("_currentLoop", "_loop")
"""How names begin that are ours: a client that sends them back sets nothing."""

STATELESS_AGAIN = "the same `completedSteps`"

Context = Mapping[str, Any]


def start(sessions: Sessions, workflow: Workflow, context: Context) -> NextReply:
    """A new session, and its first step; raises Refusal for more variables than are kept."""
    context = _client_variables(context)
    _refuse_too_large({**workflow.context, **context})
    session = sessions.begin(workflow, context)
    return _reply_with_token(session, 0, *session.at(0))


def go_on(sessions: Sessions, request: NextRequest) -> NextReply:
    """The step after the one that a token belongs to, which is done; or that one again.

    Raises Refusal when the token, or what comes with it, does not fit the session.
    """
    ticket = token.read(request.token or "")
    with sessions.held(ticket) as session:
        _refuse_mixed(session, ticket.number, request)
        if request.rehydrate:
            return _reply_with_token(session, ticket.number, *session.at(ticket.number), whole=True)
        return _complete(session, ticket.number, request.context or {})


def without_token(workflow: Workflow, request: NextRequest) -> NextReply:
    """The seed's stateless form: what is done and all variables come with every call, and go.

    Raises WorkflowError when the steps can't have been done so, Refusal for too many variables.
    """
    completed = request.completed_steps or ()
    left = _stale_loop_variables(workflow, completed)
    context = _client_variables({k: v for k, v in (request.context or {}).items() if k not in left})
    _refuse_too_large({**workflow.context, **context})
    cursor = replay(workflow, completed, context)
    reply = _reply(workflow, cursor, whole=request.rehydrate, again=STATELESS_AGAIN)
    if request.rehydrate or not completed:
        reply = _with_rules(reply, workflow, cursor.context)
    warnings = (*_size_warnings(cursor), *cursor.warnings, *reply.warnings)
    return _with(reply, context={**context, **reply.context}, warnings=warnings)


def _complete(session: Session, number: int, context: Context) -> NextReply:
    """What follows once the step is done; the same again for the same call."""
    workflow, (cursor, before) = session.workflow, session.at(number)
    coming = due(workflow, cursor)
    context = _client_variables(context, coming)
    if not isinstance(coming, Instruction) and not context:
        return _reply_with_token(
            session, number, cursor, before
        )  # over, or blocked: nothing to complete
    if number < len(session.done):
        _refuse_other_context(session, number, context)
        return _reply_with_token(session, number + 1, *session.at(number + 1))
    if isinstance(coming, Finished):
        raise Refusal(
            "complete",
            "the workflow is complete: no step is left whose variables these could be",
            hint="Begin again with `workflowId`, and send them as its `context`",
        )
    after = advanced(workflow, cursor, context)
    _refuse_too_large(after.context)
    reply = _reply_with_token(session, number + 1, after, cursor)
    session.complete(context, after)
    return reply


def _refuse_mixed(session: Session, number: int, request: NextRequest) -> None:
    """Raise Refusal when a token's call also asks for something else."""
    if request.workflow_id not in (None, session.workflow.id):
        raise Refusal(
            "invalid-arguments",
            f"this token belongs to the workflow {session.workflow.id!r}",
            hint="Leave `workflowId` out, or leave `token` out to begin another workflow",
        )
    if request.completed_steps or (request.rehydrate and request.context):
        raise Refusal(
            "invalid-arguments",
            "with a token goes no `completedSteps`, and no `context` with `rehydrate`",
            hint="The token knows what is done; send `context` with the call that goes on",
        )
    if number > len(session.done):
        raise Refusal(
            "token-unknown",
            "this token is of a step that the session has not reached: its file is an older copy",
            hint="Go on with the `token` here",
            token=session.token(),
        )


def _refuse_other_context(session: Session, number: int, context: Context) -> None:
    """Raise Refusal unless the step was completed with the same variables."""
    done = session.done[number]
    if compact(context, sort=True) == compact(done.context, sort=True):
        return
    raise Refusal(
        "token-used",
        f"the step {done.step!r} of this token is done already, with another context",
        hint="Go on with the `token` here, and send the variables with it; `rehydrate: true` with "
        "it tells the step that is due now. The same context as then brings the same reply as then",
        token=session.token(),
        step=due_step(session.workflow, session.cursor),
    )


def _reply_with_token(
    session: Session, number: int, cursor: Cursor, before: Cursor, *, whole: bool = False
) -> NextReply:
    """The reply with its token, with the warnings that are new, and at first with the rules."""
    workflow = session.workflow
    reply = _reply(workflow, cursor, whole=whole)
    if whole or number == 0:
        reply = _with_rules(reply, workflow, cursor.context)
    known = 0 if whole or reply.is_complete else len(before.warnings)
    return _with(
        reply,
        token=session.token(number),
        warnings=(*_size_warnings(cursor), *cursor.warnings[known:], *reply.warnings),
    )


def _reply(
    workflow: Workflow, cursor: Cursor, *, whole: bool, again: str = "this `token`"
) -> NextReply:
    match due(workflow, cursor):
        case Instruction() as instruction:
            disclosed = disclose(workflow, instruction, "thread", rehydrate=whole)
            text = "\n\n".join(
                filter(None, (engine_step_text(instruction.step), disclosed.guidance["prompt"]))
            )
            return NextReply(
                step=dict(disclosed.step),
                guidance={**disclosed.guidance, "prompt": text},
                is_complete=False,
                context=dict(disclosed.context),
                warnings=disclosed.warnings,
            )
        case Finished():
            prompt = {"prompt": "The workflow is complete."}
            return NextReply(step=None, guidance=prompt, is_complete=True, context={}, warnings=())
        case Blocked() as blocked:
            return _blocked(blocked, again)


def _blocked(blocked: Blocked, again: str) -> NextReply:
    hint = f"{blocked.hint}. Call again with {again}, and the missing variable in `context`"
    return NextReply(
        step=None,
        guidance={"prompt": f"{blocked.reason}. {hint}"},
        is_complete=False,
        context={},
        warnings=(),
        error={"code": blocked.code, "message": blocked.reason, "hint": hint, "step": blocked.step},
    )


def _with_rules(reply: NextReply, workflow: Workflow, context: Context) -> NextReply:
    """The reply with what holds for the whole walk: when it begins, and for who asks again."""
    whole = {
        "preconditions": workflow.preconditions,
        "clarificationPrompts": workflow.clarification_prompts,
        "metaGuidance": workflow.meta_guidance,
    }
    filled = {key: [fill(line, context) for line in lines] for key, lines in whole.items() if lines}
    unknown = dict.fromkeys(
        f"{key}: {unknown_name(name, context)}"
        for key, lines in filled.items()
        for line in lines
        for name in line.unknown
    )
    rules = {key: [line.text for line in lines] for key, lines in filled.items()}
    return _with(reply, guidance={**reply.guidance, **rules}, warnings=(*reply.warnings, *unknown))


def _client_variables(context: Context, coming: Next | None = None) -> dict[str, Any]:
    """The variables that a client sets: what it only sends back of ours is none of them."""
    ours: Context = {}
    if isinstance(coming, Instruction) and coming.loop is not None:
        names = own_names(coming.loop.loop)
        ours = {name: coming.context[name] for name in names if name in coming.context}
    return {
        name: value
        for name, value in context.items()
        if not name.startswith(RESERVED) and not (name in ours and ours[name] == value)
    }


def _stale_loop_variables(workflow: Workflow, completed: Sequence[str]) -> frozenset[str]:
    """The loops' variables that a client may still have from earlier replies, and sends back.

    The loop around the step that is due brings its own anew; a name that the workflow itself
    begins with is no mere loop variable.
    """
    done = {name.rsplit("/", 1)[-1] for name in completed}
    loops = (step for step in workflow.steps if isinstance(step, LoopStep))
    passed = (loop for loop in loops if any(step.id in done for step in loop.steps))
    return frozenset(name for loop in passed for name in own_names(loop.loop)) - set(
        workflow.context
    )


def _refuse_too_large(context: Context) -> None:
    size = len(compact(context).encode())
    if size > LIMIT:
        raise Refusal(
            "context-too-large",
            f"the variables have {size:,} bytes as JSON, more than {LIMIT:,}",
            hint="Keep texts and data in files, and their names in variables",
        )


def _size_warnings(cursor: Cursor) -> tuple[str, ...]:
    size = len(compact(cursor.context).encode())
    if size < WARN_AT * LIMIT:
        return ()
    return (f"the variables have {size:,} bytes of at most {LIMIT:,}: keep data in files",)


def _with(reply: NextReply, **changes: Any) -> NextReply:
    return reply.model_copy(update=changes)
