"""From transcripts to proposed memories without a model: what was asked, corrected, tripped over.

Pure. Each candidate carries the words it rests on; what holds a credential is refused by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memhtml.format.secrets import find_secrets
from memhtml.model.vocabulary import MemoryType
from memhtml.traces.asked import is_taken_back, wish_in
from memhtml.traces.candidates import Candidate, Evidence, Refused, Source
from memhtml.traces.corrections import corrections
from memhtml.traces.errors import repeated_errors
from memhtml.traces.prose import sentences
from memhtml.traces.record import Role

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memhtml.traces.candidates import Conversation
    from memhtml.traces.corrections import Correction
    from memhtml.traces.errors import Repeated, Seen

__all__ = ["Mined", "mine", "without_secrets"]

MAX_QUOTES = 3
_ERROR_CHARS = 140
_COMMAND_CHARS = 70


class Mined(NamedTuple):
    """What was found."""

    candidates: tuple[Candidate, ...]
    refused: tuple[Refused, ...]


def mine(conversations: Iterable[Conversation]) -> Mined:
    """Return what *conversations*, oldest first, propose to remember.

    What several of them say the same way is one candidate with all their words. Of two corrections
    that contradict each other the later one counts.
    """
    said = list(conversations)
    found = [
        *(one for conversation in said for one in _asked(conversation)),
        *map(_corrected, _latest(one for each in said for one in corrections(each))),
        *map(_tripped_over, repeated_errors(said)),
    ]
    return without_secrets(_joined(found))


def without_secrets(candidates: Iterable[Candidate]) -> Mined:
    """Return *candidates* with those refused that would store a credential."""
    kept, refused = list[Candidate](), list[Refused]()
    for one in candidates:
        named = (name for _, name in one.entities)
        texts = (one.claim, one.gist, *(each.quote for each in one.evidence), *named)
        kinds = sorted({found.kind for text in texts for found in find_secrets(text)})
        if kinds:
            # The claim itself may be what must not be told.
            refused.append(Refused(f"it holds a credential: {', '.join(kinds)}", ""))
        else:
            kept.append(one)
    return Mined(tuple(kept), tuple(refused))


def _asked(conversation: Conversation) -> Iterator[Candidate]:
    if conversation.agent_id is not None:
        return
    prompts = [
        one for one in conversation.entries if one.role is Role.USER and one.agent_id is None
    ]
    spoken = [sentences(one.text) for one in prompts]
    for number, entry in enumerate(prompts):
        after = spoken[number + 1] if number + 1 < len(prompts) else []
        for place, sentence in enumerate(spoken[number]):
            wish = wish_in(sentence)
            if wish is None or any(map(is_taken_back, [*spoken[number][place + 1 :], *after])):
                continue
            evidence = Evidence(conversation.session_id, sentence, conversation.path, entry.line)
            gist = f"A person asked for this to be remembered: {wish.claim}"
            yield Candidate(wish.kind, wish.claim, gist, (evidence,), Source.ASKED)


def _latest(found: Iterable[Correction]) -> list[Correction]:
    """Return the corrections that no later one turns round."""
    ordered = sorted(found, key=lambda one: one.at)
    decided = {one.pair: one.use.casefold() for one in ordered}
    return [one for one in ordered if decided[one.pair] == one.use.casefold()]


def _corrected(one: Correction) -> Candidate:
    claim = f"Use {one.use} instead of {one.drop}."
    evidence = tuple(
        Evidence(one.session_id, quote, one.path, line) for quote, line in (one.said, one.done)
    )
    gist = (
        f"A person corrected the agent, which did so from then on: use {one.use}, not {one.drop}."
    )
    return Candidate(MemoryType.PRECEDENT, claim, gist, evidence, Source.CORRECTION)


def _tripped_over(one: Repeated) -> Candidate:
    first = _by_session(one.seen)
    error = _short(one.seen[-1].quote, _ERROR_CHARS)
    command = next((seen.command for seen in reversed(one.seen) if seen.command), "")
    running = _short(command, _COMMAND_CHARS)
    what = f"`{running}` fails with “{error}”" if running else f"“{error}” comes up"
    evidence = [Evidence(seen.session_id, seen.quote, seen.path, seen.line) for seen in first]
    times = f"{len(one.seen)} times in {_sessions(one.sessions)}"
    claim = f"{what[0].upper()}{what[1:]} (seen {times})."
    gist = f"The same error came up {times}."
    if one.fix is not None:
        fix = _short(one.fix.quote, _COMMAND_CHARS)
        # An edit is named by its file, which says where and not what.
        is_edit = "/" in fix and " " not in fix
        how = f"a change of `{fix}`" if is_edit else f"`{fix}`"
        claim = f"{what[0].upper()}{what[1:]}; {how} fixed it."
        gist += f" After {how} the same command succeeded."
        evidence.append(Evidence(one.fix.session_id, one.fix.quote, one.fix.path, one.fix.line))
    return Candidate(MemoryType.ERROR_PATTERN, claim, gist, tuple(evidence), Source.ERROR)


def _by_session(seen: Sequence[Seen]) -> list[Seen]:
    """Return a few times that an error came up, from as many sessions as can be."""
    firsts = {one.session_id: one for one in reversed(seen)}
    chosen = [*reversed(firsts.values()), *(one for one in seen if one not in firsts.values())]
    return chosen[:MAX_QUOTES]


def _joined(found: Iterable[Candidate]) -> list[Candidate]:
    """Return *found* with those that claim the same as one."""
    by_claim = dict[tuple[str, str], Candidate]()
    for one in found:
        key = one.source, one.claim.casefold()
        known = by_claim.get(key)
        if known is not None:
            one = known._replace(  # noqa: PLW2901 - the two are one from here on
                evidence=tuple(dict.fromkeys([*known.evidence, *one.evidence]))
            )
        by_claim[key] = one
    return list(by_claim.values())


def _short(text: str, limit: int) -> str:
    flat = " ".join(text.replace("`", "'").split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def _sessions(count: int) -> str:
    return "one session" if count == 1 else f"{count} sessions"
