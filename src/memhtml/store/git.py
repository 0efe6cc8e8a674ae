"""Every git command line we run. Bytes in, bytes out; `plumbing` reads what comes back.

Only plumbing commands are used, with every option spelled out, because a user's configuration
changes what porcelain prints. The variables by which an outer git (a hook, an alias) points its
children at its own repository are taken from the environment, so a store is always the folder it
was opened at.
"""

from __future__ import annotations

import os
from _thread import RLock
from typing import TYPE_CHECKING

from memhtml.model.errors import GitFailure, RemoteFailure, StorageFailure
from memhtml.store import children, plumbing

if TYPE_CHECKING:
    from collections.abc import Container, Generator, Iterable, Iterator, Mapping

    from memhtml.model.errors import MemhtmlError
    from memhtml.model.tree import Change, TreeEntry, WorktreeChange
    from memhtml.store.plumbing import CommitEntry, Configuration, IndexEntry, LogEntry
    from memhtml.store.trees import Entry

__all__ = ["FALLBACK_EMAIL", "Git", "scrubbed"]

FALLBACK_EMAIL = "memhtml@localhost"
"""Address of commits where the user has configured none."""

_REDIRECTS = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_CEILING_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_DIR",
        "GIT_GLOB_PATHSPECS",
        "GIT_GRAFT_FILE",
        "GIT_ICASE_PATHSPECS",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_INDEX_VERSION",
        "GIT_LITERAL_PATHSPECS",
        "GIT_NAMESPACE",
        "GIT_NOGLOB_PATHSPECS",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_QUARANTINE_PATH",
        "GIT_REPLACE_REF_BASE",
        "GIT_SHALLOW_FILE",
        "GIT_WORK_TREE",
    }
)
_KINDS = frozenset({b"blob", b"tree", b"commit", b"tag"})
_OURS = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    # We read loose objects ourselves, and must see what git sees.
    "GIT_NO_REPLACE_OBJECTS": "1",
    "LC_ALL": "C",
}
# An empty askpass program is one that git does not run; the terminal is off for all commands.
_UNATTENDED = {"GIT_ASKPASS": "", "SSH_ASKPASS_REQUIRE": "never", "GCM_INTERACTIVE": "never"}
_CAME_FIRST = (b"[rejected]", b"cannot lock ref", b"failed to update ref")


def scrubbed(environ: Mapping[str, str]) -> dict[str, str]:
    """Return *environ* fit for a git child: no redirection, no prompt, no locale."""
    return {name: value for name, value in environ.items() if name not in _REDIRECTS} | _OURS


class Git:
    """The git program, run in one root."""

    def __init__(self, root: str) -> None:
        self._root = root
        self.environ = scrubbed(os.environ)
        """What children see: this process's environment, without redirections."""
        self._reader: children.Conversation | None = None
        self._reading = RLock()
        """Held while the reader is asked: a question and its answer belong together."""

    def close(self) -> None:
        """End the long-lived reader; the next read starts another."""
        with self._reading:
            reader, self._reader = self._reader, None
            if reader is not None:
                reader.close()

    # Reading

    def resolve(self, name: str) -> str | None:
        """Return the commit that *name* means, or None."""
        done = self._run("rev-parse", "--quiet", "--verify", f"{name}^{{commit}}", ok=(0, 1, 128))
        return done.stdout.decode("ascii").strip() or None if done.status == 0 else None

    def symbolic_head(self) -> str | None:
        """Return the branch HEAD stands on, in full; None when it is detached."""
        done = self._run("symbolic-ref", "--quiet", "HEAD", ok=(0, 1))
        return done.stdout.decode("utf-8", "surrogateescape").strip() or None

    def is_ancestor(self, older: str, newer: str) -> bool:
        """Tell whether *newer* contains *older*; an unknown commit is nobody's ancestor."""
        return self._run("merge-base", "--is-ancestor", older, newer, ok=(0, 1, 128)).status == 0

    def list_tree(self, commit: str) -> Iterator[TreeEntry]:
        """Yield every file of *commit*'s tree, in git's order."""
        outputs = self._stream("ls-tree", "-r", "-z", "--full-tree", commit)
        return plumbing.tree_entries(plumbing.records(outputs))

    def diff_trees(self, old: str, new: str) -> list[Change]:
        """Return what differs between two commits or trees, without rename detection."""
        done = self._run("diff-tree", "-r", "-z", "--no-renames", "--raw", old, new)
        return list(plumbing.changes(plumbing.records((done.stdout,))))

    def commit_that_added(self, path: str) -> str | None:
        """Return the newest commit of HEAD's history that made *path*."""
        done = self._run(
            *("--literal-pathspecs", "log", "-1", "--no-show-signature", "--format=%H"),
            *("--diff-filter=A", "--no-renames", "HEAD", "--", path),
        )
        return done.stdout.decode("ascii").strip() or None

    def diff_parent(self, commit: str) -> list[Change]:
        """Return what *commit* changed against its first parent, or against nothing."""
        done = self._run(
            *("diff-tree", "-r", "-z", "--no-renames", "--raw", "--root", "--no-commit-id", commit)
        )
        return list(plumbing.changes(plumbing.records((done.stdout,))))

    def status(self) -> list[WorktreeChange]:
        """Return how the files on disk differ from HEAD, each untracked file by itself."""
        done = self._run("status", "--porcelain=v2", "-z", "-uall", "--no-renames")
        return list(plumbing.worktree_changes(plumbing.records((done.stdout,))))

    def staged(self, paths: Iterable[str] = ()) -> dict[str, IndexEntry]:
        """Return the index entries of *paths*, which are names and not patterns; of all if none."""
        done = self._run("--literal-pathspecs", "ls-files", "--stage", "-z", "--", *paths)
        return plumbing.index_entries(plumbing.records((done.stdout,)))

    def read(self, name: str) -> tuple[str, bytes] | None:
        """Return kind and content of the object *name* (``sha`` or ``commit:path``), or None.

        The child that answers is kept for the next question. Git looks for new packs before it
        says that an object is missing, so it also knows what was written after it started.
        """
        question = plumbing.encode_path(name) + b"\n"
        with self._reading:
            if self._reader is not None:
                try:
                    return self._ask(self._reader, question)
                except (BrokenPipeError, EOFError):
                    self.close()  # somebody ended the child; a fresh one may be asked once more
            self._reader = self._converse("cat-file", "--batch")
            try:
                return self._ask(self._reader, question)
            except (BrokenPipeError, EOFError) as error:
                self.close()
                raise GitFailure(("cat-file", "--batch"), -1, "it ended early") from error

    def read_many(self, shas: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield ``(sha, content)`` for each object asked for, in that order, streamed.

        Raises:
            GitFailure: An object is missing.
        """
        asked = "".join(f"{sha}\n" for sha in shas).encode("ascii")
        pending = bytearray()
        outputs = self._stream("cat-file", "--batch", "--buffer", stdin=asked)
        for chunk in outputs:
            pending += chunk
            at = 0
            while (line_end := pending.find(b"\n", at)) >= 0:
                sha, kind, *size = bytes(pending[at:line_end]).decode("ascii").split(" ")
                if kind == "missing":
                    raise GitFailure(("cat-file", "--batch"), 0, f"object {sha} is missing")
                end = line_end + 1 + int(size[0])
                if len(pending) <= end:
                    break
                yield sha, bytes(pending[line_end + 1 : end])
                at = end + 1
            del pending[:at]

    def read_for_disk(self, commit: str, path: str) -> bytes:
        """Return the file *path* of *commit* as a checkout would write it, filters applied."""
        return self._run("cat-file", "--filters", f"{commit}:{path}").stdout

    def configuration(self) -> Configuration:
        """Return the configuration in force here, and whom git would name as author.

        Where no address is configured git makes one up from the host's name, which can mean
        asking a name server. It is spared that by being told *FALLBACK_EMAIL*.
        """
        env = {} if self.environ.get("EMAIL") else {"EMAIL": FALLBACK_EMAIL}
        found = plumbing.configuration(self._run("var", "-l", env=env).stdout)
        if "core.repositoryformatversion" not in found.settings:
            # Git ignores a repository it distrusts here without a word; this command says why.
            self._run("rev-parse", "--git-dir")
        return found

    def attributes(self, paths: Iterable[str], names: Iterable[str]) -> dict[str, dict[str, str]]:
        """Return by path the values of the attributes *names*; unset ones are named so."""
        asked = b"".join(plumbing.encode_path(path) + b"\0" for path in paths)
        done = self._run("check-attr", "-z", "--stdin", *names, stdin=asked)
        return plumbing.attributes(plumbing.records((done.stdout,)))

    def log(self, start: str, path: str) -> Iterator[LogEntry]:
        """Yield the commits from *start* back that changed the file *path*, newest first.

        Of a merge the change against its first parent is told, and only where the file is as
        neither parent has it. Leaving early ends git's walk.
        """
        outputs = self._stream(
            *("--literal-pathspecs", "log", f"--format={plumbing.LOG_FORMAT}", "-z", "--raw"),
            *("--root", "--no-renames", "--no-abbrev", "--diff-merges=first-parent", "--no-notes"),
            *("--no-show-signature", "--no-color", "--encoding=UTF-8", start, "--", path),
        )
        return plumbing.log_entries(plumbing.records(outputs))

    def log_all(self, start: str, *, without: str | None = None) -> Iterator[CommitEntry]:
        """Yield the commits from *start* back, newest first, without those that *without* has.

        Leaving early ends git's walk.
        """
        outputs = self._stream(
            *("log", f"--format={plumbing.LOG_FORMAT}", "-z", "--raw", "--root", "--no-renames"),
            *("--no-abbrev", "--diff-merges=combined", "--no-notes", "--no-show-signature"),
            *(
                "--no-color",
                "--encoding=UTF-8",
                start,
                *((f"^{without}",) if without else ()),
                "--",
            ),
        )
        return plumbing.commit_entries(plumbing.records(outputs))

    def commit_before(self, start: str, at: str) -> str | None:
        """Return what *start*'s branch was at the instant *at*; None where it did not exist yet."""
        # Of a year after 2099 git makes another one, or none at all.
        at = min(at, "2099-12-31T23:59:59Z")
        done = self._run("rev-list", "-1", "--first-parent", f"--before={at}", start, "--")
        return done.stdout.decode("ascii").strip() or None

    def merge_bases(self, one: str, other: str) -> list[str]:
        """Return the best common ancestors of two commits; none for unrelated ones."""
        done = self._run("merge-base", "--all", one, other, ok=(0, 1))
        return done.stdout.decode("ascii").split()

    def count_apart(self, one: str, other: str) -> tuple[int, int]:
        """Return how many commits only *one* has, and how many only *other*."""
        done = self._run("rev-list", "--left-right", "--count", f"{one}...{other}")
        left, right = done.stdout.split()
        return int(left), int(right)

    def count(self, commit: str) -> int:
        """Return how many commits *commit* is made of, itself included."""
        return int(self._run("rev-list", "--count", commit).stdout)

    def empty_tree(self) -> str:
        """Return the sha of a tree without files."""
        return self._run("hash-object", "-t", "tree", "--stdin").stdout.decode("ascii").strip()

    # Writing

    def init(self, branch: str) -> None:
        """Make the root a repository of its own, whatever encloses it."""
        self._run("init", "--quiet", f"--initial-branch={branch}")

    def set_local(self, name: str, value: str) -> None:
        """Set *name* in the repository's own configuration."""
        self._run("config", "--local", name, value)

    def update_index(
        self, index: str, entries: Mapping[str, Entry | None], *, sha_digits: int
    ) -> None:
        """Set *entries* in the index file *index* by name; None removes. No file is looked at."""
        gone = b"0 " + b"0" * sha_digits
        rows = b"".join(
            (gone if entry is None else f"{entry.mode} {entry.sha}".encode("ascii"))
            + b"\t"
            + plumbing.encode_path(path)
            + b"\0"
            for path, entry in entries.items()
        )
        self._run("update-index", "-z", "--index-info", stdin=rows, env={"GIT_INDEX_FILE": index})

    def refresh_index(self, index: str) -> None:
        """Let the index file *index* know how its unchanged files look on disk."""
        self._run("update-index", "-q", "--refresh", ok=(0, 1), env={"GIT_INDEX_FILE": index})

    def hash_as_added(self, path: str, data: bytes, *, write: bool) -> str:
        """Return the blob sha that adding *data* at *path* would give, filters applied."""
        keep = ("-w",) if write else ()
        done = self._run("hash-object", *keep, "--stdin", f"--path={path}", stdin=data)
        return done.stdout.decode("ascii").strip()

    def hash_files(self, files: Iterable[str]) -> list[str]:
        """Store the content of *files*, as it is, and return the shas in that order."""
        asked = b"".join(os.fsencode(file) + b"\n" for file in files)
        done = self._run("hash-object", "-w", "--no-filters", "--stdin-paths", stdin=asked)
        return done.stdout.decode("ascii").split()

    def store_blob(self, data: bytes) -> str:
        """Store *data*, as it is, and return its sha."""
        return self._run("hash-object", "-w", "--stdin", stdin=data).stdout.decode("ascii").strip()

    def read_tree(self, index: str, tree: str | None) -> None:
        """Fill the index file *index* with *tree*; with nothing for None."""
        self._run("read-tree", tree or "--empty", env={"GIT_INDEX_FILE": index})

    def write_tree(self, index: str) -> str:
        """Store the index file *index* as trees and return the sha of the top one."""
        done = self._run("write-tree", env={"GIT_INDEX_FILE": index})
        return done.stdout.decode("ascii").strip()

    def commit_tree(
        self,
        tree: str,
        parents: Iterable[str],
        message: str,
        *,
        who: Mapping[str, str],
        sign: bool,
    ) -> str:
        """Store a commit and return its sha. *who* are git's variables for names and dates."""
        options = [word for parent in parents for word in ("-p", parent)]
        signature = ("-S",) if sign else ()
        done = self._run(
            *("-c", "i18n.commitEncoding=UTF-8", "commit-tree", *signature, *options, tree),
            stdin=plumbing.encode_path(message),
            env=who,
        )
        return done.stdout.decode("ascii").strip()

    def update_ref(
        self, ref: str, new: str, old: str, reason: str, *, who: Mapping[str, str]
    ) -> None:
        """Move *ref* from *old* (zeros: it is new) to *new*, with a line in its log.

        Raises:
            GitFailure: It does not stand at *old*, is locked, or a hook refused.
        """
        self._run("update-ref", "-m", reason, ref, new, old, env=who)

    def run_hook(self, name: str, *args: str, env: Mapping[str, str]) -> None:
        """Run a hook of the user's, if there is one.

        Raises:
            GitFailure: It said no.
        """
        self._run(
            *("hook", "run", "--ignore-missing", name, *(("--", *args) if args else ())), env=env
        )

    def merge_text(self, base: str, ours: str, theirs: str) -> tuple[bytes, bool]:
        """Return three files merged line by line, and whether a person has nothing to decide.

        Raises:
            GitFailure: One of them is not text.
        """
        done = self._run(
            *("merge-file", "-p", "-L", "ours", "-L", "base", "-L", "theirs", ours, base, theirs),
            ok=range(128),
        )
        return done.stdout, done.status == 0

    def fast_forward(self, commit: str, *, who: Mapping[str, str]) -> None:
        """Move branch, index and files to *commit*, which contains HEAD.

        Raises:
            GitFailure: A file that would change has changes of its own; nothing has moved.
        """
        self._run(
            *("-c", "merge.autoStash=false", "-c", "submodule.recurse=false"),
            *("merge", "--quiet", "--ff-only", "--no-stat", "--no-overwrite-ignore", commit),
            env=who,
        )

    def start_merge(self, commit: str, *, who: Mapping[str, str]) -> None:
        """Merge *commit* into index and files without committing; what conflicts is marked."""
        self._run(
            *("-c", "merge.autoStash=false", "-c", "submodule.recurse=false"),
            # A file that is taken for another by its likeness would hide a conflict.
            *("-c", "merge.renames=false"),
            *("merge", "--quiet", "--no-ff", "--no-commit", "--no-stat", "--no-overwrite-ignore"),
            commit,
            ok=(0, 1),
            env=who,
        )

    # Other repositories

    def remotes(self) -> list[str]:
        """Return the names of the remotes, sorted."""
        return self._run("remote").stdout.decode("utf-8", "surrogateescape").split()

    def fetch(self, remote: str, branch: str) -> bool:
        """Bring ``refs/remotes/<remote>/<branch>`` up to date; tell whether there is that branch.

        ``*`` stands for every branch.

        Raises:
            RemoteFailure: The remote cannot be reached.
        """
        tracking = f"+refs/heads/{branch}:refs/remotes/{remote}/{branch}"
        done = self._talk(
            *("fetch", "--quiet", "--no-tags", "--no-recurse-submodules", remote, tracking),
        )
        if done.status and b"find remote ref" in done.stderr:
            return False
        if done.status:
            raise RemoteFailure(remote, _complaint(done.stderr))
        return True

    def branches(self, remote: str) -> list[str]:
        """Return the names of the remote's branches, sorted.

        Raises:
            RemoteFailure: The remote cannot be reached.
        """
        done = self._talk("ls-remote", "--heads", remote)
        if done.status:
            raise RemoteFailure(remote, _complaint(done.stderr))
        rows = done.stdout.decode("utf-8", "surrogateescape").splitlines()
        return sorted(row.partition("\trefs/heads/")[2] for row in rows)

    def push(self, remote: str, commit: str, branch: str) -> bool:
        """Let *branch* of the remote be *commit*; False where somebody else came first.

        Raises:
            RemoteFailure: The remote cannot be reached, or refuses.
        """
        done = self._talk(
            *("push", "--porcelain", "--no-follow-tags", "--recurse-submodules=no"),
            *(remote, f"{commit}:refs/heads/{branch}"),
        )
        if done.status == 0:
            return True
        rows = [row for row in done.stdout.split(b"\n") if row.startswith(b"!")]
        if any(word in row for row in rows for word in _CAME_FIRST):
            return False
        raise RemoteFailure(remote, _complaint(rows[0] if rows else done.stderr))

    def _talk(self, *args: str) -> children.Finished:
        """Run a command that speaks to another machine, which must never wait for a person."""
        env = dict(_UNATTENDED)
        has_ssh = "GIT_SSH_COMMAND" in self.environ or "GIT_SSH" in self.environ
        if not has_ssh and "core.sshcommand" not in self.configuration().settings:
            env["GIT_SSH_COMMAND"] = "ssh -o BatchMode=yes"
        # Maintenance would run beside our writers; the user's own commands do it.
        quiet = ("-c", "gc.auto=0", "-c", "maintenance.auto=false")
        return self._run(*quiet, *args, ok=range(-64, 256), env=env)

    # How commands are run

    def _run(
        self,
        *args: str,
        stdin: bytes = b"",
        ok: Container[int] = (0,),
        env: Mapping[str, str] | None = None,
    ) -> children.Finished:
        try:
            done = children.run(
                self._argv(args), env={**self.environ, **env} if env else self.environ, stdin=stdin
            )
        except FileNotFoundError as error:
            raise _no_git(args) from error
        if done.status not in ok:
            raise _failure(args, done.status, done.stderr)
        return done

    def _stream(self, *args: str, stdin: bytes = b"") -> Generator[bytes, None, None]:
        try:
            status, stderr = yield from children.stream(
                self._argv(args), env=self.environ, stdin=stdin
            )
        except FileNotFoundError as error:
            raise _no_git(args) from error
        if status:
            raise _failure(args, status, stderr)

    def _converse(self, *args: str) -> children.Conversation:
        try:
            return children.converse(self._argv(args), env=self.environ)
        except FileNotFoundError as error:
            raise _no_git(args) from error

    def _argv(self, args: tuple[str, ...]) -> tuple[str, ...]:
        return ("git", "-C", self._root, *args)

    @staticmethod
    def _ask(reader: children.Conversation, question: bytes) -> tuple[str, bytes] | None:
        reader.write(question)
        header = reader.answers.readline()
        if not header:
            raise EOFError
        *_, kind, size = header.split()
        if kind not in _KINDS:
            return None  # "<name> missing", where the name may have spaces of its own
        content = reader.answers.read(int(size))
        if reader.answers.read(1) != b"\n":
            raise EOFError
        return kind.decode("ascii"), content


def _failure(args: tuple[str, ...], status: int, stderr: bytes) -> MemhtmlError:
    text = stderr.decode("utf-8", "replace")
    for trouble in ("No space left on device", "Disk quota exceeded", "Read-only file system"):
        if trouble in text:
            return StorageFailure(f"git cannot write: {trouble}")
    hint: tuple[str, ...] = ("git fsck",) if "corrupt" in text else ()
    if "dubious ownership" in text:
        # Git says which command to run, with the path as it wants it.
        lines = (line.strip() for line in text.splitlines())
        hint = tuple(line for line in lines if line.startswith("git config"))
    return GitFailure(args, status, text, suggestions=hint)


def _complaint(raw: bytes) -> str:
    lines = [line for line in raw.decode("utf-8", "replace").splitlines() if line.strip()]
    # What went wrong comes first; what follows is advice.
    fatal = [line for line in lines if line.startswith(("fatal:", "error:", "ERROR:", "!"))]
    return " ".join((fatal or lines or ["git says nothing"])[0].lstrip("!").split())


def _no_git(args: tuple[str, ...]) -> GitFailure:
    return GitFailure(
        args, 127, "the git program is not on PATH", suggestions=("install git 2.38 or later",)
    )
