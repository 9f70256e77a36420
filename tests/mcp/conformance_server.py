"""A server with the fixtures of the official conformance suite, behind Foundry's own transport.

`python -m tests.mcp.conformance_server` prints its address on stdout and serves until it is ended.
"""

import json
import sys
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.subscriptions import ListenHandler
from mcp.shared.exceptions import MCPError

from foundry.mcp.transport import serve_http
from tests.mcp.conformance_tools import (
    BUS,
    PNG,
    TOOLS,
    Context,
    Result,
    answers,
    embedded,
    form,
    image,
    missing,
    properties,
    text,
)

TEMPLATE = ("test://template/", "/data")
CONTEXT = types.ElicitRequest(
    params=form("What context should the prompt use?", properties(context={"type": "string"}))
)
TEXTS = {
    "test://static-text": "This is the content of the static text resource.",
    "test://watched-resource": "Somebody watches this.",
}
ARGUMENTS = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
    "test_input_required_result_prompt": (),
}


async def list_tools(ctx: Context, params: Any) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[described for described, _ in TOOLS.values()])


async def call_tool(ctx: Context, params: types.CallToolRequestParams) -> Result:
    if params.name not in TOOLS:
        raise MCPError(code=types.INVALID_PARAMS, message=f"Unknown tool {params.name!r}")
    return await TOOLS[params.name][1](ctx, params)


async def list_resources(ctx: Context, params: Any) -> types.ListResourcesResult:
    named = [(uri, "text/plain") for uri in TEXTS] + [("test://static-binary", "image/png")]
    return types.ListResourcesResult(
        resources=[
            types.Resource(uri=uri, name=uri, description="A fixture", mime_type=kind)
            for uri, kind in named
        ]
    )


async def list_templates(ctx: Context, params: Any) -> types.ListResourceTemplatesResult:
    template = types.ResourceTemplate(
        uri_template="{id}".join(TEMPLATE), name="template", mime_type="application/json"
    )
    return types.ListResourceTemplatesResult(resource_templates=[template])


async def read_resource(
    ctx: Context, params: types.ReadResourceRequestParams
) -> types.ReadResourceResult:
    uri = params.uri
    before, after = TEMPLATE
    found: types.TextResourceContents | types.BlobResourceContents
    if uri in TEXTS:
        found = types.TextResourceContents(uri=uri, mime_type="text/plain", text=TEXTS[uri])
    elif uri == "test://static-binary":
        found = types.BlobResourceContents(uri=uri, mime_type="image/png", blob=PNG)
    elif uri.startswith(before) and uri.endswith(after):
        name = uri.removeprefix(before).removesuffix(after)
        data = {"id": name, "templateTest": True, "data": f"Data for ID: {name}"}
        found = types.TextResourceContents(
            uri=uri, mime_type="application/json", text=json.dumps(data)
        )
    else:
        raise MCPError(code=types.INVALID_PARAMS, message="No such resource", data={"uri": uri})
    return types.ReadResourceResult(contents=[found])


async def list_prompts(ctx: Context, params: Any) -> types.ListPromptsResult:
    return types.ListPromptsResult(
        prompts=[
            types.Prompt(
                name=name,
                description="A fixture",
                arguments=[types.PromptArgument(name=each, required=True) for each in arguments],
            )
            for name, arguments in ARGUMENTS.items()
        ]
    )


async def get_prompt(
    ctx: Context, params: types.GetPromptRequestParams
) -> types.GetPromptResult | types.InputRequiredResult:
    given = params.arguments or {}
    content: list[Any]
    match params.name:
        case "test_simple_prompt":
            content = [text("This is a simple prompt for testing.")]
        case "test_prompt_with_arguments":
            one, two = given["arg1"], given["arg2"]
            content = [text(f"Prompt with arguments: arg1='{one}', arg2='{two}'")]
        case "test_prompt_with_embedded_resource":
            words = "Embedded resource content for testing."
            content = [
                embedded(given["resourceUri"], "text/plain", words),
                text("Please process the embedded resource above."),
            ]
        case "test_prompt_with_image":
            content = [image(), text("Please analyze the image above.")]
        case "test_input_required_result_prompt":
            if answers(params, "user_context") is None:
                return missing({"user_context": CONTEXT})
            content = [text("A prompt with what you said in mind.")]
        case unknown:
            raise MCPError(code=types.INVALID_PARAMS, message=f"Unknown prompt {unknown!r}")
    messages = [types.PromptMessage(role="user", content=each) for each in content]
    return types.GetPromptResult(messages=messages)


async def complete(ctx: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
    words = [each for each in ("paris", "park", "party") if each.startswith(params.argument.value)]
    completion = types.Completion(values=words, total=len(words), has_more=False)
    return types.CompleteResult(completion=completion)


async def nothing(ctx: Context, params: Any) -> types.EmptyResult:
    return types.EmptyResult()


def make() -> Server[Any]:
    server: Server[Any] = Server(
        "conformance-fixtures",
        version="1",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_subscribe_resource=nothing,
        on_unsubscribe_resource=nothing,
        on_subscriptions_listen=ListenHandler(BUS),
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_completion=complete,
    )
    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, nothing)
    security = RequestStateSecurity.ephemeral()
    server.middleware.append(RequestStateBoundary(security, default_audience=server.name))
    return server


if __name__ == "__main__":
    # Stateful, since what the suite tests of 2025-11-25 (a tool that asks its client) needs it.
    serve_http(make(), "127.0.0.1", 0, lambda url: print(url, flush=True), stateless=False)
    sys.exit()
