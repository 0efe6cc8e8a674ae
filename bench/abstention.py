"""Abstention: does search say "nothing" where nothing answers, and only there?

    python bench/abstention.py [--cache DIR] [--keep DIR] [--seed N] [--list]

A store of generated facts about the places, machines and people of a harbour town. Each thing has
some of the attributes of its kind, and each attribute is said in one way and asked for in another.

- *true*: 200 questions whose fact is there.
- *near miss*: an attribute that the thing has not, though its like have.
- *off topic*: a question about something else that shares a word with some fact.
- *nonsense*: invented words around a word of some fact.

The last three are 200 together, a third each. Reported is the share that gets no answer, by words
alone and with each model that has been added.
"""

from __future__ import annotations

import argparse
import contextlib
import html
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memhtml.index.database import open_index
from memhtml.index.embed import embed
from memhtml.index.indexer import update
from memhtml.model.errors import ModelUnavailable
from memhtml.providers.encoders.load import dense_encoder, query_table, sparse_encoder
from memhtml.providers.models import cache_home
from memhtml.search.arms.dense import DenseQuestions
from memhtml.search.search import Means, search
from memhtml.store.repo import Repo

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from memhtml.index.database import Index

NOW = "2026-01-01T00:00:00Z"
QUESTIONS = 200


class Attribute(NamedTuple):
    """Something that can be said of a kind of thing."""

    fact: str
    questions: tuple[str, ...]
    values: tuple[str, ...]


_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_PEOPLE = ("Ada", "Bruno", "Celia", "Dario", "Edda", "Farid", "Greta", "Hamid", "Iris", "Jonas")

KINDS: dict[str, dict[str, Attribute]] = {
    "place": {
        "opens": Attribute(
            "{} opens at {}.",
            ("When does {} open?", "What time is {} opened?", "opening hours of {}"),
            ("06:30", "07:15", "08:00", "09:45"),
        ),
        "keys": Attribute(
            "The keys of {} hang in {}.",
            ("Where are the keys of {}?", "Where do I find the keys for {}?"),
            ("the porter's lodge", "the red cabinet", "room 12"),
        ),
        "cleaned": Attribute(
            "{} is cleaned every {}.",
            ("On which day is {} cleaned?", "When do we clean {}?", "cleaning day of {}"),
            _DAYS,
        ),
        "roof": Attribute(
            "The roof of {} was repaired in {}.",
            ("When was the roof of {} repaired?", "In which year did they repair the roof of {}?"),
            ("2019", "2021", "2024"),
        ),
        "rent": Attribute(
            "The rent for {} is {} euros a month.",
            ("How much is the rent for {}?", "What rent do we pay for {}?"),
            ("900", "1250", "2100"),
        ),
        "alarm": Attribute(
            "The alarm code of {} is changed by {}.",
            ("Who changes the alarm code of {}?", "Who is changing the alarm code for {}?"),
            _PEOPLE,
        ),
    },
    "machine": {
        "oil": Attribute(
            "{} takes {} litres of oil.",
            ("How much oil does {} take?", "How many litres of oil go into {}?"),
            ("4", "7", "12"),
        ),
        "serviced": Attribute(
            "{} is serviced by {}.",
            ("Who services {}?", "Who does the servicing of {}?", "service of {}"),
            _PEOPLE,
        ),
        "load": Attribute(
            "{} lifts a load of at most {} tons.",
            ("What load can {} lift?", "How many tons does {} lift?"),
            ("3", "8", "20"),
        ),
        "noise": Attribute(
            "{} is too noisy to run after {}.",
            (
                "Until when may {} run, given how noisy it is?",
                "Why is {} not run after the evening?",
            ),
            ("20:00", "21:00", "22:00"),
        ),
        "manual": Attribute(
            "The manual of {} is kept on {}.",
            ("Where is the manual of {} kept?", "Where do we keep the manual for {}?"),
            ("the shelf in the office", "the blue drive", "the workbench"),
        ),
        "insurance": Attribute(
            "The insurance of {} ends in {}.",
            ("When does the insurance of {} end?", "What is the end of the insurance for {}?"),
            ("March", "June", "October"),
        ),
    },
    "person": {
        "allergy": Attribute(
            "{} is allergic to {}.",
            ("What is {} allergic to?", "allergies of {}"),
            ("nuts", "pollen", "shellfish", "cats"),
        ),
        "bicycle": Attribute(
            "{} comes to work on a {} bicycle.",
            ("What colour is the bicycle of {}?", "Which bicycle does {} come to work on?"),
            ("green", "yellow", "black"),
        ),
        "desk": Attribute(
            "{} sits at the desk near {}.",
            ("Where does {} sit?", "At which desk is {} sitting?"),
            ("the window", "the printer", "the stairs"),
        ),
        "language": Attribute(
            "{} speaks {} with the suppliers.",
            (
                "Which language does {} speak with suppliers?",
                "What does {} speak to the suppliers?",
            ),
            ("Portuguese", "Polish", "Danish"),
        ),
        "holiday": Attribute(
            "{} is on holiday in {}.",
            ("When is {} on holiday?", "In which month does {} go on holiday?"),
            ("May", "July", "September"),
        ),
        "coffee": Attribute(
            "{} drinks coffee with {}.",
            ("How does {} drink coffee?", "What does {} take in the coffee they drink?"),
            ("oat milk", "two sugars", "nothing in it"),
        ),
    },
}

_FRONTS = (
    "north south east west upper lower old new inner outer long short amber copper granite".split()
)
NAMES = {
    "place": [f"the {f} {n}" for f in _FRONTS for n in ("gate", "pier", "hall", "depot", "kiln")],
    "machine": [f"the {f} {n}" for f in _FRONTS for n in ("crane", "pump", "lathe", "winch")],
    "person": [
        f"{first} {last}"
        for first in ("Mara", "Nils", "Olga", "Pavel", "Quim", "Rosa", "Sven", "Tilda", "Udo")
        for last in ("Ahlers", "Brandt", "Costa", "Dimov", "Engel", "Falk")
    ],
}
ATTRIBUTES_EACH = 3

OFF_TOPIC = (
    "How do I paint a {} with watercolours for beginners",
    "Which {} won the championship in baseball last season",
    "Write a poem about a {} and the moon",
    "What is the capital of the country that invented the {}",
    "Is there a vegetarian recipe for lasagne like the one at {}",
    "How far is the nearest galaxy from the {}",
    "Translate {} into ancient Greek for my homework",
    "Which dinosaur had a {} on its tail",
    "Should I buy shares of a company named {} before the election",
    "What did the emperor say about {} in his diary",
    "Explain quantum entanglement as if I were a {}",
    "Why do violins made of {} sound warmer than trumpets",
)
_SYLLABLES = "zor blu quax fim tro nep gly vush kra dwo plim snar".split()


def main() -> None:
    options = _options()
    rng = random.Random(options.seed)
    facts, missing = make_facts(rng)
    asked = make_questions(rng, facts, missing)
    with tempfile.TemporaryDirectory() as folder:
        root = options.keep or Path(folder)
        index = build(root, [fact for fact, _ in facts], options.cache)
        print(f"{len(facts)} facts; share without an answer")
        print(f"{'':16}" + "".join(f"{kind:>12}" for kind in asked) + f"{'none wanted':>14}")
        for name, means in means_of(options.cache).items():
            empty = {
                kind: [q for q in questions if not search(index, q, means=means).hits]
                for kind, questions in asked.items()
            }
            wanted = sum(len(v) for kind, v in asked.items() if kind != "true")
            given = sum(len(v) for kind, v in empty.items() if kind != "true")
            shares = [len(empty[kind]) / len(asked[kind]) for kind in asked]
            print(f"{name:16}" + "".join(f"{share:12.3f}" for share in shares), end="")
            print(f"{given / wanted:14.3f}")
            if options.list:
                for question in empty["true"]:
                    print("  wrongly empty:", question)
                for kind in asked:
                    if kind != "true":
                        for question in sorted(set(asked[kind]) - set(empty[kind])):
                            print(f"  {kind} answered:", question)


def means_of(cache: Path) -> dict[str, Means]:
    found = {"words": Means()}
    try:
        found["words + sparse"] = Means(queries=query_table("splade-tiny", cache))
    except ModelUnavailable as error:
        print(error, file=sys.stderr)
    with contextlib.suppress(ModelUnavailable):
        dense = DenseQuestions(dense_encoder("minilm", cache))
        found["words + dense"] = Means(dense=dense)
        if "words + sparse" in found:
            found["words + sparse + dense"] = found["words + sparse"]._replace(dense=dense)
    return found


def make_facts(rng: random.Random) -> tuple[list[tuple[str, str]], list[str]]:
    """Return facts, each with a question that it answers, and questions that no fact answers."""
    facts, missing = [], []
    for kind, names in NAMES.items():
        for name in names:
            attributes = list(KINDS[kind].values())
            rng.shuffle(attributes)
            for attribute in attributes[:ATTRIBUTES_EACH]:
                fact = attribute.fact.format(name, rng.choice(attribute.values))
                question = rng.choice(attribute.questions).format(name)
                facts.append((fact[0].upper() + fact[1:], question))
            absent = attributes[ATTRIBUTES_EACH:]
            missing += [rng.choice(attribute.questions).format(name) for attribute in absent]
    return facts, missing


def make_questions(
    rng: random.Random, facts: Sequence[tuple[str, str]], missing: Sequence[str]
) -> Mapping[str, Sequence[str]]:
    words = [word for names in NAMES.values() for name in names for word in name.split()[-1:]]
    third = QUESTIONS // 3
    return {
        "true": [question for _, question in rng.sample(list(facts), QUESTIONS)],
        "near miss": rng.sample(list(missing), third),
        "off topic": [
            OFF_TOPIC[number % len(OFF_TOPIC)].format(rng.choice(words)) for number in range(third)
        ],
        "nonsense": [
            " ".join(shuffled(rng, [rng.choice(words), *invented(rng)]))
            for _ in range(QUESTIONS - 2 * third)
        ],
    }


def invented(rng: random.Random) -> Iterator[str]:
    for _ in range(rng.randint(2, 4)):
        yield "".join(rng.choices(_SYLLABLES, k=rng.randint(2, 3)))


def shuffled(rng: random.Random, words: list[str]) -> list[str]:
    rng.shuffle(words)
    return words


def build(root: Path, facts: Sequence[str], cache: Path) -> Index:
    if not (root / ".git").exists():
        for number, fact in enumerate(facts):
            path = root / f"areas/town/{number:04}.html"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(page(fact), encoding="utf-8")
        for command in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-qm", "facts")):
            who = ("-c", "user.name=Bench", "-c", "user.email=bench@example.org")
            subprocess.run(("git", "-C", str(root), *who, *command), check=True)
    index = open_index(str(root))
    with Repo.open(str(root)) as repo:
        update(index, repo, now=NOW)
    try:
        embed(index, sparse_encoder("splade-tiny", cache))
    except ModelUnavailable as error:
        print(error, file=sys.stderr)
    with contextlib.suppress(ModelUnavailable):
        embed(index, dense_encoder("minilm", cache))
    return index


def page(fact: str) -> str:
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{html.escape(fact.rstrip("."))}</title>
<meta name="memhtml-type" content="semantic">
<meta name="memhtml-status" content="active">
<meta name="memhtml-created" content="{NOW}">
<meta name="memhtml-updated" content="{NOW}">
</head>
<body>
<article>
<p><mark>{html.escape(fact)}</mark></p>
</article>
</body>
</html>
"""


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--cache", type=Path, default=cache_home(os.environ, sys.platform))
    parser.add_argument("--keep", type=Path, help="where the store stays for the next run")
    parser.add_argument("--seed", type=int, default=11, help="another draw of facts and questions")
    parser.add_argument("--list", action="store_true", help="name each question gone wrong")
    return parser.parse_args()


if __name__ == "__main__":
    main()
