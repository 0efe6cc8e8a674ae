"""A LangGraph graph that remembers from one run to the next, in a store of memories.

    pip install 'memhtml[langgraph]'
    python examples/langgraph_store.py

It needs no key and no network: the node is plain Python where yours would ask a model.
"""

from __future__ import annotations

import tempfile
from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.store.base import BaseStore  # noqa: TC002 - the graph reads the annotation

import memhtml
from memhtml.adapters.langgraph import MemhtmlStore

ADA = ("users", "ada")


class Turn(TypedDict):
    """One run of the graph."""

    said: str
    answer: str


def answer(turn: Turn, *, store: BaseStore) -> dict[str, str]:
    """Answer with what is remembered, and remember what was said."""
    known = store.search(ADA, query=turn["said"], limit=1)
    count = len(store.search(ADA, limit=1000))
    store.put(ADA, f"turn-{count}", {"text": turn["said"]})
    return {"answer": known[0].value["text"] if known else "I do not know yet."}


def main() -> None:
    """Run the graph twice on one store, then look at what is on disk."""
    with tempfile.TemporaryDirectory() as folder:
        memhtml.init(folder)
        with memhtml.open(folder) as corpus:
            graph = StateGraph(Turn)
            graph.add_node("answer", answer)
            graph.add_edge(START, "answer")
            graph.add_edge("answer", END)
            app = graph.compile(store=MemhtmlStore(corpus))
            for said in ("The kayak is red.", "What colour is the kayak?"):
                print(f"> {said}\n{app.invoke(Turn(said=said, answer=''))['answer']}")
            for memory in corpus:
                print(memory.document.claim)


if __name__ == "__main__":
    main()
