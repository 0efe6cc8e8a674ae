from __future__ import annotations

import subprocess
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from memhtml.corpus import Corpus
from memhtml.format.edit import AddMeta, SetMeta, apply_edits
from memhtml.format.parse import parse
from memhtml.format.usage import USAGE_PATH
from memhtml.model.changes import Correction
from memhtml.model.errors import (
    DirtyTree,
    InvalidFlag,
    RemoteFailure,
    RepositoryState,
)
from memhtml.model.history import SyncConflict, Synced, SyncState
from memhtml.model.memory import Draft
from memhtml.model.vocabulary import MemoryType, Rel
from memhtml.publish import publish
from memhtml.store.git import Git
from memhtml.store.gitdir import locate
from memhtml.store.mergedriver import register
from memhtml.store.sync import SyncOptions
from tests.store.sandbox import Sandbox

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

GATE = "areas/inbox/gate-hours.html"
OLD = f"archive/2026/{GATE}"


class Clone:
    """One of two clones of a bare repository."""

    def __init__(self, root: Path) -> None:
        self.box = Sandbox(root)
        self.now = datetime(2026, 11, 30, 12, tzinfo=UTC)

    def clock(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now

    def open(self) -> Corpus:
        return Corpus.open(self.box.root, clock=self.clock, durability="none")

    def write(self, claim: str, title: str = "Gate hours", session: str | None = None) -> str:
        draft = Draft(title=title, memory_type=MemoryType.SEMANTIC, claim=claim, session_id=session)
        with self.open() as corpus:
            return corpus.write(draft).path

    def sync(self, options: SyncOptions | None = None, *, publishing: bool = False) -> Synced:
        with self.open() as corpus:
            return corpus.sync(
                options, on_pulled=(lambda: publish(corpus)) if publishing else lambda: None
            )

    def edit(self, path: str, edit: Callable[[bytes], bytes], message: str = "by hand") -> None:
        place = self.box.root / path
        place.write_bytes(edit(place.read_bytes()))
        self.box.git("add", "--", path)
        self.box.git("commit", "-q", "-m", message)

    def tag(self, path: str, tag: str) -> None:
        self.edit(path, lambda data: apply_edits(data, (AddMeta("memhtml-tag", tag),)))

    def say(self, path: str, before: str, after: str) -> None:
        self.edit(path, lambda data: data.replace(before.encode(), after.encode()))

    def read(self, path: str) -> str:
        return (self.box.root / path).read_text()

    def tags(self, path: str) -> tuple[str, ...]:
        with self.open() as corpus:
            return corpus.read(path).document.head.tags

    @property
    def head(self) -> str:
        return self.box.git("rev-parse", "HEAD").strip()


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(tmp_path / "hub")], check=True)
    return tmp_path / "hub"


@pytest.fixture
def pair(tmp_path: Path, remote: Path) -> tuple[Clone, Clone]:
    """Return two clones that have one memory and are in step."""
    Corpus.init(tmp_path / "ada")
    ada = Clone(tmp_path / "ada")
    ada.box.git("remote", "add", "origin", str(remote))
    ada.write("The gate opens at 06:30.")
    assert ada.sync().state is SyncState.AHEAD
    subprocess.run(["git", "clone", "-q", str(remote), str(tmp_path / "bob")], check=True)
    return ada, Clone(tmp_path / "bob")


def together(one: Clone, other: Clone) -> Synced:
    """Push what *one* has, sync *other*, and bring *one* in step; return what *other* did."""
    assert one.sync().pushed
    done = other.sync()
    one.sync()
    assert done.state is SyncState.MERGED, done
    assert one.head == other.head
    for clone in (one, other):
        clone.box.assert_sound()
    return done


def test_a_store_without_a_remote_says_so(tmp_path: Path) -> None:
    Corpus.init(tmp_path / "alone")
    alone = Clone(tmp_path / "alone")
    assert alone.sync() == Synced(
        state=SyncState.NO_REMOTE, branch="main", before=alone.head, after=alone.head
    )


def test_each_plain_state_is_told_and_done(pair: tuple[Clone, Clone], remote: Path) -> None:
    ada, bob = pair
    assert ada.sync().state is SyncState.UP_TO_DATE
    ada.write("The barn is dry.", "Barn")
    ada.write("The owls are grey.", "Owls")
    done = ada.sync()
    assert (done.state, done.ahead, done.behind, done.pushed) == (SyncState.AHEAD, 2, 0, True)
    done = bob.sync()
    assert (done.state, done.ahead, done.behind, done.pushed) == (SyncState.BEHIND, 0, 2, False)
    assert bob.head == ada.head == done.after
    with bob.open() as corpus:
        assert [hit.path for hit in corpus.search("owls").hits] == ["areas/inbox/owls.html"]
    bob.box.assert_sound()
    head = subprocess.run(
        ["git", "-C", str(remote), "rev-parse", "main"], capture_output=True, text=True, check=True
    )
    assert head.stdout.strip() == ada.head


def test_different_memories_of_both_sides_are_merged_and_pushed(pair: tuple[Clone, Clone]) -> None:
    ada, bob = pair
    ada.write("The barn is dry.", "Barn")
    bob.write("The owls are grey.", "Owls")
    done = together(ada, bob)
    assert (done.ahead, done.behind, done.pushed, done.merged) == (1, 1, True, ())
    subject = "memhtml(sync): 1 file from origin/main\n"
    assert bob.box.git("log", "-1", "--format=%s%n%an %P").startswith(subject)
    assert len(bob.box.git("log", "-1", "--format=%P").split()) == 2
    assert {"areas/inbox/barn.html", "areas/inbox/owls.html"} <= bob.box.files().keys()


def test_tags_of_both_sides_are_there(pair: tuple[Clone, Clone]) -> None:
    ada, bob = pair
    ada.tag(GATE, "mine")
    bob.tag(GATE, "theirs")
    assert together(ada, bob).merged == (GATE,)
    assert ada.tags(GATE) == ("theirs", "mine")


def test_two_claims_are_a_conflict_and_nothing_has_changed(pair: tuple[Clone, Clone]) -> None:
    ada, bob = pair
    ada.say(GATE, "06:30", "07:00")
    ada.sync()
    bob.say(GATE, "06:30", "08:00")
    bob.write("The owls are grey.", "Owls")
    before = bob.head
    theirs = ada.box.git("rev-parse", f"HEAD:{GATE}").strip()
    ours = bob.box.git("rev-parse", f"HEAD:{GATE}").strip()
    done = bob.sync()
    assert done.state is SyncState.CONFLICT
    assert done.conflicts == (SyncConflict(GATE, ours, theirs, "both sides changed the article"),)
    assert (bob.head, done.pushed, done.is_merge_open) == (before, False, False)
    bob.box.assert_sound()


def test_a_conflict_can_be_left_open_for_a_person_and_finished(pair: tuple[Clone, Clone]) -> None:
    ada, bob = pair
    ada.say(GATE, "06:30", "07:00")
    ada.tag(GATE, "mine")
    ada.sync()
    bob.say(GATE, "06:30", "08:00")
    bob.tag(GATE, "theirs")
    assert bob.sync(SyncOptions(keep_conflicts=True)).is_merge_open
    marked = bob.read(GATE)
    assert "<<<<<<< ours\n<p><mark>The gate opens at 08:00.</mark></p>\n=======\n" in marked
    assert marked.count("<<<<<<<") == 1
    assert "conflict-markers" in [d.code for d in parse(marked.encode()).warnings]
    assert 'content="mine"' in marked
    assert 'content="theirs"' in marked
    with pytest.raises(RepositoryState, match="a merge is under way"):
        bob.sync()
    chosen = [
        line for line in marked.split("\n") if line[:7] not in ("<<<<<<<", "=======", ">>>>>>>")
    ]
    text = "\n".join(line for line in chosen if "07:00" not in line)
    (bob.box.root / GATE).write_text(text)
    bob.box.git("commit", "-q", "-a", "-m", "08:00 it is")
    done = bob.sync()
    assert (done.state, done.pushed) == (SyncState.AHEAD, True)
    assert ada.sync().state is SyncState.BEHIND
    assert "08:00" in ada.read(GATE)


@pytest.mark.parametrize("archiver_first", [True, False])
def test_an_edit_follows_an_archiving_on_the_other_side(
    pair: tuple[Clone, Clone], *, archiver_first: bool
) -> None:
    ada, bob = pair
    with ada.open() as corpus:
        corpus.archive(GATE, reason="torn down")
    bob.say(GATE, "06:30", "07:00")
    bob.tag(GATE, "theirs")
    done = together(ada, bob) if archiver_first else together(bob, ada)
    assert done.merged == (OLD,)
    files = ada.box.files()
    assert GATE not in files
    assert "07:00" in files[OLD]
    with ada.open() as corpus:
        head = corpus.read(OLD).document.head
        assert (head.status, head.tags) == ("archived", ("theirs",))
        summaries = [version.summary for version in corpus.history(OLD)]
    assert summaries.count("by hand") == 2
    assert f"{GATE} — torn down" in summaries


def test_a_correction_and_another_claim_are_a_conflict(pair: tuple[Clone, Clone]) -> None:
    ada, bob = pair
    with ada.open() as corpus:
        corpus.correct(Correction(target=GATE, title="When", claim="The gate opens at 07:00."))
    ada.sync()
    bob.say(GATE, "06:30", "08:00")
    (conflict,) = bob.sync().conflicts
    assert conflict.path == OLD
    assert conflict.reason.startswith("corrected on one side")


def test_a_correction_and_a_tag_are_none(pair: tuple[Clone, Clone]) -> None:
    ada, bob = pair
    with ada.open() as corpus:
        corpus.correct(Correction(target=GATE, title="When", claim="The gate opens at 07:00."))
    bob.tag(GATE, "theirs")
    together(ada, bob)
    assert bob.tags(OLD) == ("theirs",)


@pytest.mark.parametrize("title", ["Gate hours", "Other hours"])
def test_two_corrections_of_one_memory_are_a_conflict(
    pair: tuple[Clone, Clone], title: str
) -> None:
    ada, bob = pair
    for clone, hour in ((ada, "07:00"), (bob, "08:00")):
        name = title if clone is bob else "Gate hours"
        with clone.open() as corpus:
            corpus.correct(Correction(target=GATE, title=name, claim=f"The gate opens at {hour}."))
    ada.sync()
    done = bob.sync()
    assert done.state is SyncState.CONFLICT
    bob.box.assert_sound()


def test_both_sides_archived_one_memory(pair: tuple[Clone, Clone]) -> None:
    ada, bob = pair
    for clone in pair:
        with clone.open() as corpus:
            corpus.archive(GATE, reason="torn down")
    bob.tag(OLD, "theirs")
    together(ada, bob)
    assert [path for path in bob.box.files() if "gate-hours" in path] == [OLD]


def test_both_sides_archived_one_memory_in_different_years(pair: tuple[Clone, Clone]) -> None:
    ada, bob = pair
    bob.now = datetime(2027, 1, 1, tzinfo=UTC)
    for clone in pair:
        with clone.open() as corpus:
            corpus.archive(GATE, reason="torn down")
    bob.tag(f"archive/2027/{GATE}", "theirs")
    together(ada, bob)
    assert [path for path in bob.box.files() if "gate-hours" in path] == [OLD]
    assert bob.tags(OLD) == ("theirs",)


def test_what_one_side_removed_and_the_other_changed_is_a_conflict(
    pair: tuple[Clone, Clone],
) -> None:
    ada, bob = pair
    ada.box.git("rm", "-q", GATE)
    ada.box.git("commit", "-q", "-m", "away")
    ada.sync()
    bob.tag(GATE, "theirs")
    (conflict,) = bob.sync().conflicts
    assert (conflict.path, conflict.theirs) == (GATE, "")
    bob.box.git("reset", "-q", "--hard", "HEAD~1")
    with bob.open() as corpus:
        corpus.archive(GATE, reason="torn down")
    (conflict,) = bob.sync().conflicts
    assert (conflict.path, conflict.theirs) == (OLD, "")


def test_two_facts_at_one_path_are_a_conflict_and_one_fact_written_twice_is_not(
    pair: tuple[Clone, Clone],
) -> None:
    ada, bob = pair
    ada.write("The barn is dry.", "Barn", session="one")
    bob.write("The barn is dry.", "Barn", session="two")
    together(ada, bob)
    ada.write("The owls are grey.", "Owls")
    bob.write("The owls are brown.", "Owls")
    ada.sync()
    assert [c.path for c in bob.sync().conflicts] == ["areas/inbox/owls.html"]


def test_usage_of_both_sides_is_merged(pair: tuple[Clone, Clone]) -> None:
    """State weakness 17: the sidecar no longer conflicts between machines."""
    ada, bob = pair
    for clone, count in ((ada, 3), (bob, 5)):
        row = f'{{"path":"{GATE}","accessCount":{count}}}\n{{"path":"x{count}","accessCount":1}}\n'
        clone.box.write(USAGE_PATH, row)
        clone.box.git("add", USAGE_PATH)
        clone.box.git("commit", "-q", "-m", "state")
    together(ada, bob)
    assert ada.read(USAGE_PATH) == (
        f'{{"path":"{GATE}","accessCount":5}}\n'
        '{"path":"x3","accessCount":1}\n{"path":"x5","accessCount":1}\n'
    )


def test_generated_pages_never_conflict_and_are_made_anew_before_the_push(
    pair: tuple[Clone, Clone],
) -> None:
    ada, bob = pair
    for clone, title in ((ada, "Barn"), (bob, "Owls")):
        clone.write(f"{title} are here.", title)
        with clone.open() as corpus:
            publish(corpus)
    ada.sync()
    done = bob.sync(publishing=True)
    assert done.state is SyncState.MERGED
    page = bob.box.files()["areas/inbox/index.html"]
    assert "barn.html" in page
    assert "owls.html" in page
    assert bob.box.git("rev-parse", "origin/main").strip() == bob.head == done.after
    ada.sync(publishing=True)
    assert ada.head == bob.head


def test_a_plain_text_is_merged_by_lines(pair: tuple[Clone, Clone]) -> None:
    ada, bob = pair
    ada.box.write("notes.txt", "".join(f"{n}\n" for n in range(9)))
    ada.box.git("add", "-A")
    ada.box.git("commit", "-q", "-m", "notes")
    ada.sync()
    bob.sync()
    ada.say("notes.txt", "1\n", "one\n")
    bob.say("notes.txt", "7\n", "seven\n")
    assert together(ada, bob).merged == ("notes.txt",)
    assert ada.read("notes.txt") == "0\none\n2\n3\n4\n5\n6\nseven\n8\n"
    ada.say("notes.txt", "4", "four")
    bob.say("notes.txt", "4", "vier")
    ada.sync()
    assert [c.reason for c in bob.sync().conflicts] == ["both sides changed the text"]


def test_modes_and_symlinks_come_over(pair: tuple[Clone, Clone]) -> None:
    ada, bob = pair
    tool = ada.box.write("tool.sh", "echo\n")
    tool.chmod(0o755)
    (ada.box.root / "here").symlink_to("areas")
    ada.box.git("add", "-A")
    ada.box.git("commit", "-q", "-m", "tools")
    bob.write("The owls are grey.", "Owls")
    together(ada, bob)
    modes = bob.box.git("ls-tree", "HEAD", "tool.sh", "here")
    assert sorted(line.split()[0] for line in modes.splitlines()) == ["100755", "120000"]


def test_edits_that_are_not_committed_stay_and_block_only_what_they_touch(
    pair: tuple[Clone, Clone],
) -> None:
    ada, bob = pair
    ada.tag(GATE, "mine")
    ada.sync()
    bob.write("The owls are grey.", "Owls")
    bob.box.write("draft.txt", "mine\n")
    bob.box.write("staged.txt", "mine\n")
    bob.box.git("add", "staged.txt")
    place = bob.box.root / GATE
    committed = place.read_bytes()
    place.write_bytes(committed + b"<!-- draft -->\n")
    before = bob.head
    with pytest.raises(DirtyTree) as refused:
        bob.sync()
    assert (refused.value.paths, bob.head) == ((GATE,), before)
    place.write_bytes(committed)
    assert bob.sync().state is SyncState.MERGED
    assert bob.box.status == "A  staged.txt\n?? draft.txt\n"


def test_an_untracked_file_in_the_way_is_never_overwritten(pair: tuple[Clone, Clone]) -> None:
    ada, bob = pair
    path = ada.write("The barn is dry.", "Barn")
    ada.sync()
    bob.box.write(path, "mine\n")
    with pytest.raises(DirtyTree):
        bob.sync()
    assert bob.read(path) == "mine\n"


def test_a_push_that_came_second_is_tried_once_more(
    pair: tuple[Clone, Clone], monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, bob = pair
    ada.write("The barn is dry.", "Barn")
    bob.write("The owls are grey.", "Owls")
    push = Git.push
    tries: list[str] = []

    def late(self: Git, remote: str, commit: str, branch: str) -> bool:
        if not tries:
            ada.box.git("push", "-q", "origin", "main")
        tries.append(commit)
        return push(self, remote, commit, branch)

    monkeypatch.setattr(Git, "push", late)
    done = bob.sync()
    assert (done.state, done.pushed, len(tries)) == (SyncState.MERGED, True, 2)
    assert ada.sync().after == bob.head


def test_a_remote_that_cannot_be_reached_or_refuses_is_a_typed_error(
    pair: tuple[Clone, Clone], remote: Path
) -> None:
    ada, _ = pair
    ada.write("The barn is dry.", "Barn")
    hook = remote / "hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho not today >&2\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(RemoteFailure, match="pre-receive hook declined"):
        ada.sync()
    remote.rename(remote.with_name("gone"))
    with pytest.raises(RemoteFailure, match="does not appear to be a git repository"):
        ada.sync()
    ada.box.git("remote", "set-url", "origin", "https://127.0.0.1:9/x")
    with pytest.raises(RemoteFailure):
        ada.sync()
    ada.box.assert_sound()


def test_which_remote_is_meant_has_to_be_clear(pair: tuple[Clone, Clone], remote: Path) -> None:
    ada, _ = pair
    with pytest.raises(InvalidFlag, match="no remote 'hub'"):
        ada.sync(SyncOptions(remote="hub"))
    ada.box.git("remote", "rename", "origin", "one")
    assert ada.sync().remote == "one"
    ada.box.git("remote", "add", "two", str(remote))
    with pytest.raises(InvalidFlag, match="several remotes: one, two"):
        ada.sync()
    ada.box.git("branch", "--set-upstream-to", "two/main", check=False)
    ada.box.git("config", "branch.main.remote", "two")
    ada.box.git("config", "branch.main.merge", "refs/heads/trunk")
    done = ada.sync()
    assert (done.remote, done.branch, done.pushed) == ("two", "trunk", True)


def test_what_cannot_be_synced_says_why(pair: tuple[Clone, Clone]) -> None:
    ada, bob = pair
    ada.box.git("switch", "-q", "--detach")
    with pytest.raises(RepositoryState, match="detached"):
        ada.sync()
    bob.write("The owls are grey.", "Owls")
    bob.box.git("checkout", "-q", "--orphan", "apart")
    bob.box.git("commit", "-q", "-m", "apart")
    bob.box.git("branch", "-q", "-M", "apart", "main")
    with pytest.raises(RepositoryState, match="no common commit"):
        bob.sync()
    bob.box.assert_sound()


def test_two_stores_made_apart_can_be_joined(tmp_path: Path, remote: Path) -> None:
    clones: list[Clone] = []
    for name in ("ada", "bob"):
        Corpus.init(tmp_path / name, clock=lambda: datetime(2026, len(clones) + 1, 1, tzinfo=UTC))
        clone = Clone(tmp_path / name)
        clone.box.git("remote", "add", "origin", str(remote))
        clone.write(f"{name} was here.", name)
        clones.append(clone)
    ada, bob = clones
    assert ada.sync().pushed
    done = bob.sync(SyncOptions(allow_unrelated=True))
    assert (done.state, done.merged) == (SyncState.MERGED, ("README.html",))
    assert {"areas/inbox/ada.html", "areas/inbox/bob.html"} <= bob.box.files().keys()
    assert ada.sync().after == bob.head


def test_an_empty_repository_and_a_new_branch_take_what_there_is(
    pair: tuple[Clone, Clone], tmp_path: Path, remote: Path
) -> None:
    ada, _ = pair
    fresh = Clone(tmp_path / "fresh")
    fresh.box.git("remote", "add", "origin", str(remote))
    done = fresh.sync()
    assert (done.state, done.before, fresh.head) == (SyncState.BEHIND, None, ada.head)
    fresh.box.assert_sound()


def test_criss_cross_histories_never_lose_a_side(pair: tuple[Clone, Clone]) -> None:
    ada, bob = pair
    ada.tag(GATE, "a")
    bob.tag(GATE, "b")
    for clone, other in ((ada, bob), (bob, ada)):
        clone.box.git("fetch", "-q", str(other.box.root), "main:other")
        register(locate(str(clone.box.root)))
    for clone in pair:
        clone.box.git("merge", "-q", "other", "-m", "crossed")
    ada.tag(GATE, "c")
    bob.write("The owls are grey.", "Owls")
    together(ada, bob)
    assert set(bob.tags(GATE)) == {"a", "b", "c"}
    assert len(bob.box.git("merge-base", "--all", "HEAD^1", "HEAD^2").split()) == 2


def test_git_itself_merges_memories_with_the_driver(pair: tuple[Clone, Clone]) -> None:
    ada, bob = pair
    ada.tag(GATE, "mine")
    ada.sync()
    bob.sync(SyncOptions(push=False))
    bob.box.git("reset", "-q", "--hard", "HEAD~1")
    bob.edit(GATE, lambda data: apply_edits(data, (SetMeta("memhtml-tag", "theirs"),)))
    # What a store has lying about is never run.
    for name in ("memhtml.py", "json.py", "re.py"):
        bob.box.write(name, "raise SystemExit(3)\n")
    bob.box.git("pull", "-q", "--no-rebase", "--no-edit")
    bob.box.git("clean", "-q", "-f")
    assert bob.tags(GATE) == ("theirs", "mine")
    bob.box.assert_sound()


def test_links_of_both_sides_are_there(pair: tuple[Clone, Clone]) -> None:
    ada, bob = pair
    ada.write("The barn is dry.", "Barn")
    ada.sync()
    bob.sync()
    for clone, rel in ((ada, Rel.SUPPORTS), (bob, Rel.RELATES_TO)):
        with clone.open() as corpus:
            corpus.link(GATE, rel, "areas/inbox/barn.html")
    together(ada, bob)
    with bob.open() as corpus:
        links = corpus.read(GATE).document.links
    assert [link.rel for link in links] == [Rel.RELATES_TO.token, Rel.SUPPORTS.token]


def test_stores_on_two_branches_do_not_pass_each_other_by(tmp_path: Path) -> None:
    hub = tmp_path / "yr"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "master", str(hub)], check=True)
    Corpus.init(tmp_path / "ada")
    ada = Clone(tmp_path / "ada")
    ada.box.git("remote", "add", "origin", str(hub))
    ada.write("The gate opens at 06:30.")
    assert ada.sync().pushed
    subprocess.run(["git", "clone", "-q", str(hub), str(tmp_path / "bob")], check=True)
    bob = Clone(tmp_path / "bob")

    with pytest.raises(RepositoryState, match=r"'master'.*'main'") as unborn:
        bob.sync()
    # Two stores made in one second would begin with the same commit.
    Corpus.init(tmp_path / "bob", clock=lambda: datetime(2026, 1, 1, tzinfo=UTC))
    bob.write("The barn is dry.", "Barn")
    with pytest.raises(RepositoryState, match=r"'master'.*'main'") as apart:
        bob.sync()

    assert unborn.value.suggestions == ("git switch main",)
    refs = subprocess.run(
        ["git", "-C", str(hub), "for-each-ref", "--format=%(refname)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert refs.stdout.split() == ["refs/heads/main"]
    *renaming, syncing = apart.value.suggestions[0].split(" && ")
    for line in renaming:
        bob.box.git(*line.split()[1:])
    assert syncing == "memhtml sync --allow-unrelated"
    assert bob.sync(SyncOptions(allow_unrelated=True)).pushed
    ada.sync()
    assert ada.head == bob.head
