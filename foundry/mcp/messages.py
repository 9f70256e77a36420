"""What client and server say to each other: requests, replies and refusals of the tools."""

import json
from typing import Any, Literal

from pydantic import BaseModel, Field

from foundry.errors import FoundryError, ToolError
from foundry.schema.base import Document, Json

MAX_OUTPUT = 10_000
"""Characters of a step's output that are judged."""

ERROR = {
    "type": "object",
    "description": "why it could not be done (`code`, `message`), and how to go on (`hint`)",
    "properties": {name: {"type": "string"} for name in ("code", "message", "hint")},
    "required": ["code", "message"],
}


class Nothing(Document):
    """A call without arguments."""


class GetRequest(Document):
    """Look at a workflow."""

    id: str = Field(description="as `workflow_list` names it")
    mode: Literal["metadata", "preview"] = Field(
        "preview", description="`preview` adds the first step"
    )


class NextRequest(Document):
    """Begin with `workflowId`; go on with `token`."""

    workflow_id: str | None = Field(None, description="begins a walk, see `workflow_list`")
    token: str | None = Field(
        None, description="`token` of the last reply: its step is done, give me the next one"
    )
    context: dict[str, Json] | None = Field(
        None,
        description="variables: those to begin with, later only those that the step has changed",
    )
    rehydrate: bool = Field(
        False,
        description="with `token`: tell its step again, in full, without going on; with "
        "`completedSteps`: tell the step that is due in full, and the rules of the whole workflow",
    )
    completed_steps: tuple[str, ...] | None = Field(
        None,
        description="instead of a token, with `workflowId`: the ids of all steps done, in order; "
        "`context` then has all variables",
    )


class ValidateRequest(Document):
    """Judge a step's output by the step's own criteria."""

    workflow_id: str = Field(description="as `workflow_list` names it")
    step_id: str = Field(description="a step, inside a loop or not")
    output: str = Field(max_length=MAX_OUTPUT)
    context: dict[str, Json] | None = Field(
        None, description="variables that criteria with a condition ask for"
    )


class ValidateJsonRequest(Document):
    """Judge a document."""

    workflow_json: str | dict[str, Json] = Field(description="a workflow, as text or as an object")


class StatusRequest(Document):
    """Look at a build; without arguments the one in the current folder."""

    run: str | None = Field(None, description="the id of a run")
    folder: str | None = Field(None, description="or its folder")


class Listed(Document):
    """A workflow in the list."""

    id: str
    name: str
    description: str
    category: str = "default"
    version: str


class ListReply(Document):
    """All workflows that there are."""

    workflows: tuple[Listed, ...]


class GetReply(Document):
    """A workflow."""

    id: str
    name: str
    description: str
    version: str
    preconditions: tuple[str, ...] = ()
    clarification_prompts: tuple[str, ...] = ()
    meta_guidance: tuple[str, ...] = ()
    function_definitions: tuple[dict[str, Json], ...] = Field(
        (), description="those of the whole workflow; a step brings those that it names"
    )
    total_steps: int
    first_step: dict[str, Json] | None = Field(
        None, description="`preview`: where it begins with an empty context"
    )
    warnings: tuple[str, ...] = ()


class NextReply(Document):
    """The step that is due."""

    step: dict[str, Json] | None = Field(description="null: none is due")
    guidance: dict[str, Json] = Field(description="`prompt` says what to do")
    is_complete: bool
    context: dict[str, Json] = Field(
        description="the loop's variables; all others are kept here and need not be sent back"
    )
    token: str | None = Field(None, description="for the next call, when the step is done")
    warnings: tuple[str, ...]
    error: dict[str, Json] | None = Field(None, description="why the walk is blocked")


class ValidateReply(Document):
    """A verdict."""

    valid: bool
    issues: tuple[str, ...]
    suggestions: tuple[str, ...]


class SchemaReply(Document):
    """JSON Schema of a workflow document."""

    schema_: dict[str, Json] = Field(alias="schema")


def compact(value: Any, *, sort: bool = False) -> str:
    """JSON as it is sent; raises Refusal for what JSON or UTF-8 can't hold."""
    try:
        text = json.dumps(
            value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=sort
        )
        text.encode()
    except ValueError as error:
        raise Refusal(
            "invalid-arguments",
            f"there is something that JSON can't hold: {error}",
            hint="Send finite numbers and whole Unicode characters",
        ) from error
    return text


def input_schema(request: type[Document]) -> dict[str, Any]:
    """JSON Schema of a tool's arguments."""
    return _object(request.model_json_schema(by_alias=True))


def output_schema(reply: type[BaseModel]) -> dict[str, Any]:
    """JSON Schema of a tool's reply: the reply itself, or an error."""
    schema = _object(reply.model_json_schema(by_alias=True, mode="serialization"))
    required = schema.pop("required", [])
    schema["properties"]["error"] = ERROR
    schema["anyOf"] = [{"required": required}, {"required": ["error"]}]
    return schema


def _object(schema: dict[str, Any]) -> dict[str, Any]:
    """Without the titles that pydantic adds: tools are read by models, word by word."""
    named = ("properties", "$defs")
    kept = {key: value for key, value in schema.items() if key != "title"}
    return {
        key: {name: _object(each) for name, each in value.items()} if key in named else _any(value)
        for key, value in kept.items()
    }


def _any(value: Any) -> Any:
    if isinstance(value, list):
        return [_any(each) for each in value]
    return _object(value) if isinstance(value, dict) else value


class Refusal(ToolError):
    """A call that can't be done as it is. `details` are facts that help to go on."""

    def __init__(self, code: str, message: str, *, hint: str, **details: Any) -> None:
        super().__init__(message, hint=hint)
        self.code = code
        self.details = details


def described(error: FoundryError) -> dict[str, Any]:
    """The `error` object of a reply; codes are words, and part of the interface."""
    error_object = {"code": _code(error), "message": error.message}
    if error.hint:
        error_object["hint"] = error.hint
    return error_object | (error.details if isinstance(error, Refusal) else {})


def _code(error: FoundryError) -> str:
    if isinstance(error, Refusal):
        return error.code
    words = "".join(f"-{each.lower()}" if each.isupper() else each for each in type(error).__name__)
    return words.strip("-")
