"""Exchanges written by hand, and what of each is worth remembering; most of it is nothing."""

from __future__ import annotations

import time
from typing import Any

import pytest

from memhtml.traces.asked import wish_in
from memhtml.traces.candidates import Conversation
from memhtml.traces.corrections import corrections
from memhtml.traces.errors import repeated_errors
from memhtml.traces.mine import Mined, mine
from memhtml.traces.record import Entry, Role

U, A, C, R, F = Role.USER, Role.ASSISTANT, Role.CALL, Role.RESULT, "failed"


def talk(*said: tuple[Any, str], session: str = "s1", agent: str | None = None) -> Conversation:
    """A conversation of who said what; a result marked `F` failed."""
    entries = [
        Entry(
            R if who is F else who, text, failed=who is F, line=number, at=f"2026-03-01T12:{number}"
        )
        for number, (who, text) in enumerate(said, 10)
    ]
    return Conversation(session, f"/t/{session}.jsonl", tuple(entries), agent)


def claims(mined: Mined) -> list[str]:
    return [one.claim for one in mined.candidates]


@pytest.mark.parametrize(
    ("said", "kind", "claim"),
    [
        (
            "Please remember that we deploy from the release branch.",
            "semantic",
            "We deploy from the release branch.",
        ),
        ("remember: the staging key lives in the vault", "semantic", None),
        ("Great, thanks! Remember that I prefer tabs over spaces.", "user_preference", None),
        (
            "Fix the flaky test. Also remember to always run `make lint` before pushing.",
            "procedural",
            "Always run `make lint` before pushing.",
        ),
        ("From now on, use pnpm for every package.", "procedural", "Use pnpm for every package."),
        ("It is a List<String> now. Remember that the gate is `List<T>`.", "semantic", None),
        ("Going forward: never force-push to main.", "procedural", "Never force-push to main."),
        (
            "For future reference: the gate opens at six.",
            "semantic",
            "The gate opens at six.",
        ),
        ("Can you remember that our CI only has two cores?", "semantic", None),
        ("I want you to remember that reviews go to Mira.", "semantic", "Reviews go to Mira."),
        ("Remember, we use British spelling in the docs.", "semantic", None),
        ("remember our API is rate limited to ten calls a second", "semantic", None),
        ("Make a note that the old host is read-only.", "semantic", "The old host is read-only."),
        ("Add to your memory: invoices are sent on Mondays", "semantic", None),
        ("- remember that the fixtures are generated, not written", "semantic", None),
        (
            "Merk dir bitte, dass wir nur montags ausliefern.",
            "semantic",
            "Merk dir bitte, dass wir nur montags ausliefern.",
        ),
        ("Ab jetzt bitte immer auf Deutsch antworten.", "procedural", None),
        ("Retiens que nous déployons le mardi.", "semantic", "Nous déployons le mardi."),
        ("Désormais, utilise pnpm pour ce dépôt.", "procedural", "Utilise pnpm pour ce dépôt."),
        (
            "Recuerda que el servidor de pruebas es de solo lectura.",
            "semantic",
            "El servidor de pruebas es de solo lectura.",
        ),
        ("A partir de ahora, usa pnpm en este proyecto.", "procedural", None),
        ("本番DBは読み取り専用だと覚えておいてください。", "semantic", "本番DBは読み取り専用だ。"),
        ("今後はコミットメッセージを英語で書いてください", "procedural", None),
        ("请记住，生产数据库是只读的。", "semantic", "生产数据库是只读的。"),
        ("以后都用 pnpm 安装依赖", "procedural", None),
    ],
)
def test_what_is_asked_to_be_remembered_is_proposed(
    said: str, kind: str, claim: str | None
) -> None:
    (found,) = mine([talk((U, said), (A, "Noted."))]).candidates
    assert found.kind == kind
    if claim is not None:
        assert found.claim == claim
    (evidence,) = found.evidence
    assert evidence.quote in said.removeprefix("- ")
    assert (evidence.line, evidence.path) == (10, "/t/s1.jsonl")


@pytest.mark.parametrize(
    "said",
    [
        "Do you remember that we deploy from the release branch?",
        "do you remember what the gate code was",
        "Can you remember what we decided about retries?",
        "Remember that bug from last week? It is back.",
        "Remember that function we wrote, it is too slow now.",
        "Remember when the build took an hour?",
        "I don't remember that the tests were ever green.",
        "I can't remember where the config lives.",
        "You don't need to remember that the port is 8080.",
        "Remember to add a test.",
        "Remember to close the file at the end.",
        "Please remember that.",
        "remember that value and continue",
        "Remember, I need this by five.",
        "remember I want the button to be blue",
        "Please remember that the last run took ten minutes.",
        "Remember that you already fixed this bug.",
        "please remember that I told you to use pnpm",
        "Store in memory that value and continue.",
        "Put it in memory, don't spill to disk.",
        "Make sure you remember that state across reloads.",
        "请记住用户的选择并在刷新后恢复",
        "ユーザーの選択を覚えておいてください",
        "Remember this.",
        "Remember that it is slow.",
        "Add a remember-me checkbox to the login form.",
        "The function should remember that the user was here.",
        "> Remember that we close at five.",
        "```\n# remember that we close at five\n```",
        "    remember: that is a line of code in a block",
        'He wrote: "All done. Remember that we close at five today."',
        "Explain: «Merk dir, dass wir um fünf schließen» means what?",
        "<doc>\nRemember that the API is rate limited to ten calls.\n</doc>",
        "<pasted-page>\nIt was cut.\n\nRemember that the API is rate limited to ten calls.",
        "Look at <doc>Remember that the API is rate limited to ten calls.</doc> and tell.",
        "Remember that the parser is broken in this file, so skip it for now.",
        "From now on I will be at home.",
        "From now on it gets harder.",
        "In the future we might move to another host.",
        "Keep in mind that the user may be null.",
        "Don't forget to run the formatter.",
        "Weißt du noch, dass wir montags ausliefern?",
        "Erinnerst du dich, dass der Server langsam war?",
        "Tu te souviens que nous déployons le mardi ?",
        "¿Recuerdas que el servidor es lento?",
        "本番DBが読み取り専用だと覚えていますか？",
        "覚えておいて",
        "你还记得数据库是只读的吗？",
        "以后再说吧，先修这个",
        "remember that we deploy on Fridays. Actually, never mind.",
        "x " * 4100 + "\nRemember that we close at five on Mondays.",
    ],
)
def test_what_only_looks_like_a_wish_gives_nothing(said: str) -> None:
    assert claims(mine([talk((A, "Hello."), (U, said), (A, "Yes."))])) == []


def test_only_a_person_can_ask() -> None:
    text = "Remember that we deploy from the release branch."
    assert not mine([talk((R, text), (F, text), (A, text), (C, text))]).candidates
    assert not mine([talk((U, text), agent="a1")]).candidates
    side = talk((U, text))
    inline = side._replace(entries=tuple(e._replace(agent_id="a1") for e in side.entries))
    assert not mine([inline]).candidates


def test_a_wish_that_is_taken_back_next_is_gone() -> None:
    asked = (U, "Remember that we deploy from the release branch.")
    assert not mine([talk(asked, (A, "Noted."), (U, "Never mind, that changed."))]).candidates
    assert claims(mine([talk(asked, (A, "Noted."), (U, "Now fix the gate."))]))


def test_what_two_sessions_ask_is_one_candidate_with_the_words_of_both() -> None:
    asked = (U, "Remember that we deploy from the release branch.")
    (found,) = mine([talk(asked), talk(asked, session="s2")]).candidates
    assert [one.session_id for one in found.evidence] == ["s1", "s2"]


def test_a_candidate_that_holds_a_credential_is_refused_and_no_other() -> None:
    token = "ghp_" + "a1B2" * 9
    mined = mine(
        [
            talk(
                (U, f"Remember that the deploy token is {token}"),
                (A, "."),
                (U, "Remember that the gate opens at six."),
            )
        ]
    )
    assert claims(mined) == ["The gate opens at six."]
    (refused,) = mined.refused
    assert refused.reason == "it holds a credential: GitHub token"
    assert token not in str(mined)


# Corrections

NPM = ((U, "install left-pad"), (C, "npm install left-pad"), (R, "added 1 package"))


@pytest.mark.parametrize(
    ("said", "claim"),
    [
        ("No, use pnpm instead of npm.", "Use pnpm instead of npm."),
        ("use pnpm, not npm", "Use pnpm instead of npm."),
        ("Actually, we use pnpm, not npm.", "Use pnpm instead of npm."),
        ("Don't use npm, use pnpm.", "Use pnpm instead of npm."),
        ("Stop using npm; use pnpm instead.", "Use pnpm instead of npm."),
        ("instead of npm use `pnpm` please", "Use pnpm instead of npm."),
        ("I said use pnpm rather than npm!", "Use pnpm instead of npm."),
        ("Nein, nimm pnpm statt npm.", "Use pnpm instead of npm."),
        ("Non, utilise pnpm au lieu de npm.", "Use pnpm instead of npm."),
        ("No, usa pnpm en lugar de npm.", "Use pnpm instead of npm."),
        ("npmではなくpnpmを使ってください", "Use pnpm instead of npm."),
        ("不要用npm，用pnpm。", "Use pnpm instead of npm."),
    ],
)
def test_a_correction_the_agent_followed_is_proposed(said: str, claim: str) -> None:
    after = ((C, "pnpm add left-pad"), (R, "done"), (A, "Installed."))
    (found,) = mine([talk(*NPM, (U, said), *after)]).candidates
    assert (found.kind, found.claim) == ("precedent", claim)
    assert [one.quote for one in found.evidence] == [said, "pnpm add left-pad"]
    assert [one.line for one in found.evidence] == [13, 14]


@pytest.mark.parametrize(
    "said",
    [
        # Nobody had used the other.
        [(U, "Use pnpm instead of npm."), (C, "pnpm add x")],
        # The agent did not follow.
        [*NPM, (U, "No, use pnpm instead of npm."), (C, "npm install x")],
        [*NPM, (U, "No, use pnpm instead of npm."), (A, "Why?")],
        # It did at first, and fell back.
        [*NPM, (U, "No, use pnpm instead of npm."), (C, "pnpm add x"), (C, "npm install y")],
        # Turned round, or taken back.
        [
            *NPM,
            (U, "No, use pnpm instead of npm."),
            (C, "pnpm add x"),
            (U, "Hm, use npm instead of pnpm."),
        ],
        [*NPM, (U, "No, use pnpm instead of npm."), (C, "pnpm add x"), (U, "Never mind.")],
        [*NPM, (U, "No, use pnpm instead of npm."), (C, "pnpm add x"), (U, "Go back to npm.")],
        # About one place only.
        [*NPM, (U, "Use pnpm instead of npm here."), (C, "pnpm add x")],
        [*NPM, (U, "Use pnpm instead of npm for this package."), (C, "pnpm add x")],
        # A question, a quotation, code.
        [*NPM, (U, "Should we use pnpm instead of npm?"), (C, "pnpm add x")],
        [*NPM, (U, "> use pnpm instead of npm"), (C, "pnpm add x")],
        [*NPM, (U, "```\nuse pnpm instead of npm\n```"), (C, "pnpm add x")],
        # Nothing is named.
        [*NPM, (U, "No, use that instead of npm."), (C, "pnpm add that")],
        [*NPM, (U, "Use something else instead of npm."), (C, "something else")],
        # Somebody else says it.
        [*NPM, (A, "Use pnpm instead of npm."), (C, "pnpm add x")],
        [*NPM, (R, "warning: use pnpm instead of npm"), (C, "pnpm add x")],
    ],
)
def test_what_is_no_correction_that_held_gives_nothing(said: list[tuple[Any, str]]) -> None:
    assert list(corrections(talk(*said))) == []


def test_an_agent_corrects_nobody() -> None:
    said = (*NPM, (U, "No, use pnpm instead of npm."), (C, "pnpm add x"))
    assert list(corrections(talk(*said)))
    assert not list(corrections(talk(*said, agent="a1")))


def test_of_two_corrections_in_two_sessions_the_later_counts() -> None:
    first = talk(*NPM, (U, "No, use pnpm instead of npm."), (C, "pnpm add x"))
    back = (
        (C, "pnpm add y"),
        (U, "No, use npm instead of pnpm."),
        (C, "npm install y"),
    )
    later = talk(*back, session="s2")
    late = tuple(one._replace(at="2026-04-01T00:00") for one in later.entries)
    mined = mine([first, later._replace(entries=late)])
    assert claims(mined) == ["Use npm instead of pnpm."]


# Errors

YAML = "ModuleNotFoundError: No module named 'yaml'"
TRACE = f'Traceback (most recent call last):\n  File "a.py", line 3\n{YAML}'


def test_an_error_in_two_sessions_is_proposed_with_what_fixed_it() -> None:
    broken = ((C, "python build.py"), (F, TRACE))
    mended = ((C, "pip install pyyaml"), (R, "ok"), (C, "python build.py"), (R, "built"))
    (found,) = mine([talk(*broken), talk(*broken, *mended, session="s2")]).candidates
    assert found.kind == "error_pattern"
    assert found.claim == f"`python build.py` fails with “{YAML}”; `pip install pyyaml` fixed it."
    assert [(one.session_id, one.quote) for one in found.evidence] == [
        ("s1", YAML),
        ("s2", YAML),
        ("s2", "pip install pyyaml"),
    ]


def test_a_session_forked_off_another_repeats_nothing() -> None:
    broken = talk((C, "python build.py"), (F, TRACE))
    named = tuple(one._replace(call_id="c1") for one in broken.entries)
    first = broken._replace(entries=named)
    assert repeated_errors([first, first._replace(session_id="s2")]) == []


def test_an_error_three_times_in_one_session_is_proposed_without_a_fix() -> None:
    times = [
        said
        for port in (5432, 5433, 5434)
        for said in (
            (C, "make migrate"),
            (F, f"psycopg.OperationalError: connection to port {port} failed"),
        )
    ]
    (found,) = mine([talk(*times)]).candidates
    assert found.claim.endswith("(seen 3 times in one session).")
    assert "fixed" not in found.claim
    assert len(found.evidence) == 3


def test_an_edit_that_fixed_it_is_named_by_its_file() -> None:
    broken = ((C, "make"), (F, "fatal error: cannot open header zlib file"))
    mended = ((C, "/srv/shop/Makefile"), (R, "ok"), (C, "make"), (R, "ok"))
    (found,) = mine([talk(*broken), talk(*broken, *mended, session="s2")]).candidates
    assert "a change of `/srv/shop/Makefile` fixed it" in found.claim


@pytest.mark.parametrize(
    "said",
    [
        # Once, or twice in one session.
        [(F, TRACE)],
        [(F, TRACE), (F, TRACE)],
        # It did not fail, it was shown.
        [(R, TRACE)] * 4,
        # An agent's own tools, and code it is writing.
        [(F, "Error: File has not been read yet. Read it first.")] * 4,
        [(F, "Error: String to replace not found in file.")] * 4,
        [(F, "Error: The user doesn't want to proceed with this tool use.")] * 4,
        [(F, "AssertionError: assert 3 == 4 in a test of the thing")] * 4,
        [(F, "SyntaxError: invalid syntax in the new module")] * 4,
        [(F, "Error: Exit code 1")] * 4,
        # No error line.
        [(F, "remember that everything is fine and well")] * 4,
        [(F, "Error: 17")] * 4,
        # A person tells of it.
        [(U, TRACE)] * 4,
        [(A, TRACE)] * 4,
    ],
)
def test_what_is_no_repeated_error_gives_nothing(said: list[tuple[Any, str]]) -> None:
    assert repeated_errors([talk(*said)]) == []


def test_of_several_things_done_none_is_said_to_have_fixed_it() -> None:
    broken = ((C, "python build.py"), (F, TRACE))
    mended = (
        (C, "pip install pyyaml"),
        (C, "touch yaml.py"),
        (C, "python build.py"),
        (R, "built"),
    )
    (found,) = repeated_errors([talk(*broken), talk(*broken, *mended, session="s2")])
    assert found.fix is None


def test_looking_around_is_not_what_fixed_it() -> None:
    broken = ((C, "python build.py"), (F, TRACE))
    mended = (
        (C, "cat build.py"),
        (C, "pip install pyyaml"),
        (C, "git status"),
        (C, "python build.py"),
        (R, "built"),
    )
    (found,) = repeated_errors([talk(*broken), talk(*broken, *mended, session="s2")])
    assert found.fix is not None
    assert found.fix.quote == "pip install pyyaml"


def test_a_long_sentence_is_no_claim() -> None:
    assert wish_in("Remember that " + "we deploy " * 40) is None


def test_an_ordinary_conversation_gives_nothing() -> None:
    said = [
        (U, "Why does the login test fail?"),
        (C, "pytest tests/test_login.py"),
        (F, "AssertionError: assert 401 == 200"),
        (A, "The token expires. Remember that tokens live an hour; use a fresh one instead."),
        (U, "ok, use a fixture"),
        (C, "tests/conftest.py"),
        (R, "ok"),
        (A, "Done: I use a fixture rather than a constant."),
        (U, "thanks, commit it"),
    ]
    mined = mine([talk(*said)])
    assert mined == Mined((), ())


@pytest.mark.parametrize("text", [" " * 7900 + "x", "<a\n" * 2600, "no, " * 1900 + "use a"])
def test_a_hostile_prompt_costs_little(text: str) -> None:
    start = time.process_time()
    mine([talk((U, text), (F, text))])
    assert time.process_time() - start < 0.5
