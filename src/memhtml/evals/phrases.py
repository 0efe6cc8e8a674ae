"""The words of the synthetic store: services, people, and what may be said of a service.

Statements of one kind stand for every service with another number, so nearly every word of a claim
is shared with eleven others. Titles name the service and nothing else. Questions of the hard kind
share as few words with their claim as a person's would.
"""

from __future__ import annotations

from typing import NamedTuple

from memhtml.model.vocabulary import MemoryType

__all__ = ["HABITS", "PEOPLE", "SERVICES", "STATEMENTS", "Habit", "Statement"]

SERVICES = (
    "checkout api",
    "ledger service",
    "image resizer",
    "search gateway",
    "mail relay",
    "auth broker",
    "invoice printer",
    "fraud scorer",
    "session store",
    "event bus",
    "report builder",
    "geo lookup",
)

PEOPLE = ("Mara Lind", "Tomas Okoye", "Ines Haddad", "Pavel Roy")


class Statement(NamedTuple):
    """One thing that is said of every service: ``{s}`` is the service, ``{n}`` a number."""

    memory_type: MemoryType
    claim: str
    detail: str
    question: str
    """What somebody asks who does not know the words of the claim."""
    low: int
    high: int


class Habit(NamedTuple):
    """What one person wants, so that a question about a service leads to it by way of its owner."""

    claim: str
    question: str


_T = MemoryType

STATEMENTS = (
    Statement(
        _T.SEMANTIC,
        "The connection pool of the {s} is capped at {n} sockets.",
        "Beyond that, callers wait in line and the dashboard turns amber.",
        "how many connections may the {s} hold before callers have to queue",
        12,
        96,
    ),
    Statement(
        _T.SEMANTIC,
        "Audit records of the {s} must be kept for {n} days.",
        "It is the law; older rows are purged at night.",
        "for how long does the law want audit logs of the {s} retained",
        30,
        720,
    ),
    Statement(
        _T.PROCEDURAL,
        "Before a release of the {s}, drain {n} percent of its workers and wait for quiet.",
        "Watch the queue depth panel; it should be flat before anything is switched.",
        "what to drain ahead of deploying the {s}",
        10,
        90,
    ),
    Statement(
        _T.PROCEDURAL,
        "To roll the {s} back, pin build {n} and then flush the edge cache.",
        "Skipping the flush leaves old assets in front of the old code.",
        "reverting the {s} to an earlier build without stale assets",
        101,
        999,
    ),
    Statement(
        _T.EPISODIC,
        "The {s} was down for {n} minutes after a certificate ran out.",
        "The on-call engineer renewed it by hand and wrote the reminder that exists today.",
        "outage of the {s} caused by an expired certificate",
        5,
        95,
    ),
    Statement(
        _T.EPISODIC,
        "The load test of the {s} peaked at {n} requests a second.",
        "The bottleneck was lock contention and not the network.",
        "highest throughput of the {s} under load",
        150,
        4000,
    ),
    Statement(
        _T.AGENT_INSIGHT,
        "Slow starts of the {s} are explained by {n} config lookups that could be one.",
        "Each lookup costs a round trip to another zone.",
        "why is the {s} slow to boot",
        11,
        60,
    ),
    Statement(
        _T.AGENT_INSIGHT,
        "Most alerts of the {s} fire within {n} minutes of a schema change.",
        "They resolve by themselves once replicas have caught up.",
        "false alerts from the {s} after a schema migration",
        2,
        40,
    ),
    Statement(
        _T.USER_PREFERENCE,
        "For the {s}, reviewers want pull requests of at most {n} lines.",
        "Larger ones are split by directory.",
        "how large may a pull request to the {s} be",
        100,
        600,
    ),
    Statement(
        _T.USER_PREFERENCE,
        "Status updates on the {s} are wanted every {n} hours during an incident.",
        "In the channel, not by mail.",
        "how often to report on the {s} while an incident lasts",
        1,
        12,
    ),
    Statement(
        _T.ERROR_PATTERN,
        "The {s} answers error {n} when its token is older than its clock.",
        "Restarting the time daemon is enough; a redeploy is not needed.",
        "the {s} rejects a valid token because of clock skew",
        401,
        599,
    ),
    Statement(
        _T.ERROR_PATTERN,
        "A stuck consumer of the {s} shows as {n} unacknowledged messages and no log lines.",
        "Kill the consumer; the broker hands its work to another.",
        "consumer of the {s} hangs and prints nothing",
        120,
        900,
    ),
    Statement(
        _T.VERDICT,
        "We decided that the {s} will stay on {n} shards until next year.",
        "Resharding was costed and found too dear.",
        "is anybody going to repartition the shards of the {s}",
        4,
        64,
    ),
    Statement(
        _T.VERDICT,
        "The rewrite of the {s} was rejected by {n} votes.",
        "The team would rather pay down the test debt first.",
        "did the team agree to rewrite the {s} from scratch",
        3,
        19,
    ),
    Statement(
        _T.PRECEDENT,
        "A customer of the {s} was refunded {n} euros for a duplicate charge.",
        "Support may do the same up to that amount without asking.",
        "how much money goes back when the {s} charges a customer twice",
        20,
        500,
    ),
    Statement(
        _T.PRECEDENT,
        "Last time the {s} lost a disk, {n} replicas were rebuilt one after the other.",
        "Rebuilding them together had saturated the link.",
        "disk failure in the {s}: how were its copies restored",
        2,
        9,
    ),
    Statement(
        _T.ARC,
        "Work on the {s} moves from firefighting towards {n} planned fixes a month.",
        "The trend is visible since winter.",
        "is work on the {s} getting ahead of emergencies",
        2,
        30,
    ),
    Statement(
        _T.ARC,
        "The {s} is being opened to partners, {n} of them so far.",
        "Contracts come first, quotas second.",
        "how many outside partners use the {s}",
        2,
        40,
    ),
)

HABITS = (
    Habit(
        "In an emergency at night, {p} wants to be phoned and not messaged.",
        "phone or message in an emergency: what does the owner of the {s} want",
    ),
    Habit(
        "{p} does not work on Fridays and hands over on Thursday afternoon.",
        "on which weekday does the one who looks after the {s} not work",
    ),
)
