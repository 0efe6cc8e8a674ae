"""Short questions in other words: does search answer what only a model finds, and only that?

    python bench/everyday.py [--cache DIR]

Sixty claims of a household, each with questions that hardly share a word with it, as a person types
them: mostly one word or two. A store is a draw of some of the claims. *Right* are questions whose
claim is there and ranks first; *absent* those whose claim is not, though something near it may be;
*foreign* are about other things, though one may share a word with a claim. Reported for each draw:
how many of each are answered.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.abstention import build

from memhtml.providers.encoders.load import query_table
from memhtml.providers.models import cache_home
from memhtml.search.search import Means, search

if TYPE_CHECKING:
    from memhtml.index.database import Index

DRAWS = (22, 22, 22, 22, 12, 12, 40, 40)
"""How many claims each draw takes."""

CLAIMS = (
    (
        "The physician sees patients on Tuesday mornings.",
        ("doctor", "doctor appointment", "medical visit"),
    ),
    ("Our attorney is called Brigitte Sommer.", ("lawyer", "legal counsel", "name of our lawyer")),
    ("The automobile needs new tyres before winter.", ("car", "car maintenance", "vehicle wheels")),
    (
        "Grandmother's flat is on the third floor.",
        ("nana apartment", "grandma", "where does grandma live"),
    ),
    ("The canine must not eat chocolate.", ("dog", "dog food", "what is bad for the dog")),
    ("Rubbish is collected every second Thursday.", ("garbage", "trash day", "waste pickup")),
    ("The infant sleeps from noon until two.", ("baby", "baby nap", "when does the child nap")),
    ("Wages are paid on the last working day.", ("salary", "pay day", "when do I get my salary")),
    ("The spouse of Henrik is a carpenter.", ("wife", "Henrik's wife", "husband job")),
    (
        "We purchase coffee beans from the roastery in Lund.",
        ("buy", "espresso supplier", "where do we buy espresso"),
    ),
    ("The cellar floods after heavy rain.", ("basement", "basement water", "is the basement wet")),
    (
        "The motorbike is parked behind the bakery.",
        ("motorcycle", "motorcycle location", "where is the motorcycle"),
    ),
    (
        "Fridge temperature is set to four degrees.",
        ("refrigerator", "refrigerator cooling", "how cold is the refrigerator"),
    ),
    (
        "Our landlord wants the lease renewed by May.",
        ("rental contract", "tenancy agreement", "when must we extend the tenancy"),
    ),
    ("The kids learn swimming on Saturdays.", ("children", "children's sport", "pool lessons")),
    (
        "The plumber fixed the leaking tap in March.",
        ("faucet", "faucet repair", "who repaired the faucet"),
    ),
    ("Aunt Rosa makes jam from plums.", ("marmalade", "fruit preserves", "who makes marmalade")),
    ("The couch came from a flea market.", ("sofa", "sofa origin", "where did we get the sofa")),
    (
        "The dentist's number is on the noticeboard.",
        ("tooth", "teeth clinic phone", "toothache contact"),
    ),
    ("The film festival starts in October.", ("movie", "cinema event", "when can we watch movies")),
    ("Our holiday in Crete begins on July 9.", ("vacation", "summer trip", "when is our vacation")),
    (
        "The aeroplane to Oslo leaves at 7:05.",
        ("flight", "airplane departure", "when is the flight"),
    ),
    ("Jonas is ill and stays in bed this week.", ("sick", "sick leave", "who is sick")),
    (
        "The wifi password is written under the router.",
        ("internet", "internet access", "wireless key"),
    ),
    (
        "The lift in the tower is broken.",
        ("elevator", "elevator status", "is the elevator working"),
    ),
    ("The cat was vaccinated in April.", ("kitten shots", "pet immunization", "feline injection")),
    (
        "The insurer pays for broken windows.",
        ("insurance", "glass damage cover", "who covers damaged glass"),
    ),
    (
        "The lorry delivers timber at dawn.",
        ("truck", "wood shipment", "when does the truck bring wood"),
    ),
    ("The pupils wear blue uniforms.", ("students", "school clothes", "what do students wear")),
    (
        "Petrol is cheapest at the harbour station.",
        ("gasoline", "fuel price", "where is fuel cheap"),
    ),
    (
        "The stove must be cleaned with vinegar only.",
        ("oven", "oven care", "how do I wash the oven"),
    ),
    ("The police officer lives next door.", ("cop", "cop neighbour", "law enforcement")),
    (
        "The shop closes at eight in the evening.",
        ("store hours", "retail", "until when can I go to the store"),
    ),
    (
        "The garden gets watered by Emil in August.",
        ("lawn", "yard irrigation", "who looks after the plants"),
    ),
    (
        "The choir rehearses on Wednesdays in the chapel.",
        ("singing", "singers practice", "when do the singers practise"),
    ),
    (
        "The bill for electricity doubled this year.",
        ("power cost", "energy invoice", "how much is energy"),
    ),
    ("The blanket of the guest bed is wool.", ("bedding", "duvet material", "visitor sleeping")),
    ("The autumn fair sells used books.", ("fall market", "second-hand novels", "literature sale")),
    (
        "The footpath along the river is closed.",
        ("trail", "walking route", "can we hike by the stream"),
    ),
    ("My spectacles are at the optician.", ("glasses", "eyewear", "where are my glasses")),
    (
        "The chemist on Mill Lane sells aspirin.",
        ("pharmacy", "drugstore", "where can I get medicine"),
    ),
    ("The postman rings twice.", ("mail carrier", "mail", "letters delivery person")),
    (
        "The nursery charges 300 euros a month.",
        ("daycare", "kindergarten fee", "price of childcare"),
    ),
    ("The ship to Dover sails on Sundays.", ("ferry", "boat", "when does the boat leave")),
    ("Peter is frightened of spiders.", ("fear", "afraid", "what scares Peter")),
    (
        "The wedding of Clara takes place in the barn.",
        ("marriage", "bride ceremony", "where does she marry"),
    ),
    (
        "The cooker hood has a new filter.",
        ("kitchen exhaust", "extractor fan", "range ventilation"),
    ),
    ("Our accountant files the taxes in June.", ("bookkeeper", "IRS return", "fiscal declaration")),
    ("The mayor opens the new bridge on Friday.", ("politician", "city leader", "inauguration")),
    ("The bicycle has a puncture in the rear wheel.", ("bike", "flat tire", "cycling")),
    ("The mattress is too soft for Ida.", ("bed comfort", "bed", "sleeping surface")),
    (
        "The tenants complained about noise at night.",
        ("renters", "loud neighbours", "sound disturbance"),
    ),
    (
        "Lunch is served in the canteen at 12:30.",
        ("cafeteria", "midday meal", "when do we eat at noon"),
    ),
    ("The teacher gave Nora top marks in physics.", ("grades", "instructor", "science results")),
    (
        "The burglar alarm is switched off with the brass key.",
        ("security system", "intruder", "thief protection"),
    ),
    ("The piano was tuned last week.", ("musical instrument", "music", "keyboard tuning")),
    ("Snow blocks the pass until April.", ("winter road", "mountain weather", "ice")),
    ("The surgeon operates on knees only.", ("operation", "leg surgery", "joint specialist")),
    ("The newspaper is delivered before six.", ("press", "daily paper", "journal")),
    (
        "The manager approves holidays in the portal.",
        ("boss", "supervisor", "who signs off vacation"),
    ),
)

FOREIGN = (
    "quantum physics",
    "football",
    "volcano",
    "stock market",
    "dinosaur",
    "guitar chords",
    "blockchain",
    "astronaut",
    "chess opening",
    "sushi",
    "tax haven",
    "cancer",
    "divorce",
    "passport",
    "vehicle delivery time",
    "kubernetes",
    "beekeeping",
    "opera",
    "desert",
    "whale",
    "diamond",
    "election",
    "poetry",
    "yoga",
    "tornado",
    "camera lens",
    "bitcoin wallet",
    "skiing",
    "rabbit",
    "perfume",
    "how do I bake bread",
    "who won the cup",
    "population of Chile",
    "recipe for lasagne",
    "meaning of life",
    "train to Berlin",
    "hair salon",
    "phone charger",
    "printer ink",
    "birthday gift",
    "shoe size",
    "blood type",
    "library card",
    "gym membership",
    "bank account",
    "parking permit",
    "favourite colour",
    "haircut",
    "wine cellar temperature",
    "dress code",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--cache", type=Path, default=cache_home(os.environ, sys.platform))
    cache = parser.parse_args().cache
    means = Means(queries=query_table("splade-tiny", cache))
    print(f"{'draw':>4}{'claims':>8}{'right':>10}{'absent':>10}{'foreign':>10}")
    for draw, size in enumerate(DRAWS):
        pool = list(CLAIMS)
        random.Random(draw).shuffle(pool)
        with tempfile.TemporaryDirectory() as folder:
            index = build(Path(folder), [claim for claim, _ in pool[:size]], cache)

            def answer(question: str, *, abstain: bool = True, index: Index = index) -> str | None:
                hits = search(index, question, limit=1, means=means, abstain=abstain).hits
                return hits[0].gist if hits else None

            right = [
                answer(question) is not None
                for claim, questions in pool[:size]
                for question in questions
                if answer(question, abstain=False) == claim
            ]
            absent = [answer(q) is not None for _, questions in pool[size:] for q in questions]
            foreign = [answer(question) is not None for question in FOREIGN]
        told = (f"{sum(found)}/{len(found)}" for found in (right, absent, foreign))
        print(f"{draw:4}{size:8}" + "".join(f"{share:>10}" for share in told))


if __name__ == "__main__":
    main()
