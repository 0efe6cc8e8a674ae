"""A retriever and a memory block for LlamaIndex.

The retriever answers a question with nodes, one a memory. The block goes into LlamaIndex's
``Memory``: what is known of the latest user message comes along with the chat, and messages that
leave the short-term memory are kept as episodes. What a model reads of either is fenced as data.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from typing import TYPE_CHECKING, Any

from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.llms import ChatMessage, MessageRole
from llama_index.core.memory import BaseMemoryBlock
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, TextNode

from memhtml.answers.fence import fenced
from memhtml.format.prose import claim_from_prose, prose_tail
from memhtml.model.memory import Draft
from memhtml.model.vocabulary import MemoryType
from memhtml.store.batch import BatchOptions

if TYPE_CHECKING:
    from llama_index.core.schema import QueryBundle

    from memhtml.corpus import Corpus
    from memhtml.search.hits import Hit
    from memhtml.search.scope import Scope

__all__ = ["MemhtmlBlock", "MemhtmlRetriever"]

logger = logging.getLogger(__name__)

_TITLE_CHARS = 60
_KEPT_ROLES = frozenset({MessageRole.USER, MessageRole.ASSISTANT})


class MemhtmlRetriever(BaseRetriever):
    """Finds at most *limit* memories in *scope*; none when none answers the question.

    A node's text is the memory's and its id the path; what a model is shown of it is fenced.
    """

    def __init__(
        self,
        corpus: Corpus,
        *,
        scope: Scope | None = None,
        limit: int = 5,
        **kwargs: Any,  # noqa: ANN401 - those of the base class
    ) -> None:
        super().__init__(**kwargs)
        self._corpus = corpus
        self._scope = scope
        self._limit = limit

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = self._corpus.search(query_bundle.query_str, self._scope, limit=self._limit)
        return [NodeWithScore(node=self._node(hit), score=hit.score) for hit in found.hits]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)

    def _node(self, hit: Hit) -> TextNode:
        document = self._corpus.read(hit.path).document
        return TextNode(
            id_=hit.path,
            text=document.text,
            metadata={
                "path": hit.path,
                "title": hit.title,
                "memory_type": hit.memory_type,
                "updated_at": hit.updated_at,
                **({"superseded_by": hit.superseded_by} if hit.superseded_by else {}),
            },
            text_template=fenced("{metadata_str}\n\n{content}"),
        )


class MemhtmlBlock(BaseMemoryBlock[str]):
    """A memory block over a corpus, which stays the caller's.

    Only what users and the assistant say in words is kept. A message that looks like it holds a
    credential is not, and the log says so.
    """

    name: str = Field(default="long_term_memory")
    budget_chars: int = Field(default=4000, description="How much may be quoted.")
    workspace: str | None = Field(default=None, description="Where messages are kept.")

    _corpus: Corpus = PrivateAttr()
    _scope: Scope | None = PrivateAttr()

    def __init__(
        self,
        corpus: Corpus,
        *,
        scope: Scope | None = None,
        **fields: Any,  # noqa: ANN401 - those of the base class and ours
    ) -> None:
        super().__init__(**fields)
        self._corpus = corpus
        self._scope = scope

    async def _aget(
        self,
        messages: list[ChatMessage] | None = None,
        **_: Any,  # noqa: ANN401 - as the base class has it
    ) -> str:
        asked = (m.content for m in reversed(messages or []) if m.role is MessageRole.USER)
        question = next(filter(None, asked), None)
        if question is None:
            return ""
        pack = await asyncio.to_thread(
            self._corpus.recall, question, self._scope, budget=self.budget_chars
        )
        return "" if pack.no_match is not None else pack.text(secrets.token_hex(16))

    async def _aput(self, messages: list[ChatMessage]) -> None:
        drafts = [self._draft(message) for message in messages if _is_kept(message)]
        if drafts:
            options = BatchOptions(continue_on_error=True)
            batch = await asyncio.to_thread(self._corpus.apply, drafts, options)
            for result in batch.failed:
                code = result.error.code if result.error else ""
                logger.warning("a message was not kept: %s", code)

    def _draft(self, message: ChatMessage) -> Draft:
        said = message.content or ""
        session = message.additional_kwargs.get("session_id")
        return Draft(
            title=f"{message.role.value}: {' '.join(said.split())[:_TITLE_CHARS]}",
            memory_type=MemoryType.EPISODIC,
            claim=claim_from_prose(said),
            paragraphs=prose_tail(said),
            author=message.role.value,
            session_id=session if isinstance(session, str) and session.strip() else None,
            workspace=self.workspace,
        )


def _is_kept(message: ChatMessage) -> bool:
    return message.role in _KEPT_ROLES and bool((message.content or "").strip())
