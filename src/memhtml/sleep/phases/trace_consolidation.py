"""Trace consolidation: what was said in sessions with agents becomes memories, with its words.

Without a model three things are learned (`memhtml.traces.mine`): what a person asked to remember,
corrections that held, and errors that came back. A model, where one is bound, reads the same
sessions with tools and proposes more. Either way every quote was found again in its transcript, and
a memory comes to be by the same planner, gate and placement as one that somebody writes.

Such a memory stands by what it is about, never by its tag, which is the same for all of them. It
says in which folder it was said, and so does its claim where that points at "this repository".

A memory that says the same already is enough. A correction that goes against what a live memory
says is no second truth: it becomes a question for a person. Sessions count as read only once the
run is merged, so a run that is thrown away has read nothing.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING
from urllib.parse import quote as encoded

from memhtml.format.escape import escape_attribute, escape_text
from memhtml.format.parse import parse
from memhtml.model.errors import InvalidMemory, SecretFound, WriteConflict
from memhtml.model.instants import stamp
from memhtml.model.memory import Draft
from memhtml.model.paths import place
from memhtml.model.slugs import slugify
from memhtml.model.vocabulary import MemoryType
from memhtml.model.whitespace import collapse
from memhtml.scoring.frames import frame_key
from memhtml.sleep.cues import sentences
from memhtml.sleep.detections import AUTHOR, DETECTED, TITLE_CHARS
from memhtml.sleep.known import Known
from memhtml.sleep.marks import session_mark
from memhtml.sleep.phase import Decision, Finding, Investigator, Outcome, Proposal
from memhtml.sleep.promises import read_promises
from memhtml.sleep.whereabouts import folder_name, is_pointing, pointing_out
from memhtml.store.plan import Overlay
from memhtml.store.write import free_path, plan_write
from memhtml.traces.candidates import Refused, Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from memhtml.sleep.phase import Context
    from memhtml.sleep.population import Live
    from memhtml.traces.candidates import Candidate, Evidence
    from memhtml.traces.sessions import Session

__all__ = ["NAME", "NEEDS", "TAG", "run"]

NAME = "trace-consolidation"
NEEDS = ("preflight",)
TAG = NAME
"""What every memory that comes from here is tagged with."""

_LEARNED = "learned"
"""Facet of a task: the correction that goes against a memory."""
_REASONS_TOLD = 3
_MANY = 8
"""So many sessions that a model says it read, and hardly quotes, are remarked upon."""

_COUNTS = (
    *("sessions", "read", "unread", "candidates", "written", "known", "dismissed"),
    *("refused", "contradictions", "conflicts"),
)
_WHY = {
    Source.ASKED: "A person asked an agent to remember it.",
    Source.CORRECTION: "A person corrected the agent, which did so from then on.",
    Source.ERROR: "The same error came up again.",
    Source.MODEL: "The model found that several lines of the sessions show it.",
}


def run(context: Context) -> Outcome:
    """Propose a commit for each memory that sessions are good for, and questions where they clash.

    Questions that still stand are raised again, so that those which do not are settled.
    """
    standing = tuple(_standing(context))
    if context.traces is None:
        return Outcome(
            findings=standing, detail="no transcript was ever indexed: memhtml trace index"
        )
    due = context.traces.due(context.now, context.settings.trace_sessions)
    notes = [f"{path} could not be read: {why}" for path, why in context.traces.failures]
    if not due:
        notes.append("no session waits")
        return Outcome(findings=standing, counts={"sessions": 0}, detail="; ".join(notes))
    learning = _Learning(context, due, notes)
    learning.learn()
    return Outcome(
        proposals=tuple(learning.proposals),
        findings=(*standing, *learning.findings),
        marks=tuple(learning.marks),
        counts=dict(learning.counts),
        detail="; ".join(notes) or None,
    )


class _Learning:
    """What the sessions of one run come to."""

    def __init__(self, context: Context, due: Sequence[Session], notes: list[str]) -> None:
        self._context = context
        self._due = due
        self._notes = notes
        self._sessions = {session.session_id: session for session in due}
        self._known = Known(context.population, TAG)
        self._view = Overlay(context.view)
        named = {memory.workspace for memory in context.population.active if memory.workspace}
        self._workspaces = {slugify(name): name for name in sorted(named)}
        self._refused: list[Refused] = []
        self.counts = Counter(dict.fromkeys(_COUNTS, 0) | {"sessions": len(due)})
        self.proposals: list[Proposal] = []
        self.findings: list[Finding] = []
        self.marks: list[Mapping[str, str]] = []

    def learn(self) -> None:
        """Read the sessions, without a model and then with one."""
        from memhtml.traces.consolidate import propose  # noqa: PLC0415 - only with transcripts

        assert self._context.traces is not None  # noqa: S101 - the caller looked
        earlier = self._context.traces.earlier(self._due)
        self._sessions = {one.session_id: one for one in earlier} | self._sessions
        got = propose(self._due, earlier)
        self._refused += got.refused
        self._notes += (f"session {one} could not be read: {why}" for one, why in got.unread)
        self._take(got.candidates)
        read = self._ask(got.read_session_ids)
        for session_id in read:
            at = _as_of(self._sessions[session_id])
            self.marks.append(session_mark(session_id, self._context.run_id, at))
        self.counts.update(read=len(read), unread=len(got.unread), refused=len(self._refused))
        self._notes += _reasons(self._refused)

    def _ask(self, read: Sequence[str]) -> Sequence[str]:
        """Let a model read what could be read; return the sessions that are done with."""
        judge = self._context.judge
        if judge is None:
            self._notes.append("no model bound: only what was asked for, corrected or failed again")
            return read
        if not isinstance(judge, Investigator):
            self._notes.append(f"{judge.name} cannot look things up, so it read no session")
            return read
        from memhtml.sleep.consolidator import consolidate  # noqa: PLC0415 - only with a model

        linked: dict[str, list[tuple[str, str]]] = {session_id: [] for session_id in read}
        for memory in self._context.population:
            if memory.session_id in linked:
                linked[memory.session_id].append((memory.path, "written"))
        found = consolidate(judge, [self._sessions[one] for one in read], linked)
        self._refused += found.refused
        before = self.counts["written"]
        self._take(found.candidates)
        self.counts["model"] = self.counts["written"] - before
        said_at = {one.session_id: one.ended_at for one in self._due}
        promises = read_promises(found.commitments, self._context, said_at)
        self.findings += promises.findings
        self.marks += promises.marks
        self.counts.update(promises.counts)
        self._refused += promises.refused
        if promises.closing is not None:
            self.proposals.append(promises.closing)
        done = [one for one in read if one in found.read_session_ids]
        if found.failure is not None:
            self._notes.append(f"{found.failure}; sessions that no model has read stay due")
        cited = {each.session_id for one in found.candidates for each in one.evidence} & {*done}
        if len(done) >= _MANY and len(cited) * 4 < len(done):
            self._notes.append(f"the model quotes {len(cited)} of {len(done)} sessions it has read")
        return done

    def _take(self, candidates: Iterable[Candidate]) -> None:
        for candidate in chain.from_iterable(map(self._told_apart, candidates)):
            self.counts["candidates"] += 1
            if self._known.says(candidate):
                self.counts["known"] += 1
            elif self._known.was_dismissed(candidate):
                self.counts["dismissed"] += 1
            elif rivals := self._known.rivals(candidate):
                self.counts["contradictions"] += len(rivals)
                self.findings += (_clash(candidate, rival) for rival in rivals)
            else:
                self._write(candidate)

    def _told_apart(self, candidate: Candidate) -> Iterator[Candidate]:
        """Yield *candidate*, once for each folder where it points at where it was said."""
        # An error is told in a program's words, which mean what they say.
        if candidate.source is Source.ERROR or not is_pointing(candidate.claim):
            yield candidate
            return
        said: dict[str | None, list[Evidence]] = {}
        for one in candidate.evidence:
            said.setdefault(self._folder(one), []).append(one)
        for folder, evidence in said.items():
            claim = pointing_out(candidate.claim, folder) if folder else candidate.claim
            gist = candidate.gist.replace(candidate.claim, claim)
            yield candidate._replace(claim=claim, gist=gist, evidence=tuple(evidence))

    def _folder(self, evidence: Evidence) -> str | None:
        session = self._sessions.get(evidence.session_id)
        return folder_name(session.cwd) if session is not None else None

    def _write(self, candidate: Candidate) -> None:
        draft = self._draft(candidate)
        try:
            draft = self._placed(draft)
            planned = plan_write(draft, self._view, now=self._context.now)
        except SecretFound:
            self._refused.append(Refused("it holds a credential", ""))
            return
        except (InvalidMemory, WriteConflict) as error:
            self._refused.append(Refused(error.message, candidate.claim))
            return
        if planned.plan is None:
            self.counts["known"] += 1
            return
        rival = self._same_slot(candidate)
        path = planned.result.path
        self._view.add(planned.steps, planned.facts)
        for document in planned.documents.values():
            self._known.add(path, document)
        self.counts["written"] += 1
        self.counts["conflicts"] += rival is not None
        decision = _decision(candidate, path, rival)
        self.proposals.append(
            Proposal(subject=draft.title, steps=planned.steps, decisions=(decision,))
        )

    def _draft(self, candidate: Candidate) -> Draft:
        cited = {one.session_id for one in candidate.evidence}
        is_one = len(cited) == 1 and any(one.session_id in cited for one in self._due)
        folders = sorted({*filter(None, map(self._folder, candidate.evidence))})
        return Draft(
            title=_title(candidate.claim),
            memory_type=MemoryType(candidate.kind),
            article_html=_article(candidate, self._day(cited), folders),
            workspace=self._workspace(candidate, folders),
            tags=(TAG,),
            entities=self._known.spelled(candidate.entities),
            author=AUTHOR,
            session_id=cited.pop() if is_one else None,
        )

    def _workspace(self, candidate: Candidate, folders: Sequence[str]) -> str | None:
        """Return the workspace of the store that goes by the name of the one folder, if any does.

        What a person prefers, they prefer everywhere.
        """
        if candidate.kind == MemoryType.USER_PREFERENCE or len(folders) != 1:
            return None
        return self._workspaces.get(slugify(folders[0]))

    def _placed(self, draft: Draft) -> Draft:
        folder = place(draft.memory_type, workspace=draft.workspace, entities=draft.entities)
        now = self._context.now
        path = free_path(folder, draft.title, draft.memory_type, self._view, now=now)
        return replace(draft, path=path)

    def _day(self, cited: Iterable[str]) -> str | None:
        """Return the latest day of the sessions *cited*; None where none tells."""
        known = (self._sessions[one] for one in cited if one in self._sessions)
        ends = (one.ended_at or one.started_at for one in known)
        return max((end[:10] for end in ends if end), default=None)

    def _same_slot(self, candidate: Candidate) -> tuple[str, str] | None:
        """Return path and claim of a memory that fills the slot of *candidate* otherwise."""
        key = frame_key(candidate.claim)
        # All corrections fill the slot "use … instead of"; their rivals are found by other means.
        if key is None or candidate.source is Source.CORRECTION:
            return None
        return self._view.find_frame(key)


def _title(claim: str) -> str:
    first = next(iter(sentences(claim)), claim)
    return first if len(first) <= TITLE_CHARS else first[: TITLE_CHARS - 1].rstrip() + "…"


def _article(candidate: Candidate, day: str | None, folders: Sequence[str]) -> str:
    """Return the claim, how it came up, when and where, and folded the words it rests on."""
    # Some tell how it came up by saying it again.
    gist = candidate.gist.removesuffix(candidate.claim).rstrip(" :") or candidate.gist
    stop = "" if gist.endswith((".", "!", "?", "…", "。")) else "."
    told = f"<p>{escape_text(gist)}{stop}"
    when = f' on <time datetime="{day}">{day}</time>' if day is not None else ""
    noun = "folder" if len(folders) == 1 else "folders"
    where = f" in the {noun} {', '.join(map(escape_text, folders))}" if folders else ""
    if when or where:
        told += f" Said{when}{where}."
    count = len({one.session_id for one in candidate.evidence})
    sessions = "one session" if count == 1 else f"{count} sessions"
    lines = [
        f"<p><mark>{escape_text(candidate.claim)}</mark></p>",
        f"{told}</p>",
        "<details>",
        f"<summary>Said in {sessions}</summary>",
    ]
    for one in candidate.evidence:
        cite = f"session:{encoded(one.session_id, safe='')}#L{one.line}"
        lines.append(f'<p><q cite="{escape_attribute(cite)}">{escape_text(one.quote)}</q></p>')
    return "\n".join([*lines, "</details>"])


def _decision(candidate: Candidate, path: str, rival: tuple[str, str] | None) -> Decision:
    why = _WHY[candidate.source]
    evidence: list[tuple[str, str | float]] = [("found by", candidate.source.value)]
    for number, one in enumerate(candidate.evidence, 1):
        place = f"session {one.session_id}, line {one.line} of {one.path}"
        evidence += [(f"quote {number}", one.quote), (f"quote {number} stands in", place)]
    if rival is not None:
        why += f" It may contradict {rival[0]}, which says: {rival[1]}"
        evidence += [("may contradict", rival[0]), ("which says", rival[1])]
    return Decision("learned", path, why, evidence=tuple(evidence))


# Questions


def _clash(candidate: Candidate, rival: Live) -> Finding:
    said = candidate.evidence[0]
    return _question(candidate.claim, rival, (("words", said.quote), ("session", said.session_id)))


def _question(
    learned: str, rival: Live, measured: tuple[tuple[str, str | float], ...] = ()
) -> Finding:
    return Finding(
        detector=NAME,
        key=f"{learned}\n{rival.gist}",
        claim=f"Decide which holds: a person corrected an agent ({learned.rstrip('.')}), and "
        f"{rival.path} says otherwise.",
        paths=(rival.path,),
        quotes=((rival.path, rival.gist),),
        measured=((_LEARNED, learned), *measured),
    )


def _standing(context: Context) -> Iterator[Finding]:
    """Yield the questions that are open and whose memory still says what it said."""
    live = {collapse(memory.gist): memory for memory in context.population.claims}
    for task in context.population.tasks:
        if task.archived or task.author != AUTHOR or not {DETECTED, NAME} <= set(task.tags):
            continue
        learned = next((facet.value for facet in task.facets if facet.name == _LEARNED), None)
        file = context.view.find(task.path)
        for citation in parse(file.data).citations if file else ():
            rival = live.get(collapse(citation.text))
            if rival is not None and learned is not None:
                yield _question(learned, rival)


# Telling


def _as_of(session: Session) -> str:
    """Return the instant up to which *session* was read: when it was written to last.

    The next whole second, so that the session is due again only when it goes on.
    """
    return stamp(datetime.fromtimestamp(-(-session.mtime_ns // 1_000_000_000), UTC))


def _reasons(refused: Iterable[Refused]) -> Iterator[str]:
    reasons = Counter(one.reason for one in refused)
    for reason, count in reasons.most_common(_REASONS_TOLD):
        yield f"{count} refused: {reason}"
    if len(reasons) > _REASONS_TOLD:
        yield f"and for {len(reasons) - _REASONS_TOLD} other reasons"
