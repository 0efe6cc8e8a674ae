"""``memhtml new``: a memory by question and answer, shown before it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.cli.command import Command, Flag, Noun
from memhtml.cli.commands.memory import DRAFT_FLAGS
from memhtml.cli.envelope import Success
from memhtml.cli.stores import open_store
from memhtml.model.errors import InvalidMemory, MemhtmlError, MissingArgument
from memhtml.model.vocabulary import MemoryType

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memhtml.cli.command import Call
    from memhtml.cli.screen import Screen
    from memhtml.corpus import Corpus
    from memhtml.model.document import Document
    from memhtml.model.memory import Draft

__all__ = ["COMMANDS", "run"]

_TAKEN = tuple(
    flag for flag in DRAFT_FLAGS if flag.name in {"claim", "tag", "entity", "allow-secret"}
)
"""What it takes of what every command takes that states a memory; it asks for the rest."""

COMMANDS = (
    Command(
        name="new",
        summary="Write a memory by question and answer, and see it before it is written.",
        description=(
            "Asks for what no flag states: type, title, claim, more text, tags and entities. What "
            "is known already about the same is shown. The finished memory is shown too, and "
            "written only when you say so; e opens it in your editor (VISUAL, else EDITOR) first. "
            "It needs a terminal; memhtml write is for scripts."
        ),
        flags=(
            Flag(
                name="type",
                metavar="type",
                choices=tuple(kind.value for kind in MemoryType),
                summary="what kind of memory it is",
            ),
            Flag(name="title", metavar="text", summary="a short name of the fact"),
            *_TAKEN,
            Flag(
                name="workspace",
                noun=Noun.WORKSPACE,
                metavar="name",
                summary="the project it belongs to",
            ),
        ),
        response_types=("memory.written",),
        errors=("ERR_NOT_A_STORE", "ERR_SECRET", "ERR_BUSY", "ERR_GIT", "ERR_STORAGE"),
        examples=("memhtml new", "memhtml new --type procedural --tag releases"),
    ),
)

_KINDS: Mapping[MemoryType, str] = {
    MemoryType.SEMANTIC: "something that is so",
    MemoryType.EPISODIC: "something that happened",
    MemoryType.PROCEDURAL: "how something is done",
    MemoryType.USER_PREFERENCE: "how somebody wants it",
    MemoryType.ERROR_PATTERN: "how something fails, and why",
    MemoryType.AGENT_INSIGHT: "a conclusion",
    MemoryType.VERDICT: "a decision",
    MemoryType.PRECEDENT: "a rule to go by",
    MemoryType.ARC: "how things went over time",
    MemoryType.TASK: "something to be done",
}
_MOST_OFFERED = 8


def run(call: Call) -> Success:
    """Ask, show, and write."""
    from memhtml.answers.casing import in_camel  # noqa: PLC0415 - help needs none
    from memhtml.answers.changed import WRITTEN  # noqa: PLC0415 - as above
    from memhtml.answers.changed import written as told_written  # noqa: PLC0415 - as above
    from memhtml.cli.editor import is_asked  # noqa: PLC0415 - as above

    if not is_asked(call.world) or call.is_on("json") or call.is_on("dense"):
        raise MissingArgument(
            "memhtml new asks questions, so it needs a terminal",
            suggestions=("memhtml help write",),
        )
    with open_store(call) as corpus:
        talk = _Talk(call, corpus)
        draft = talk.draft()
        while not talk.is_agreed(draft):
            draft = talk.edited(draft)
        written = corpus.write(draft, allow_secret=call.is_on("allow-secret"))

    def text(screen: Screen) -> str:
        from memhtml.cli.views.memories import written_lines  # noqa: PLC0415 - only for people

        return written_lines(written, screen)

    return Success("memory.written", in_camel(WRITTEN, told_written(written)), text)


class _Talk:
    """The questions, on the terminal of one call."""

    def __init__(self, call: Call, corpus: Corpus) -> None:
        from memhtml.cli.screen import Screen  # noqa: PLC0415 - only for people

        self._call = call
        self._corpus = corpus
        self._screen = Screen(call.world.columns, call.world.has_colour, call.world.now())

    def draft(self) -> Draft:
        """Ask for everything that no flag states."""
        from memhtml.model.memory import Draft, split_tags  # noqa: PLC0415 - goes with it

        call = self._call
        stated = call.optional_text("type")
        kind = MemoryType(stated) if stated else self._kind()
        title = call.optional_text("title") or self._line("Title: ")
        claim = call.optional_text("claim") or self._line("The fact, in one sentence: ")
        self._show_known(claim)
        paragraphs = self._paragraphs()
        due = (
            self._ask("Due (a day such as 2026-12-01, or nothing): ")
            if kind is MemoryType.TASK
            else ""
        )
        tags = call.texts("tag") or (self._ask(f"Tags, with commas{self._tags()}: "),)
        entities = call.texts("entity") or tuple(
            self._ask(f"About whom or what, type:name, with commas{self._entities()}: ").split(",")
        )
        return Draft(
            title=title,
            memory_type=kind,
            claim=claim,
            paragraphs=paragraphs,
            tags=split_tags(filter(None, tags)),
            entities=tuple(filter(None, (entity.strip() for entity in entities))),
            workspace=call.optional_text("workspace"),
            due_at=due or None,
        )

    def is_agreed(self, draft: Draft) -> bool:
        """Show what would be written; return False where it is to be edited first.

        Raises:
            KeyboardInterrupt: Nothing is to be written.
        """
        can_be_written = self._show(draft)
        while True:
            question = "Write it? [Y/n/e to edit] " if can_be_written else "Edit it? [Y/n] "
            answer = self._ask(question).lower()
            if answer in {"n", "no", "q", "quit"}:
                self._say("nothing was written")
                raise KeyboardInterrupt
            if answer in {"e", "edit"} or (answer in {"", "y", "yes"} and not can_be_written):
                return False
            if answer in {"", "y", "yes"}:
                return True

    def edited(self, draft: Draft) -> Draft:
        """Return *draft* as the person leaves it in their editor."""
        from memhtml.cli.editor import discard, draft_file, edit  # noqa: PLC0415 - only here
        from memhtml.format.parse import parse  # noqa: PLC0415 - as above
        from memhtml.format.render import render_memory  # noqa: PLC0415 - as above
        from memhtml.model.instants import stamp  # noqa: PLC0415 - as above

        try:
            data, _ = render_memory(draft, at=stamp(self._corpus.now()))
        except InvalidMemory:
            return self._again(draft)
        path = draft_file("new-memory.html", data)
        while True:
            data = edit(path, self._call.world)
            document = parse(data)
            if document.is_valid:
                discard(path)
                return _draft_of(document, draft)
            self._show_faults(data)
            self._say(f"until it can be written, your text is kept in {path}")
            if self._ask("Edit it again? [Y/n] ").lower() in {"n", "no", "q", "quit"}:
                self._say("nothing was written")
                raise KeyboardInterrupt

    def _again(self, draft: Draft) -> Draft:
        """Ask anew for what no file could be made of."""
        from dataclasses import replace  # noqa: PLC0415 - only here

        return replace(
            draft,
            title=self._line("Title: "),
            claim=self._line("The fact, in one sentence: "),
            due_at=None,
            tags=(),
            entities=(),
        )

    def _show(self, draft: Draft) -> bool:
        """Show the memory as it would be, or what is wrong; return whether it can be written."""
        from memhtml.cli.screen import flowing, printable  # noqa: PLC0415 - only for people
        from memhtml.cli.views.memories import memory_page  # noqa: PLC0415 - as above
        from memhtml.model.memory import Memory  # noqa: PLC0415 - goes with it
        from memhtml.store.write import plan_write  # noqa: PLC0415 - as above

        screen = self._screen
        try:
            planned = plan_write(
                draft,
                self._corpus.view(),
                now=self._corpus.now(),
                allow_secret=self._call.is_on("allow-secret"),
            )
        except MemhtmlError as error:
            for finding in error.diagnostics if isinstance(error, InvalidMemory) else ():
                self._say(f"{screen.paint(finding.code, 'red')}: {printable(finding.message)}")
            if not (isinstance(error, InvalidMemory) and error.diagnostics):
                self._say("\n".join(flowing(error.message, screen)))
            return False
        if planned.result.deduped:
            self._say(f"known already, word for word: {printable(planned.result.path)}")
        for document in planned.documents.values():
            self._say("")
            page = memory_page(Memory(path=planned.result.path, sha="", document=document), screen)
            self._say(page)
        return True

    def _show_known(self, claim: str) -> None:
        """Show what the store says about the same."""
        from memhtml.cli.screen import clip, printable  # noqa: PLC0415 - only for people

        found = self._corpus.search(claim, limit=3, neighbours=False)
        if found.hits:
            self._say(self._screen.paint("perhaps known already:", "yellow"))
        for hit in found.hits:
            self._say(f"  {clip(printable(hit.gist), self._screen.width - 2)}")
            self._say(self._screen.paint(f"  {printable(hit.path)}", "dim"))

    def _show_faults(self, data: bytes) -> None:
        from memhtml.cli.views.findings import faults_page  # noqa: PLC0415 - only for people

        self._say(faults_page("new memory", data, self._screen))

    def _kind(self) -> MemoryType:
        kinds = list(_KINDS)
        width = max(map(len, kinds))
        for number, kind in enumerate(kinds, 1):
            self._say(f"{number:3} {kind.ljust(width)}  {_KINDS[kind]}")
        while True:
            answer = self._ask("Type [semantic]: ").lower() or MemoryType.SEMANTIC.value
            if answer.isdecimal() and 1 <= int(answer) <= len(kinds):
                return kinds[int(answer) - 1]
            meant = [kind for kind in kinds if kind.value.startswith(answer)]
            if len(meant) == 1:
                return meant[0]
            self._say("a number, or the beginning of a type")

    def _paragraphs(self) -> tuple[str, ...]:
        lines: list[str] = []
        question = "More, if there is more; an empty line ends it:\n> "
        while line := self._ask(question):
            lines.append(line)
            question = "> "
        return tuple(lines)

    def _tags(self) -> str:
        return self._known([use.tag for use in self._corpus.list_tags()[:_MOST_OFFERED]])

    def _entities(self) -> str:
        found = self._corpus.list_entities(limit=_MOST_OFFERED).entities
        return self._known([entity.entity for entity in found])

    def _known(self, words: Sequence[str]) -> str:
        from memhtml.cli.screen import printable  # noqa: PLC0415 - only for people

        return f" (there are {', '.join(map(printable, words))})" if words else ""

    def _line(self, question: str) -> str:
        while not (answer := self._ask(question)):
            pass
        return answer

    def _ask(self, question: str) -> str:
        from memhtml.cli.editor import asked  # noqa: PLC0415 - only here

        answer = asked(question, self._call.world)
        if answer is None:
            self._say("nothing was written")
            raise KeyboardInterrupt
        return answer

    def _say(self, text: str) -> None:
        self._call.world.stdout.write(f"{text}\n")


def _draft_of(document: Document, before: Draft) -> Draft:
    """Return the draft of which *document*, as it was edited, would be the file."""
    from dataclasses import replace  # noqa: PLC0415 - only here

    from memhtml.model.vocabulary import TaskStatus  # noqa: PLC0415 - as above

    head = document.head
    is_task = head.memory_type == MemoryType.TASK
    return replace(
        before,
        title=document.title,
        memory_type=MemoryType(head.memory_type or before.memory_type),
        claim="",
        paragraphs=(),
        article_html=document.article_html,
        tags=head.tags,
        entities=head.entities,
        aliases=head.aliases,
        links=document.links,
        confidence=head.confidence,
        importance=head.importance,
        author=head.author,
        session_id=head.session_id,
        prompt_id=head.prompt_id,
        turn_uuid=head.turn_uuid,
        valid_from=head.valid_from,
        valid_until=head.valid_until,
        task_status=TaskStatus(head.task_status) if is_task and head.task_status else None,
        due_at=head.due_at if is_task else None,
    )
