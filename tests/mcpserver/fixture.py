"""Our server with what the public conformance suite calls by name, on a free port.

The suite tests a server's plumbing through tools, resources and prompts of its own (``test_…``).
They stand here beside ours, and go through the same server object, transport and host checks.
No tool of ours asks its client back; those here do, for the way there is ours too. Log messages,
which the protocol is giving up, are left out, since our server does not send any.

Run: ``python -m tests.mcpserver.fixture FOLDER PORT``.
"""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types

from memhtml.corpus import Corpus
from memhtml.mcpserver.desk import Desk
from memhtml.mcpserver.http import Address, listen, serve_http
from memhtml.mcpserver.server import make_server

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mcp.server.context import HandlerResult, ServerRequestContext
    from mcp.server.lowlevel import Server

    Context = ServerRequestContext[Any, Any]
    Handler = Callable[[Context, Any], Awaitable[HandlerResult]]

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="

TEXT = types.TextContent(text="This is a simple text response for testing.")
IMAGE = types.ImageContent(data=PIXEL, mime_type="image/png")
AUDIO = types.AudioContent(data=SILENCE, mime_type="audio/wav")


def embedded(uri: str, text: str) -> types.EmbeddedResource:
    return types.EmbeddedResource(
        resource=types.TextResourceContents(uri=uri, mime_type="text/plain", text=text)
    )


EMBEDDED = embedded("test://embedded-resource", "This is an embedded resource content.")
MIXED = types.TextContent(text="Multiple content types test:")

TOOLS: dict[str, types.CallToolResult] = {
    "test_simple_text": types.CallToolResult(content=[TEXT]),
    "test_image_content": types.CallToolResult(content=[IMAGE]),
    "test_audio_content": types.CallToolResult(content=[AUDIO]),
    "test_embedded_resource": types.CallToolResult(content=[EMBEDDED]),
    "test_multiple_content_types": types.CallToolResult(content=[MIXED, IMAGE, EMBEDDED]),
    "test_error_handling": types.CallToolResult(
        content=[types.TextContent(text="This tool intentionally returns an error for testing")],
        is_error=True,
    ),
    "test_tool_with_progress": types.CallToolResult(content=[types.TextContent(text="done")]),
    "json_schema_2020_12_tool": types.CallToolResult(content=[TEXT]),
}

PLAIN: dict[str, Any] = {"type": "object", "properties": {}}
SCHEMAS: dict[str, dict[str, Any]] = {
    "json_schema_2020_12_tool": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    }
}

QUESTIONS: dict[str, types.ElicitRequestedSchema] = {
    "test_elicitation": {
        "type": "object",
        "properties": {
            "username": {"type": "string", "description": "User's response"},
            "email": {"type": "string", "description": "User's email address"},
        },
        "required": ["username", "email"],
    },
    "test_elicitation_sep1034_defaults": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "default": "John Doe"},
            "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5},
            "status": {
                "type": "string",
                "enum": ["active", "inactive", "pending"],
                "default": "active",
            },
            "verified": {"type": "boolean", "default": True},
        },
    },
    "test_elicitation_sep1330_enums": {
        "type": "object",
        "properties": {
            "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
            "titledSingle": {
                "type": "string",
                "oneOf": [
                    {"const": "value1", "title": "First Option"},
                    {"const": "value2", "title": "Second Option"},
                    {"const": "value3", "title": "Third Option"},
                ],
            },
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": {
                "type": "array",
                "items": {"type": "string", "enum": ["option1", "option2", "option3"]},
            },
            "titledMulti": {
                "type": "array",
                "items": {
                    "anyOf": [
                        {"const": "value1", "title": "First Choice"},
                        {"const": "value2", "title": "Second Choice"},
                        {"const": "value3", "title": "Third Choice"},
                    ]
                },
            },
        },
    },
}
"""What tools ask the user, by the tool's name."""
NAMES = (*TOOLS, *QUESTIONS, "test_sampling")

TEXT_RESOURCE = types.TextResourceContents(
    uri="test://static-text", mime_type="text/plain", text="This is a static text resource."
)
RESOURCES: dict[str, types.TextResourceContents | types.BlobResourceContents] = {
    "test://static-text": TEXT_RESOURCE,
    "test://static-binary": types.BlobResourceContents(
        uri="test://static-binary", mime_type="image/png", blob=PIXEL
    ),
    "test://watched-resource": types.TextResourceContents(
        uri="test://watched-resource", mime_type="text/plain", text="Watched."
    ),
}

PROMPTS: dict[str, tuple[str, ...]] = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
}


async def call_tool(context: Context, name: str, arguments: dict[str, Any]) -> types.CallToolResult:
    if name == "test_tool_with_progress":
        for progress in (0, 50, 100):
            await context.session.report_progress(progress, 100)
            await anyio.sleep(0.05)
    if name in QUESTIONS:
        answer = await context.session.elicit_form(
            arguments.get("message", "Please say."),
            QUESTIONS[name],
            related_request_id=context.request_id,
        )
        said = f"User response: action={answer.action}, content={answer.content}"
        return types.CallToolResult(content=[types.TextContent(text=said)])
    if name == "test_sampling":
        return await sample(context, arguments["prompt"])
    return TOOLS[name]


async def sample(context: Context, prompt: str) -> types.CallToolResult:
    with warnings.catch_warnings():  # sampling is on its way out of the protocol
        warnings.simplefilter("ignore")
        answer = await context.session.create_message(
            [types.SamplingMessage(role="user", content=types.TextContent(text=prompt))],
            max_tokens=100,
            related_request_id=context.request_id,
        )
    said = f"LLM response: {getattr(answer.content, 'text', '')}"
    return types.CallToolResult(content=[types.TextContent(text=said)])


def read_resource(uri: str) -> types.ReadResourceResult | None:
    if uri in RESOURCES:
        return types.ReadResourceResult(contents=[RESOURCES[uri]])
    if uri.startswith("test://template/"):
        text = f'{{"id": "{uri.split("/")[3]}", "templateTest": true}}'
        content = types.TextResourceContents(uri=uri, mime_type="application/json", text=text)
        return types.ReadResourceResult(contents=[content])
    return None


def get_prompt(name: str, arguments: dict[str, str]) -> types.GetPromptResult:
    said = types.TextContent(text="This is a simple prompt for testing.")
    contents: dict[str, list[types.ContentBlock]] = {
        "test_simple_prompt": [said],
        "test_prompt_with_arguments": [
            types.TextContent(
                text="Prompt with arguments: "
                + ", ".join(f"{n}='{arguments.get(n, '')}'" for n in ("arg1", "arg2"))
            )
        ],
        "test_prompt_with_embedded_resource": [
            embedded(arguments.get("resourceUri", ""), "Embedded resource content for testing."),
            said,
        ],
        "test_prompt_with_image": [IMAGE, said],
    }
    return types.GetPromptResult(
        messages=[types.PromptMessage(role="user", content=part) for part in contents[name]]
    )


def with_fixtures(server: Server[Any]) -> Server[Any]:
    """Put the suite's own things beside ours."""
    about = "For the conformance suite."
    beside: dict[str, tuple[str, list[Any]]] = {
        "tools/list": (
            "tools",
            [
                types.Tool(name=name, description=about, input_schema=SCHEMAS.get(name, PLAIN))
                for name in NAMES
            ],
        ),
        "resources/list": ("resources", [types.Resource(uri=u, name=u) for u in RESOURCES]),
        "resources/templates/list": (
            "resource_templates",
            [types.ResourceTemplate(uri_template="test://template/{id}/data", name="test")],
        ),
        "prompts/list": (
            "prompts",
            [
                types.Prompt(
                    name=name,
                    description=about,
                    arguments=[types.PromptArgument(name=n, required=True) for n in names],
                )
                for name, names in PROMPTS.items()
            ],
        ),
    }
    for method, (member, more) in beside.items():
        server.add_request_handler(
            method, types.PaginatedRequestParams, _listing(_handler(server, method), member, more)
        )
    our_tools, our_resources, our_prompts = (
        _handler(server, method) for method in ("tools/call", "resources/read", "prompts/get")
    )

    async def any_tool(context: Context, params: types.CallToolRequestParams) -> HandlerResult:
        if params.name in NAMES:
            return await call_tool(context, params.name, params.arguments or {})
        return await our_tools(context, params)

    async def any_resource(
        context: Context, params: types.ReadResourceRequestParams
    ) -> HandlerResult:
        return read_resource(params.uri) or await our_resources(context, params)

    async def any_prompt(context: Context, params: types.GetPromptRequestParams) -> HandlerResult:
        if params.name in PROMPTS:
            return get_prompt(params.name, params.arguments or {})
        return await our_prompts(context, params)

    server.add_request_handler("tools/call", types.CallToolRequestParams, any_tool)
    server.add_request_handler("resources/read", types.ReadResourceRequestParams, any_resource)
    server.add_request_handler("prompts/get", types.GetPromptRequestParams, any_prompt)
    return server


def _handler(server: Server[Any], method: str) -> Handler:
    entry = server.get_request_handler(method)
    assert entry is not None
    return entry.handler


def _listing(ours: Handler, member: str, more: list[Any]) -> Handler:
    async def list_all(context: Context, params: types.PaginatedRequestParams) -> HandlerResult:
        result = await ours(context, params)
        getattr(result, member).extend(more)
        return result

    return list_all


def main(folder: str, port: str) -> None:
    Corpus.init(folder)
    desk = Desk(lambda: Corpus.open(folder, durability="none"))
    listener = listen(Address("127.0.0.1", int(port)), token=None)

    async def serve() -> None:
        await serve_http(with_fixtures(make_server(desk)), listener, anyio.Event())

    with listener:
        anyio.run(serve)


if __name__ == "__main__":
    main(*sys.argv[1:])
