"""The tools that the conformance suite calls, as its scenarios describe them."""

import asyncio
import base64
import json
import struct
import warnings
import zlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    PromptsListChanged,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError

Context = ServerRequestContext[Any, Any]
Result = types.CallToolResult | types.InputRequiredResult
Call = Callable[[Context, types.CallToolRequestParams], Awaitable[Result]]

BUS = InMemorySubscriptionBus()
TOOLS: dict[str, tuple[types.Tool, Call]] = {}

PAUSE = 0.05
"""Seconds between two notifications, which the scenarios ask for."""


def _png() -> str:
    """One red pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    pixel = chunk(b"IDAT", zlib.compress(b"\0\xff\0\0"))
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + header + pixel + chunk(b"IEND", b"")).decode()


def _wav() -> str:
    """Two samples of silence."""
    form = struct.pack("<HHIIHH", 1, 1, 8000, 8000, 1, 8)
    body = (
        b"WAVEfmt "
        + struct.pack("<I", len(form))
        + form
        + b"data"
        + struct.pack("<I", 2)
        + b"\x80\x80"
    )
    return base64.b64encode(b"RIFF" + struct.pack("<I", len(body)) + body).decode()


PNG, WAV = _png(), _wav()


def tool(schema: Mapping[str, Any] | None = None) -> Callable[[Call], Call]:
    """Register a coroutine under its own name."""

    def register(call: Call) -> Call:
        described = types.Tool(
            name=call.__name__,
            description=f"Fixture of the conformance suite: {call.__name__}",
            input_schema=dict(schema or {"type": "object"}),
        )
        TOOLS[call.__name__] = (described, call)
        return call

    return register


def text(words: str) -> types.TextContent:
    return types.TextContent(type="text", text=words)


def image() -> types.ImageContent:
    return types.ImageContent(type="image", data=PNG, mime_type="image/png")


def embedded(uri: str, kind: str, words: str) -> types.EmbeddedResource:
    contents = types.TextResourceContents(uri=uri, mime_type=kind, text=words)
    return types.EmbeddedResource(type="resource", resource=contents)


def result(*content: Any, is_error: bool = False) -> types.CallToolResult:
    return types.CallToolResult(content=list(content), is_error=is_error)


def properties(**named: Any) -> dict[str, Any]:
    return {"type": "object", "properties": named, "required": list(named)}


# -- content -------------------------------------------------------------------------------------


@tool()
async def test_simple_text(ctx: Context, params: types.CallToolRequestParams) -> Result:
    return result(text("This is a simple text response for testing."))


@tool()
async def test_image_content(ctx: Context, params: types.CallToolRequestParams) -> Result:
    return result(image())


@tool()
async def test_audio_content(ctx: Context, params: types.CallToolRequestParams) -> Result:
    return result(types.AudioContent(type="audio", data=WAV, mime_type="audio/wav"))


@tool()
async def test_embedded_resource(ctx: Context, params: types.CallToolRequestParams) -> Result:
    words = "This is an embedded resource content."
    return result(embedded("test://embedded-resource", "text/plain", words))


@tool()
async def test_multiple_content_types(ctx: Context, params: types.CallToolRequestParams) -> Result:
    data = json.dumps({"test": "data", "value": 123})
    mixed = embedded("test://mixed-content-resource", "application/json", data)
    return result(text("Multiple content types test:"), image(), mixed)


@tool()
async def test_error_handling(ctx: Context, params: types.CallToolRequestParams) -> Result:
    return result(text("This tool intentionally returns an error for testing"), is_error=True)


# -- notifications while it works ----------------------------------------------------------------


async def _log(ctx: Context, words: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # logging is deprecated since 2026-07-28, and still tested
        await ctx.session.send_log_message("info", words, related_request_id=ctx.request_id)


@tool()
async def test_tool_with_logging(ctx: Context, params: types.CallToolRequestParams) -> Result:
    await _log(ctx, "Tool execution started")
    await asyncio.sleep(PAUSE)
    await _log(ctx, "Tool processing data")
    await asyncio.sleep(PAUSE)
    await _log(ctx, "Tool execution completed")
    return result(text("It logged three times."))


@tool()
async def test_logging_tool(ctx: Context, params: types.CallToolRequestParams) -> Result:
    await _log(ctx, "A line for those who asked for one")
    return result(text("It logged once."))


@tool()
async def test_tool_with_progress(ctx: Context, params: types.CallToolRequestParams) -> Result:
    for done in (0, 50, 100):
        await ctx.session.report_progress(done, 100)
        await asyncio.sleep(PAUSE)
    return result(text("It went from 0 to 100."))


@tool()
async def test_trigger_tool_change(ctx: Context, params: types.CallToolRequestParams) -> Result:
    await BUS.publish(ToolsListChanged())
    return result(text("The list of tools has changed."))


@tool()
async def test_trigger_prompt_change(ctx: Context, params: types.CallToolRequestParams) -> Result:
    await BUS.publish(PromptsListChanged())
    return result(text("The list of prompts has changed."))


# -- requests to the client, as until 2025-11-25 -------------------------------------------------


@tool(properties(prompt={"type": "string"}))
async def test_sampling(ctx: Context, params: types.CallToolRequestParams) -> Result:
    prompt = (params.arguments or {})["prompt"]
    request = types.CreateMessageRequest(params=sampling(prompt, 100))
    answer = await _ask(ctx, request, types.CreateMessageResult)
    words = answer.content.text if isinstance(answer.content, types.TextContent) else ""
    return result(text(f"LLM response: {words}"))


@tool(properties(message={"type": "string"}))
async def test_elicitation(ctx: Context, params: types.CallToolRequestParams) -> Result:
    wanted = properties(
        username={"type": "string", "description": "User's response"},
        email={"type": "string", "description": "User's email address"},
    )
    return await _elicited(ctx, (params.arguments or {})["message"], wanted, "User response:")


@tool()
async def test_elicitation_sep1034_defaults(
    ctx: Context, params: types.CallToolRequestParams
) -> Result:
    wanted = properties(
        name={"type": "string", "default": "John Doe"},
        age={"type": "integer", "default": 30},
        score={"type": "number", "default": 95.5},
        status={"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        verified={"type": "boolean", "default": True},
    )
    return await _elicited(ctx, "Check what is filled in", wanted, "Elicitation completed:")


@tool()
async def test_elicitation_sep1330_enums(
    ctx: Context, params: types.CallToolRequestParams
) -> Result:
    def titled(word: str, name: str) -> list[dict[str, str]]:
        ranks = enumerate(("First", "Second", "Third"), 1)
        return [{"const": f"value{n}", "title": f"{rank} {name}"} for n, rank in ranks]

    options = ["option1", "option2", "option3"]
    wanted = properties(
        untitledSingle={"type": "string", "enum": options},
        titledSingle={"type": "string", "oneOf": titled("value", "Option")},
        legacyEnum={
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        untitledMulti={"type": "array", "items": {"type": "string", "enum": options}},
        titledMulti={"type": "array", "items": {"anyOf": titled("value", "Choice")}},
    )
    return await _elicited(ctx, "Choose", wanted, "Elicitation completed:")


async def _elicited(ctx: Context, message: str, schema: dict[str, Any], words: str) -> Result:
    request = types.ElicitRequest(params=form(message, schema))
    answer = await _ask(ctx, request, types.ElicitResult)
    return result(text(f"{words} action={answer.action}, content={json.dumps(answer.content)}"))


async def _ask(ctx: Context, request: Any, kind: Any) -> Any:
    from mcp.shared.message import ServerMessageMetadata

    where = ServerMessageMetadata(related_request_id=ctx.request_id)
    return await ctx.session.send_request(request, kind, metadata=where)


# -- requests to the client, as since 2026-07-28 -------------------------------------------------


def form(message: str, schema: dict[str, Any]) -> types.ElicitRequestFormParams:
    return types.ElicitRequestFormParams(message=message, requested_schema=schema)


def sampling(prompt: str, tokens: int) -> types.CreateMessageRequestParams:
    message = types.SamplingMessage(role="user", content=text(prompt))
    return types.CreateMessageRequestParams(messages=[message], max_tokens=tokens)


NAME = types.ElicitRequest(params=form("What is your name?", properties(name={"type": "string"})))
OK = types.ElicitRequest(params=form("Please confirm", properties(ok={"type": "boolean"})))
COLOUR = types.ElicitRequest(
    params=form("Step 2: What is your favorite color?", properties(color={"type": "string"}))
)
ROOTS = types.ListRootsRequest(params=types.RequestParams())


def missing(requests: Mapping[str, Any], state: str | None = None) -> types.InputRequiredResult:
    return types.InputRequiredResult(input_requests=dict(requests), request_state=state)


def answers(params: Any, *names: str) -> list[Any] | None:
    """The client's answers to these requests, or None while one is missing or no answer at all."""
    given = params.input_responses or {}
    found = [given.get(name) for name in names]
    return None if any(each is None for each in found) else found


def one_round(name: str, requests: Mapping[str, Any], state: str | None = None) -> None:
    """A tool that asks once, and then says what it heard."""

    async def call(ctx: Context, params: types.CallToolRequestParams) -> Result:
        heard = answers(params, *requests)
        if heard is None or params.request_state != state:
            return missing(requests, state)
        told = json.dumps([each.model_dump(mode="json") for each in heard])
        return result(text(f"{state or 'heard'}: {told}"))

    call.__name__ = name
    tool()(call)


CAPITAL = types.CreateMessageRequest(params=sampling("What is the capital of France?", 100))
GREETING = types.CreateMessageRequest(params=sampling("Generate a greeting", 50))
_PREFIX = "test_input_required_result_"
one_round(f"{_PREFIX}sampling", {"capital_question": CAPITAL})
one_round(f"{_PREFIX}list_roots", {"client_roots": ROOTS})
one_round(f"{_PREFIX}request_state", {"confirm": OK}, "state-ok")
one_round(f"{_PREFIX}tampered_state", {"confirm": OK}, "untampered")
one_round(
    f"{_PREFIX}multiple_inputs",
    {"user_name": NAME, "greeting": GREETING, "client_roots": ROOTS},
    "several",
)


@tool()
async def test_input_required_result_elicitation(
    ctx: Context, params: types.CallToolRequestParams
) -> Result:
    heard = answers(params, "user_name")
    content = getattr(heard[0], "content", None) if heard else None
    if not isinstance(content, dict) or not isinstance(content.get("name"), str):
        return missing({"user_name": NAME})
    return result(text(f"Hello, {content['name']}!"))


@tool()
async def test_input_required_result_multi_round(
    ctx: Context, params: types.CallToolRequestParams
) -> Result:
    if params.request_state == "second" and answers(params, "step2"):
        return result(text("Both steps are done."))
    if params.request_state in ("first", "second") and (
        answers(params, "step1") or params.request_state == "second"
    ):
        return missing({"step2": COLOUR}, "second")
    step = form("Step 1: What is your name?", properties(name={"type": "string"}))
    return missing({"step1": types.ElicitRequest(params=step)}, "first")


@tool()
async def test_input_required_result_capabilities(
    ctx: Context, params: types.CallToolRequestParams
) -> Result:
    """Asks only for what the client can do."""
    can = ctx.session.client_capabilities or types.ClientCapabilities()
    requests = {
        name: request
        for name, request, able in (
            ("user_name", NAME, can.elicitation),
            ("capital_question", CAPITAL, can.sampling),
            ("client_roots", ROOTS, can.roots),
        )
        if able is not None
    }
    if not requests or answers(params, *requests):
        return result(text("That is all."))
    return missing(requests)


@tool()
async def test_streaming_elicitation(ctx: Context, params: types.CallToolRequestParams) -> Result:
    await ctx.session.report_progress(0, 1)
    return result(text("done")) if answers(params, "user_name") else missing({"user_name": NAME})


@tool()
async def test_missing_capability(ctx: Context, params: types.CallToolRequestParams) -> Result:
    """Works only for a client that can sample."""
    can = ctx.session.client_capabilities
    if can is None or can.sampling is None:
        needed = types.ClientCapabilities(sampling=types.SamplingCapability())
        data = types.MissingRequiredClientCapabilityErrorData(required_capabilities=needed)
        raise MCPError(
            code=types.MISSING_REQUIRED_CLIENT_CAPABILITY,
            message="This tool needs the capability `sampling`",
            data=data.model_dump(by_alias=True, mode="json", exclude_none=True),
        )
    return result(text("The client can sample."))
