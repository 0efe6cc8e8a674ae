"""The language of the generated store of `bench/curation_store.py`: facts in several wordings.

Every schema is one kind of fact with wordings that say the same: active and passive, reordered
clauses, other verbs and nouns. ``denied`` says the contrary with a negation, ``opposite`` without
one. Slots in braces are filled from vocabulary that all schemas share, so two facts may well differ
in one word alone.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = [
    "ABBREVIATIONS",
    "ALIASES",
    "BODIES",
    "DENIALS",
    "LEAD_INS",
    "LOOK_ALIKES",
    "PEOPLE",
    "PLACES",
    "SCHEMAS",
    "SPELLINGS",
    "SYNONYMS",
    "SYSTEMS",
    "TEAMS",
    "THINGS",
    "UNITS",
    "Schema",
]


class Schema(NamedTuple):
    """One kind of fact."""

    name: str
    slots: str
    """Letters: ``s o`` systems, ``t`` a team, ``p`` a person, ``l`` a place, ``x`` a thing, ``n`` a
    number, ``q`` a quantity with a unit, ``d`` a day, ``v`` a version."""
    wordings: tuple[str, ...]
    denied: tuple[str, ...] = ()
    opposite: tuple[str, ...] = ()
    units: str = "time"


SCHEMAS = (
    Schema(
        "timeout",
        "sq",
        (
            "{s} gives up on a request after {q}.",
            "Requests to {s} time out once {q} have passed.",
            "The request timeout of {s} is set to {q}.",
            "A call to {s} is cut off when it takes longer than {q}.",
            "{s} waits {q} for an answer and then abandons the request.",
        ),
        ("{s} does not give up on a request after {q}.", "Requests to {s} never time out at {q}."),
    ),
    Schema(
        "retries",
        "sn",
        (
            "{s} retries a failed call {n} times.",
            "A failed call is retried {n} times by {s}.",
            "When a call fails, {s} tries again up to {n} times.",
            "{s} makes {n} further attempts after a call has failed.",
            "{n} retries are made by {s} before a failed call is reported.",
        ),
        ("{s} never retries a failed call {n} times.", "A failed call is not retried by {s}."),
    ),
    Schema(
        "backup",
        "sl",
        (
            "Backups of {s} are kept in {l}.",
            "{s} stores its backups in {l}.",
            "The backup copies of {s} live in {l}.",
            "{l} is where the backups of {s} are stored.",
            "We keep the backups for {s} in {l}.",
        ),
        ("Backups of {s} are not kept in {l}.", "{s} does not store its backups in {l}."),
    ),
    Schema(
        "owner",
        "ts",
        (
            "The {t} team owns {s}.",
            "{s} is owned by the {t} team.",
            "Ownership of {s} lies with the {t} team.",
            "Responsibility for {s} rests with the {t} team.",
            "The {t} team is responsible for {s}.",
        ),
        ("The {t} team does not own {s}.", "{s} is not owned by the {t} team."),
    ),
    Schema(
        "prefers",
        "px",
        (
            "{p} prefers to review {x} in the morning.",
            "In the morning is when {p} likes to review {x}.",
            "{p} likes reviewing {x} best in the morning.",
            "For reviews of {x}, {p} favours the morning.",
            "Mornings suit {p} best for reviewing {x}.",
        ),
        ("{p} does not like to review {x} in the morning.",),
        ("{p} prefers to review {x} in the evening.",),
    ),
    Schema(
        "calls",
        "so",
        (
            "{s} sends its events to {o}.",
            "Events from {s} are sent to {o}.",
            "{o} receives the events of {s}.",
            "{o} is where {s} sends its events.",
            "The events that {s} emits go to {o}.",
        ),
        ("{s} does not send its events to {o}.",),
        ("{o} sends its events to {s}.", "{s} receives the events of {o}."),
    ),
    Schema(
        "deadline",
        "sd",
        (
            "The migration of {s} must be finished by {d}.",
            "By {d} the migration of {s} has to be complete.",
            "{s} has to be migrated by {d}.",
            "The deadline for migrating {s} is {d}.",
            "Migrating {s} is due on {d}.",
        ),
        ("The migration of {s} need not be finished by {d}.",),
    ),
    Schema(
        "runs",
        "svl",
        (
            "{s} runs version {v} in {l}.",
            "In {l}, {s} runs on version {v}.",
            "Version {v} of {s} is deployed in {l}.",
            "The {l} deployment of {s} is at version {v}.",
            "{s} is deployed in {l} at version {v}.",
        ),
        ("{s} does not run version {v} in {l}.",),
    ),
    Schema(
        "limit",
        "sq",
        (
            "{s} rejects uploads larger than {q}.",
            "Uploads of more than {q} are refused by {s}.",
            "The upload limit of {s} is {q}.",
            "{s} accepts uploads of up to {q}.",
            "A file uploaded to {s} may be {q} at most.",
        ),
        ("{s} does not reject uploads larger than {q}.",),
        units="size",
    ),
    Schema(
        "rotates",
        "sxq",
        (
            "The keys of {s} for {x} are rotated every {q}.",
            "{s} rotates its keys for {x} every {q}.",
            "Every {q} the keys that {s} uses for {x} are replaced.",
            "Key rotation for {x} in {s} happens every {q}.",
            "Once every {q}, {s} gets new keys for {x}.",
        ),
        ("The keys of {s} for {x} are not rotated every {q}.",),
        units="days",
    ),
    Schema(
        "incident",
        "sxd",
        (
            "A broken {x} caused the outage of {s} on {d}.",
            "The outage of {s} on {d} was caused by a broken {x}.",
            "On {d}, {s} went down because of a broken {x}.",
            "{s} failed on {d} owing to a broken {x}.",
            "A broken {x} brought {s} down on {d}.",
        ),
        ("A broken {x} did not cause the outage of {s} on {d}.",),
    ),
    Schema(
        "oncall",
        "ps",
        (
            "{p} is on call for {s} this quarter.",
            "On-call duty for {s} is with {p} this quarter.",
            "This quarter, {p} carries the pager for {s}.",
            "The pager for {s} is carried by {p} this quarter.",
            "{p} covers on-call for {s} this quarter.",
        ),
        ("{p} is not on call for {s} this quarter.",),
    ),
    Schema(
        "decided",
        "txs",
        (
            "The {t} team decided to use {x} for {s}.",
            "It was decided by the {t} team that {s} will use {x}.",
            "For {s}, the {t} team has chosen {x}.",
            "The {t} team settled on {x} for {s}.",
            "{x} was picked for {s} by the {t} team.",
        ),
        ("The {t} team decided not to use {x} for {s}.",),
        ("The {t} team decided to abandon {x} for {s}.",),
    ),
    Schema(
        "before",
        "sx",
        (
            "Drain the queue before {s} reloads its {x}.",
            "The queue must be drained before {s} reloads its {x}.",
            "Before {s} reloads its {x}, the queue has to be drained.",
            "{s} may reload its {x} once the queue is drained.",
            "First drain the queue, then let {s} reload its {x}.",
        ),
        ("Do not drain the queue before {s} reloads its {x}.",),
        ("Drain the queue after {s} reloads its {x}.",),
    ),
    Schema(
        "enabled",
        "sx",
        (
            "Tracing of {x} is enabled in {s}.",
            "{s} has tracing of {x} turned on.",
            "In {s}, tracing is switched on for {x}.",
            "{s} traces {x}, since tracing is enabled there.",
            "We turned on tracing of {x} in {s}.",
        ),
        ("Tracing of {x} is not enabled in {s}.",),
        ("Tracing of {x} is disabled in {s}.", "{s} has tracing of {x} turned off."),
    ),
    Schema(
        "replicas",
        "snl",
        (
            "{s} has {n} replicas in {l}.",
            "There are {n} replicas of {s} in {l}.",
            "In {l}, {n} replicas of {s} are running.",
            "{n} copies of {s} run in {l}.",
            "{l} hosts {n} replicas of {s}.",
        ),
        ("{s} does not have {n} replicas in {l}.",),
    ),
    Schema(
        "meeting",
        "tpl",
        (
            "The {t} team meets {p} in {l} on Mondays.",
            "On Mondays the {t} team meets with {p} in {l}.",
            "{p} meets the {t} team in {l} on Mondays.",
            "The Monday meeting of {p} and the {t} team is held in {l}.",
            "Each Monday, {p} and the {t} team get together in {l}.",
        ),
        ("The {t} team does not meet {p} in {l} on Mondays.",),
        ("The {t} team meets {p} in {l} on Thursdays.",),
    ),
    Schema(
        "cost",
        "sn",
        (
            "Running {s} costs {n} euros a month.",
            "{s} costs {n} euros a month to run.",
            "The monthly cost of {s} is {n} euros.",
            "We pay {n} euros a month for {s}.",
            "{n} euros are spent on {s} every month.",
        ),
        ("Running {s} does not cost {n} euros a month.",),
    ),
    Schema(
        "encrypts",
        "sx",
        (
            "{s} encrypts {x} at rest.",
            "{x} in {s} is encrypted at rest.",
            "At rest, {s} keeps {x} encrypted.",
            "Encryption at rest covers {x} in {s}.",
            "{s} stores {x} in encrypted form.",
        ),
        ("{s} does not encrypt {x} at rest.", "{x} in {s} is not encrypted at rest."),
    ),
    Schema(
        "approves",
        "pxt",
        (
            "{p} approves changes to {x} for the {t} team.",
            "Changes to {x} in the {t} team are approved by {p}.",
            "In the {t} team, {p} signs off changes to {x}.",
            "For the {t} team, approval of changes to {x} comes from {p}.",
            "{p} gives the approval for {x} changes in the {t} team.",
        ),
        ("{p} does not approve changes to {x} for the {t} team.",),
        ("{p} rejects changes to {x} for the {t} team.",),
    ),
    Schema(
        "latency",
        "soq",
        (
            "{s} answers {o} within {q}.",
            "Within {q}, {o} gets an answer from {s}.",
            "{o} gets its answer from {s} within {q}.",
            "A query from {o} is answered by {s} within {q}.",
            "{s} needs {q} to answer a query from {o}.",
        ),
        ("{s} does not answer {o} within {q}.",),
        ("{o} answers {s} within {q}.",),
        units="short",
    ),
    Schema(
        "moved",
        "psl",
        (
            "{p} moved {s} to {l}.",
            "{s} was moved to {l} by {p}.",
            "It was {p} who moved {s} to {l}.",
            "{p} relocated {s} to {l}.",
            "The move of {s} to {l} was carried out by {p}.",
        ),
        ("{p} did not move {s} to {l}.",),
        ("{p} moved {s} from {l}.",),
    ),
    Schema(
        "requires",
        "sxo",
        (
            "{s} requires {x} before it can reach {o}.",
            "To reach {o}, {s} requires {x}.",
            "{x} is required by {s} to reach {o}.",
            "{s} can reach {o} only with {x}.",
            "{s} needs {x} in order to reach {o}.",
        ),
        ("{s} does not require {x} before it can reach {o}.",),
    ),
    Schema(
        "retained",
        "sxq",
        (
            "{s} keeps {x} for {q}.",
            "{x} is retained by {s} for {q}.",
            "{s} deletes {x} once it is {q} old.",
            "After {q}, {x} is purged from {s}.",
            "The retention period for {x} in {s} is {q}.",
        ),
        ("{s} does not keep {x} for {q}.",),
        units="days",
    ),
)

SYSTEMS = (
    "the payments database",
    "the billing gateway",
    "the search cluster",
    "the image service",
    "the login server",
    "the mail relay",
    "the ledger",
    "the report scheduler",
    "the inventory service",
    "the event bus",
    "the feature store",
    "the pricing engine",
    "the audit archive",
    "the session cache",
    "the invoice printer",
    "the fraud detector",
    "the mobile backend",
    "the partner portal",
    "the data warehouse",
    "the notification hub",
    "the shipping planner",
    "the metrics collector",
    "the content editor",
    "the translation service",
)

TEAMS = (
    "platform",
    "storage",
    "mobile",
    "risk",
    "finance",
    "search",
    "identity",
    "logistics",
    "growth",
    "security",
)

PLACES = (
    "Oslo",
    "Dublin",
    "Frankfurt",
    "Lisbon",
    "Tallinn",
    "Montreal",
    "Osaka",
    "Nairobi",
    "Santiago",
    "Warsaw",
)

THINGS = (
    "the customer table",
    "the audit log",
    "the schema",
    "the token store",
    "the load balancer",
    "the invoice archive",
    "the certificate",
    "the search index",
    "the card vault",
    "the dead-letter queue",
    "the configuration",
    "the price list",
)

UNITS = {
    "time": (("seconds", "s"), ("minutes", "min"), ("hours", "h")),
    "short": (("milliseconds", "ms"), ("seconds", "s")),
    "size": (("megabytes", "MB"), ("gigabytes", "GB"), ("kilobytes", "KB")),
    "days": (("days", "days"), ("weeks", "weeks"), ("months", "months")),
}
"""Each kind's units, spelt out and short."""

PEOPLE = (
    "Amara Novak",
    "Bruno Keller",
    "Chiara Dutta",
    "Dmitri Hale",
    "Elif Sandoval",
    "Farid Johansen",
    "Greta Mbeki",
    "Hiro Castellan",
    "Ingrid Achterberg",
    "Jonas Petrakis",
    "Keiko Brandt",
    "Luca Waweru",
)

LOOK_ALIKES = (
    ("Maria Lopez", "Mario Lopez"),
    ("Jan Peeters", "Jana Peeters"),
    ("Anna Bergstrom", "Anne Bergstrom"),
    ("Erik Larsen", "Erik Larssen"),
    ("Daniel Okafor", "Daniela Okafor"),
    ("Julian Moreau", "Juliane Moreau"),
    ("Wei Chen", "Wei Cheng"),
    ("Simon Kovacs", "Simone Kovacs"),
    ("Ali Hassan", "Alia Hassan"),
    ("Christian Vogel", "Christina Vogel"),
)
"""Pairs of different people."""

ALIASES = (
    ("Robert Whitcombe", ("Bob Whitcombe", "rwhitcombe")),
    ("Elizabeth Tanaka", ("Liz Tanaka", "etanaka")),
    ("Laith Al-Saadoon", ("Laith",)),
    ("Aleksandra Wisniewska", ("Ola Wisniewska",)),
    ("Mikhail Sorensen", ("Misha Sorensen", "msorensen")),
    ("Theodora Blackwood", ("Teddy Blackwood",)),
)
"""A person and the names that their own page declares."""

SPELLINGS = (
    ("data platform", "Data  Platform", "data-platform"),
    ("release train", "Release Train", "release-train"),
    ("customer portal", "Customer Portal", "customer  portal"),
)
"""Names of projects that differ in case, spaces and hyphens alone."""

SYNONYMS = (
    ("kept", "held"),
    ("must", "has to"),
    ("finished", "done"),
    ("larger", "bigger"),
    ("refused", "turned away"),
    ("caused", "brought about"),
    ("chosen", "selected"),
    ("drained", "emptied"),
    ("Drain", "Empty"),
    ("requires", "needs"),
    ("required", "needed"),
    ("receives", "gets"),
    ("answers", "replies to"),
    ("responsible", "accountable"),
    ("replicas", "instances"),
    ("retained", "kept"),
    ("relocated", "moved"),
    ("outage", "downtime"),
    ("rejects", "refuses"),
    ("deployed", "rolled out"),
    ("request", "query"),
    ("broken", "faulty"),
    ("decided", "agreed"),
    ("every", "each"),
    ("morning", "mornings"),
)

ABBREVIATIONS = (
    ("database", "DB"),
    ("configuration", "config"),
    ("certificate", "cert"),
    ("version", "v."),
    ("euros", "EUR"),
    ("request", "req"),
    ("notification", "notif"),
)

DENIALS = (
    "It is not the case that ",
    "It is no longer true that ",
    "Contrary to the wiki, it is not so that ",
)

LEAD_INS = (
    "Note that ",
    "For the record: ",
    "As agreed in the review, ",
    "Remember: ",
    "It turns out that ",
    "FYI, ",
    "According to the runbook, ",
)

BODIES = (
    "Came up in the weekly sync and was confirmed there.",
    "The runbook has the details.",
    "Written down because it was asked twice.",
    "Checked against the dashboard.",
    "This matters for capacity planning.",
    "Worth knowing before touching anything nearby.",
    "Confirmed by the people who run it.",
    "A link to the design notes is in the wiki.",
)
