"""What is still to do is proposed; advice, rules, conditions and history are not."""

from __future__ import annotations

from typing import Any

import pytest

from memhtml.model.errors import BudgetSpent, ModelUnavailable
from memhtml.model.vocabulary import MemoryType
from memhtml.sleep.cues import due_of, find_cue, sentences
from memhtml.sleep.detections import plan_detections
from memhtml.sleep.phase import Offered
from memhtml.sleep.phases import task_detection
from memhtml.sleep.phases.task_detection import Commitment, Commitments
from tests.sleep.trees import Tree, days_ago

TO_DO = [
    "We need to rotate the signing key.",
    "We still have to tell the landlord about the boiler.",
    "I must call the dentist back.",
    "I'll send Dana the draft by Friday.",
    "We will migrate the billing database before the end of the month.",
    "TODO: renew the certificate of the staging host",
    "TODO renew the passport",
    "[TODO] ask Mira for the floor plan",
    "Follow up with Omar about the invoice.",
    "Please follow up on ticket 4412.",
    "Remember to water the ferns.",
    "Please don't forget to book the train.",
    "Action item: Noor drafts the announcement.",
    "Next steps: measure the window and order the glass.",
    "The old branch still needs to be deleted.",
    "The third chapter remains to be translated.",
    "The tax return is due on 2026-09-30.",
    "The certificate must be renewed by 2026-09-01.",
    "I owe Lena a reply about the garden.",
    "We are waiting for legal to sign the lease.",
    "Wir müssen noch den Schlüssel zurückgeben.",
    "Ich muss bis Freitag die Steuer abgeben.",
    "Nicht vergessen, den Zähler abzulesen.",
    "Die Antwort vom Vermieter steht noch aus.",
    "Il faut encore prévenir la mairie.",
    "Ne pas oublier de rendre les clés.",
    "Tenemos que pagar la factura antes del viernes.",
    "No olvidar llamar al fontanero.",
    "金曜日までに資料を送る予定。",
    "请别忘了续签合同。",
]
NOTHING = [
    "The gate opens at 06:30.",
    "When the pool is exhausted, we need to restart the worker.",
    "If the key leaks we must rotate it.",
    "You need to run the migration first.",
    "We always have to warm the cache after a release.",
    "We had to rotate the key after the leak.",
    "We needed to restart it twice.",
    "We don't need to keep the old logs.",
    "There is no need to follow up with Omar.",
    "I followed up with Dana on Tuesday.",
    "Do we need to rotate the key?",
    "Would we have to pay twice?",
    "We would need to buy a second licence.",
    "The TODO list lives in the kitchen.",
    "TODO comments are stripped by the build.",
    "TODO: order glass — done",
    "The report was finished by Friday.",
    "We already need to be careful with the budget, said the manual.",
    'The sign says "please remember to close the door".',
    "The error message is `you must log in by Friday`.",
    "Dana said we need to rotate the key.",
    "Callers must close the session.",
    "Everyone needs to sign in before entering.",
    "The train leaves by the east gate.",
    "We promised nothing and it was resolved.",
    "She prefers to follow up with customers by phone.",
    "Wenn der Dienst ausfällt, müssen wir noch den Cache leeren.",
    "Wir mussten den Schlüssel bis Freitag zurückgeben.",
    "Man muss immer bis Ende der Woche warten.",
    "Si la clé est perdue, il faut encore prévenir la mairie.",
    "Il faut toujours prévenir la mairie avant le lundi.",
    "Siempre tenemos que pagar antes del viernes.",
    "Ya no tenemos que pagar la factura antes del viernes.",
    "もし失敗した場合は、金曜日までに送る必要がある。",
    "如果失败，需要在周五之前重试。",
]


@pytest.mark.parametrize("sentence", TO_DO)
def test_a_commitment_has_a_cue(sentence: str) -> None:
    """sleep.md §9.13."""
    cue = find_cue(sentence)
    assert cue is not None
    assert cue.words in sentence


@pytest.mark.parametrize("sentence", NOTHING)
def test_what_nobody_owes_has_none(sentence: str) -> None:
    assert find_cue(sentence) is None


def test_sentences_stand_in_the_text_verbatim() -> None:
    text = "First, v1.2 shipped.  TODO: tell\nMira! Then 3 more. 明日です。 終わり"
    found = sentences(text)
    assert all(sentence in " ".join(text.split()) for sentence in found)
    assert "TODO: tell Mira!" in found


@pytest.mark.parametrize(
    ("sentence", "day"),
    [
        ("We need to ship by Friday.", "2026-08-07"),
        ("We need to ship by Monday.", "2026-08-10"),
        ("We need to ship by tomorrow.", "2026-08-04"),
        ("Ich muss es bis Mittwoch abgeben.", "2026-08-05"),
        ("It is due on 2026-12-24.", "2026-12-24"),
        ("We need to ship soon.", None),
    ],
)
def test_a_deadline_counts_from_the_day_it_was_said(sentence: str, day: str | None) -> None:
    assert due_of(sentence, "2026-08-03T10:00:00Z") == day


A = "areas/a.html"
KEY = "We need to rotate the signing key by Friday."


def tree_with(claim: str = KEY, **fields: Any) -> Tree:
    tree = Tree()
    fields.setdefault("at", days_ago(3))
    fields.setdefault("memory_type", MemoryType.EPISODIC)
    tree.write(A, claim, **fields)
    return tree


def sleep(tree: Tree, **known: Any) -> dict[str, int]:
    context = tree.context(**known)
    found = task_detection.run(context)
    planned = plan_detections(
        task_detection.NAME, found.findings, context, budget=10, judged_all=found.judged_all
    )
    if planned.proposal is not None:
        tree.apply(planned.proposal)
    return dict(found.counts) | planned.counts


def test_a_commitment_becomes_a_task_with_its_words() -> None:
    tree = tree_with("The audit is over.", paragraphs=("It went well.", KEY))
    (finding,) = task_detection.run(tree.context()).findings
    assert finding.quotes == ((A, KEY),)
    # Said on 2026-07-30, a Thursday.
    assert finding.due == "2026-07-31"
    assert dict(finding.measured) == {"cue": "we need to", "words": "We need to"}
    assert sleep(tree)["tasksMinted"] == 1


@pytest.mark.parametrize(
    "memory_type", [MemoryType.PROCEDURAL, MemoryType.PRECEDENT, MemoryType.USER_PREFERENCE]
)
def test_rules_and_preferences_owe_nothing(memory_type: MemoryType) -> None:
    assert not task_detection.run(tree_with(memory_type=memory_type).context()).findings


def test_old_words_open_nothing_and_an_open_task_outlives_its_youth() -> None:
    assert not task_detection.run(tree_with(at=days_ago(100)).context()).findings
    tree = tree_with()
    sleep(tree)
    again = sleep(tree, detection_days=1)
    assert (again["standing"], again["tasksOpen"]) == (1, 1)
    assert "tasksClosed" not in again


def test_the_task_closes_when_the_words_are_gone() -> None:
    tree = tree_with()
    sleep(tree)
    tree.write(A, "The signing key was rotated.", at=days_ago(1))
    assert sleep(tree)["tasksClosed"] == 1


def test_the_task_stays_when_the_memory_moves() -> None:
    tree = tree_with()
    sleep(tree)
    tree.set("resources/keys/a.html", tree.files[A])
    tree.set(A, None)
    assert sleep(tree)["tasksOpen"] == 1


def test_what_a_person_wrote_as_a_task_is_not_proposed_again() -> None:
    tree = tree_with()
    claim = "By Friday, we need to rotate the signing key"
    tree.write("areas/inbox/tasks/key.html", claim, memory_type=MemoryType.TASK)
    assert sleep(tree)["known"] == 1
    assert not task_detection.run(tree.context()).findings


class Reader:
    """A model that answers what a test says."""

    name = "scripted"

    def __init__(self, *findings: Commitment, failure: Exception | None = None) -> None:
        self.findings = findings
        self.failure = failure
        self.asked: list[list[str]] = []

    def ask(self, task: str, members: Any, answer: Any) -> Any:
        assert "letter by letter" in task
        self.asked.append(list(members))
        if self.failure:
            raise self.failure
        value = answer(findings=list(self.findings))
        assert isinstance(value, Commitments)
        return value, Offered({f"m{n + 1}": n for n in range(len(members))})


def test_a_model_sees_more_and_its_quotes_are_looked_up() -> None:
    quiet = "Somebody ought to look at the roof."
    tree = tree_with(quiet)
    reader = Reader(
        Commitment("label_m1", quiet, "followup", 0.9),
        Commitment("m1", "We need to burn the roof.", "commitment", 0.9),
        Commitment("m7", quiet, "commitment", 0.9),
        Commitment("m1", quiet, "commitment", 0.5),
    )
    counts = sleep(tree, judge=reader)
    assert {name: counts[name] for name in ("model", "unverified", "unresolved", "belowFloor")} == {
        "model": 1,
        "unverified": 1,
        "unresolved": 1,
        "belowFloor": 1,
    }
    assert counts["tasksMinted"] == 1
    assert sleep(tree)["tasksOpen"] == 1, "what a model found stays open without one"


@pytest.mark.parametrize("failure", [ModelUnavailable("x", "down"), BudgetSpent("x", "spent")])
def test_a_model_that_fails_costs_only_what_it_would_have_seen(failure: Exception) -> None:
    tree = tree_with()
    for n in range(45):
        tree.write(f"areas/n{n}.html", f"Fact {n}.", at=days_ago(2))
    reader = Reader(failure=failure)
    counts = sleep(tree, judge=reader)
    assert (counts["cues"], counts["skipped"]) == (1, 45)
    assert len(reader.asked) == (1 if isinstance(failure, BudgetSpent) else 3)
