"""The server: every request of the protocol, answered from the desk.

A call that cannot be carried out is a result that says so, typed and in words, for the model that
made it can mend it. Only what is wrong with the conversation itself (a tool that does not exist, a
resource that is not there) is an error of the protocol.
"""

from __future__ import annotations

import json
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.lowlevel import Server
from mcp.server.subscriptions import ListenHandler
from mcp.shared.exceptions import MCPError

from memhtml.answers.failures import Failure, failure_of
from memhtml.answers.fence import NOTICE, fenced
from memhtml.mcpserver import resources
from memhtml.mcpserver.instructions import INSTRUCTIONS
from memhtml.mcpserver.prompts import PROMPT_NAMED, PROMPTS, fill
from memhtml.mcpserver.schema import nearest, shown
from memhtml.mcpserver.tool import check
from memhtml.mcpserver.tools import TOOL_NAMED, TOOLS
from memhtml.mcpserver.watch import LISTING, Watch
from memhtml.model.errors import MemhtmlError, PathNotFound, UsageError
from memhtml.model.version import VERSION

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from typing import TypeAlias, TypeVar

    from mcp.server.context import ServerRequestContext

    from memhtml.corpus import Corpus
    from memhtml.mcpserver.desk import Desk, Pulse
    from memhtml.mcpserver.tool import Tool

    T = TypeVar("T")
    Context: TypeAlias = ServerRequestContext[Any, Any]
    Paging: TypeAlias = types.PaginatedRequestParams | None

__all__ = ["make_server"]

_FOREVER = CacheHint(ttl_ms=3_600_000, scope="public")
"""What this version offers stays the same as long as the process lives."""


def make_server(desk: Desk) -> Server[Any]:
    """Return a server over *desk*, which the caller closes."""
    door = _Door(desk)
    return Server(
        "memhtml",
        version=VERSION,
        title="memhtml: long-term memory",
        instructions=INSTRUCTIONS,
        lifespan=door.lifespan,
        cache_hints={
            "tools/list": _FOREVER,
            "prompts/list": _FOREVER,
            "resources/templates/list": _FOREVER,
        },
        get_tool_input_schema=_input_schema,
        on_list_tools=door.list_tools,
        on_call_tool=door.call_tool,
        on_list_resources=door.list_resources,
        on_list_resource_templates=door.list_templates,
        on_read_resource=door.read_resource,
        on_subscribe_resource=door.subscribe,
        on_unsubscribe_resource=door.unsubscribe,
        on_subscriptions_listen=door.listen,
        on_list_prompts=door.list_prompts,
        on_get_prompt=door.get_prompt,
        on_completion=door.complete,
    )


class _Door:
    """The handlers."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._watch = Watch(desk)
        self._listen = ListenHandler(self._watch.bus)
        self._is_indexed = False

    @asynccontextmanager
    async def lifespan(self, _: Server[Any]) -> AsyncIterator[None]:
        async with anyio.create_task_group() as background:
            background.start_soon(self._watch.run)
            try:
                yield
            finally:
                self._listen.close()
                background.cancel_scope.cancel()

    # Tools

    async def list_tools(self, _: Context, __: Paging) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_declared(tool) for tool in TOOLS])

    async def call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        tool = _named(params.name, TOOL_NAMED, "tool")
        try:
            arguments = check(tool, params.arguments or {})
            answer = await self._desk.ask(
                lambda corpus, pulse: self._run(tool, corpus, arguments, pulse),
                report=_progress(context),
            )
        except Exception as error:  # noqa: BLE001 - the edge: whatever happens is answered
            return _refused(failure_of(error))
        if not tool.reads_only:
            self._watch.nudge()
        return _answered(tool, answer)

    def _run(
        self, tool: Tool, corpus: Corpus, arguments: dict[str, Any], pulse: Pulse
    ) -> dict[str, Any]:
        if tool.needs_index and not self._is_indexed:
            # The first index of a large store takes a while; the caller is told how far it is. What
            # is wrong with it the tool itself will meet, if it matters.
            with suppress(MemhtmlError):
                corpus.update(progress=pulse.tell)
                self._is_indexed = True
        return tool.run(corpus, arguments, pulse)

    # Resources

    async def list_resources(self, _: Context, params: Paging) -> types.ListResourcesResult:
        cursor = params.cursor if params else None
        page, reports = await self._ask(
            lambda corpus, _: (
                resources.list_resources(corpus, cursor),
                resources.list_reports(corpus) if cursor is None else [],
            )
        )
        index = types.Resource(
            uri=resources.INDEX_URI,
            name="index",
            title="State of the store",
            description="Where the store is, what it holds, and whether its index is current.",
            mime_type="application/json",
        )
        return types.ListResourcesResult(
            resources=[
                *([index] if cursor is None else []),
                *(
                    types.Resource(
                        uri=uri,
                        name=uri.removeprefix("memhtml://"),
                        title=f"Report of sleep, {uri.removeprefix('memhtml://sleep/')}",
                        description="What a run of sleep decided and did, and why.",
                        mime_type="text/html",
                    )
                    for uri in reports
                ),
                *(
                    types.Resource(
                        uri=resources.uri_of(file.path),
                        name=_clean(file.path),
                        title=_clean(file.title),
                        description=_clean(file.claim),
                        mime_type="text/plain",
                    )
                    for file in page.files
                ),
            ],
            next_cursor=page.next_cursor,
        )

    async def list_templates(self, _: Context, __: Paging) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(
                    uri_template=template.uri,
                    name=template.name,
                    title=template.title,
                    description=template.about,
                    mime_type=template.mime_type,
                )
                for template in resources.TEMPLATES
            ]
        )

    async def read_resource(
        self, _: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        content = await self._ask(
            lambda corpus, _: resources.read_resource(corpus, params.uri),
            about={"uri": params.uri},
        )
        return types.ReadResourceResult(
            contents=[
                types.TextResourceContents(
                    uri=params.uri, mime_type=content.mime_type, text=_clean(content.text)
                )
            ]
        )

    async def subscribe(
        self, context: Context, params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        await self._watch.subscribe(_session_key(context), context.session, params.uri)
        return types.EmptyResult()

    async def unsubscribe(
        self, context: Context, params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        self._watch.unsubscribe(_session_key(context), params.uri)
        return types.EmptyResult()

    async def listen(
        self, context: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        wanted = params.notifications
        uris = [*(wanted.resource_subscriptions or ())]
        if wanted.resources_list_changed:
            uris.append(LISTING)
        async with self._watch.watching(uris):
            return await self._listen(context, params)

    # Prompts and completions

    async def list_prompts(self, _: Context, __: Paging) -> types.ListPromptsResult:
        return types.ListPromptsResult(
            prompts=[
                types.Prompt(
                    name=prompt.name,
                    title=prompt.title,
                    description=prompt.about,
                    arguments=[
                        types.PromptArgument(
                            name=argument.name,
                            description=argument.about,
                            required=argument.required,
                        )
                        for argument in prompt.arguments
                    ],
                )
                for prompt in PROMPTS
            ]
        )

    async def get_prompt(
        self, _: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        prompt = _named(params.name, PROMPT_NAMED, "prompt")
        text = await self._ask(lambda corpus, _: fill(prompt, corpus, params.arguments or {}))
        message = types.PromptMessage(role="user", content=types.TextContent(text=_clean(text)))
        return types.GetPromptResult(description=prompt.about, messages=[message])

    async def complete(
        self, _: Context, params: types.CompleteRequestParams
    ) -> types.CompleteResult:
        asked = params.argument
        found = await self._ask(
            lambda corpus, _: resources.complete(corpus, asked.name, asked.value)
        )
        shown = [_clean(value) for value in found[: resources.MOST_COMPLETIONS]]
        return types.CompleteResult(
            completion=types.Completion(
                values=shown, total=len(found), has_more=len(found) > len(shown)
            )
        )

    async def _ask(
        self, work: Callable[[Corpus, Pulse], T], *, about: dict[str, Any] | None = None
    ) -> T:
        """Return what *work* returns, its failure as one of the protocol with the data *about*."""
        try:
            return await self._desk.ask(work)
        except Exception as error:
            failure = failure_of(error)
            is_callers = isinstance(error, PathNotFound | UsageError)
            code = types.INVALID_PARAMS if is_callers else types.INTERNAL_ERROR
            raise MCPError(code, failure.line, about) from error


def _declared(tool: Tool) -> types.Tool:
    gives = tool.gives
    if tool.quotes:
        notice = {"type": "string", "description": "How to take the texts in here."}
        gives = gives | {"properties": {"notice": notice, **gives["properties"]}}
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.about,
        input_schema=tool.takes,
        output_schema=gives,
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.reads_only,
            destructive_hint=tool.is_destructive,
            idempotent_hint=tool.is_idempotent,
            open_world_hint=False,
        ),
    )


def _input_schema(name: str) -> dict[str, Any] | None:
    tool = TOOL_NAMED.get(name)
    return None if tool is None else tool.takes


def _answered(tool: Tool, answer: dict[str, Any]) -> types.CallToolResult:
    if tool.quotes:
        # Some clients show their model the structured content alone.
        answer = {"notice": NOTICE, **answer}
    text = _clean(json.dumps(answer, ensure_ascii=False, separators=(",", ":")))
    return types.CallToolResult(
        content=[types.TextContent(text=fenced(text) if tool.quotes else text)],
        structured_content=json.loads(text),
    )


def _refused(failure: Failure) -> types.CallToolResult:
    told = {**failure._asdict(), "suggestions": list(failure.suggestions)}
    text = _clean(json.dumps(told, ensure_ascii=False))
    return types.CallToolResult(
        content=[types.TextContent(text=_clean(failure.line))],
        structured_content=json.loads(text),
        is_error=True,
    )


def _progress(context: Context) -> Callable[[int, Pulse], Awaitable[None]] | None:
    """Return what tells the caller how far its call is, if it asked to be told."""
    if not context.meta or "progress_token" not in context.meta:
        return None

    last = 0

    async def report(count: int, pulse: Pulse) -> None:
        nonlocal last
        progress, message = (count, "still working") if pulse.total is None else (pulse.done, None)
        if progress > last:  # a client may take anything else for a mistake
            last = progress
            await context.session.report_progress(progress, pulse.total, message)

    return report


def _session_key(context: Context) -> str:
    """Return what tells this session from others: on stdio there is only one."""
    request = context.request
    return "" if request is None else request.headers.get("mcp-session-id", "")


def _named(name: str, known: Any, kind: str) -> Any:  # noqa: ANN401 - a tool or a prompt
    found = known.get(name)
    if found is None:
        near = nearest(name, known)
        hint = f"perhaps {near!r} is meant" if near else f"there are {', '.join(known)}"
        raise MCPError(types.INVALID_PARAMS, f"there is no {kind} {shown(name)}; {hint}")
    return found


def _clean(text: str) -> str:
    """Return *text* as UTF-8 can carry it: a file's name may hold bytes that are no text."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
