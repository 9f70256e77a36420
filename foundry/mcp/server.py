"""The server: tools, resources and prompts as the protocol names them."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import anyio.to_thread
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from foundry import __version__
from foundry.config import home
from foundry.errors import FoundryError, ProjectError
from foundry.mcp import prompts, runs
from foundry.mcp.messages import Refusal, compact, described, input_schema, output_schema
from foundry.mcp.sessions import Sessions
from foundry.mcp.tools import Tool, make_tools
from foundry.mcp.workflows import Catalog

INSTRUCTIONS = """\
Foundry walks workflows step by step and shows builds. `workflow_list` names the workflows, \
`workflow_next` begins one and goes on with the token of its last reply. `build_status` shows how \
a build stands; its artifacts are resources. `memory_search` finds what earlier turns and steps of \
its project did. Errors have a code, and a hint how to go on."""

R = TypeVar("R")

PAGE = 20
"""Runs whose artifacts are listed at a time."""

CHOICES = 100
"""Values that a completion may bring, by the protocol."""


def make_server() -> Server[Any]:
    """A server over the workflows, sessions and runs of this home."""
    sessions = Sessions(home() / "mcp" / "sessions")
    sessions.prune()
    tools = make_tools(Catalog(), sessions)
    listed = {name: _described(tool) for name, tool in tools.items()}

    async def list_tools(_ctx: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=list(listed.values()))

    async def call_tool(_ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = tools.get(params.name)
        if tool is None:
            hint = f"There are {', '.join(tools)}"
            raise _protocol_error(Refusal("unknown-tool", f"no tool {params.name!r}", hint=hint))
        return await _in_thread(_call, tool, params.arguments or {})

    return Server(
        "foundry",
        version=__version__,
        title="Foundry",
        instructions=INSTRUCTIONS,
        get_tool_input_schema=lambda name: listed[name].input_schema if name in listed else None,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=_list_resources,
        on_list_resource_templates=_list_templates,
        on_read_resource=_read_resource,
        on_list_prompts=_list_prompts,
        on_get_prompt=_get_prompt,
        on_completion=_complete,
    )


async def _in_thread(function: Callable[..., R], *arguments: Any) -> R:
    """Files, locks and git may make a caller wait; other callers shall not wait with it."""
    return await anyio.to_thread.run_sync(function, *arguments)


def _call(tool: Tool, arguments: Mapping[str, Any]) -> types.CallToolResult:
    try:
        reply = tool.call(arguments)
        text = compact(reply)
    except FoundryError as error:
        reply = {"error": described(error)}
        text = compact(reply)
    except OSError as error:
        reply = {"error": described(_disk_error(error))}
        text = compact(reply)
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)],
        structured_content=reply,
        is_error="error" in reply,
    )


def _disk_error(error: OSError) -> FoundryError:
    where = f": {error.filename}" if error.filename else ""
    return ProjectError(
        f"{error.strerror or error}{where}",
        hint="Mend what the disk or the permissions have, then send the same call again",
    )


def _described(tool: Tool) -> types.Tool:
    hints = types.ToolAnnotations(
        title=tool.title,
        read_only_hint=tool.reads_only,
        destructive_hint=False,
        idempotent_hint=tool.reads_only,
        open_world_hint=False,
    )
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=input_schema(tool.request),
        output_schema=output_schema(tool.reply),
        annotations=hints,
    )


# -- resources: the artifacts of runs ------------------------------------------------------------


async def _list_resources(
    _ctx: Any, params: types.PaginatedRequestParams | None
) -> types.ListResourcesResult:
    return await _in_thread(_page, params.cursor if params else None)


def _page(cursor: str | None) -> types.ListResourcesResult:
    """The artifacts of some runs, newest first; the cursor is the last run that was listed."""
    older = [run for run in runs.known() if cursor is None or run.id < cursor]
    page = older[:PAGE]
    resources = [
        types.Resource(
            uri=each.uri,
            name=each.name,
            title=f"{each.name} of {each.run}",
            description=each.what or "an artifact of a build",
            mime_type=each.kind,
            size=each.size,
        )
        for run in page
        for each in runs.artifacts(run)
    ]
    more = page[-1].id if len(older) > PAGE else None
    return types.ListResourcesResult(resources=resources, next_cursor=more)


async def _list_templates(_ctx: Any, _params: Any) -> types.ListResourceTemplatesResult:
    template = types.ResourceTemplate(
        uri_template=runs.TEMPLATE,
        name="artifact",
        title="An artifact of a build",
        description="What a run has written, by the run's id and the artifact's name",
    )
    return types.ListResourceTemplatesResult(resource_templates=[template])


async def _read_resource(
    _ctx: Any, params: types.ReadResourceRequestParams
) -> types.ReadResourceResult:
    return await _in_thread(_read, params.uri)


def _read(uri: str) -> types.ReadResourceResult:
    try:
        found = runs.artifact(uri)
        text = found.path.read_text(encoding="utf-8", errors="replace")
    except FoundryError as error:
        raise _protocol_error(error, uri=uri) from error
    contents = types.TextResourceContents(uri=uri, mime_type=found.kind, text=text)
    return types.ReadResourceResult(contents=[contents])


async def _complete(_ctx: Any, params: types.CompleteRequestParams) -> types.CompleteResult:
    """Ids of runs and names of artifacts; nothing else has a list to choose from."""
    about = getattr(params.ref, "uri", "")
    given = (params.context.arguments if params.context else None) or {}
    names = await _in_thread(_choices, params.argument.name, given) if about else []
    fitting = [name for name in names if name.startswith(params.argument.value)]
    completion = types.Completion(
        values=fitting[:CHOICES], total=len(fitting), has_more=len(fitting) > CHOICES
    )
    return types.CompleteResult(completion=completion)


def _choices(argument: str, given: Mapping[str, str]) -> list[str]:
    known = runs.known()
    if argument == "run":
        return [run.id for run in known]
    return [each.name for run in known if run.id == given.get("run") for each in
            runs.artifacts(run)]  # fmt: skip


# -- prompts: what Foundry tells its own models --------------------------------------------------


async def _list_prompts(_ctx: Any, _params: Any) -> types.ListPromptsResult:
    return types.ListPromptsResult(
        prompts=[
            types.Prompt(
                name=each.name,
                description=each.description,
                arguments=[
                    types.PromptArgument(name=name, required=False) for name in each.arguments
                ],
            )
            for each in prompts.prompts()
        ]
    )


async def _get_prompt(_ctx: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    try:
        text = prompts.render(params.name, params.arguments or {})
    except FoundryError as error:
        raise _protocol_error(error) from error
    content = types.TextContent(type="text", text=text)
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])


def _protocol_error(error: FoundryError, **data: Any) -> MCPError:
    """Where the protocol has no place for a tool's error: its own, with ours as data."""
    return MCPError(
        code=types.INVALID_PARAMS, message=str(error), data={**data, "error": described(error)}
    )
