"""The article and its claim (seed §5, constraints 1 and 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.format.checks.finding import Absent, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memhtml.format.extract import Facts, Node
    from memhtml.format.tree import Tree

__all__ = ["check_article"]


def check_article(tree: Tree, facts: Facts) -> Iterator[Finding]:
    """One article; in it one claim, in words, in front, and neither a caveat nor folded away.

    The rules about the claim make sense only where there is exactly one of each.
    """
    articles, marks = facts.articles, facts.marks
    if len(articles) != 1:
        place = articles[1] if articles else Absent.IN_BODY
        yield Finding("article-count", place, {"count": len(articles)})
    elif not marks:
        yield Finding("mark-missing", articles[0], {})
    elif len(marks) > 1:
        yield Finding("mark-count", marks[1], {"count": len(marks)})
    else:
        yield from _check_mark(tree, facts, marks[0])


def _check_mark(tree: Tree, facts: Facts, mark: Node) -> Iterator[Finding]:
    if not facts.gist:
        yield Finding("mark-empty", mark, {})
    if facts.mark_in_aside:
        yield Finding("mark-in-aside", mark, {})
    if facts.mark_in_details:
        yield Finding("mark-in-details", mark, {})
    if facts.mark_in_aside or facts.mark_in_details:
        return
    if facts.block is None:
        yield Finding("mark-no-block", mark, {})
        return
    name, block = facts.block
    if not tree.is_inside(mark, block):
        yield Finding("mark-not-first", mark, {"block": name})
