"""Several servers and the command line write to one store at once."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from memhtml.corpus import Corpus
from tests.mcpserver.peers import StdioPeer

if TYPE_CHECKING:
    from pathlib import Path

ROUNDS = 6


def test_two_servers_and_the_command_line_lose_nothing(root: Path) -> None:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with StdioPeer(root) as one, StdioPeer(root) as two:
        one.open()
        two.open()
        for n in range(ROUNDS):
            asked = []
            for name, peer in (("one", one), ("two", two)):
                for fact in (f"Gate {n} is known to {name}.", f"Gate {n} is known to all."):
                    arguments = {"title": f"Gate {n}", "memory_type": "semantic", "body": fact}
                    request = peer.request(
                        "tools/call", {"name": "memory_write", "arguments": arguments}
                    )
                    peer.send_message(request)
                    asked.append((peer, request["id"]))
            claim = ["--title", f"Gate {n}", "--type", "semantic"]
            command = [sys.executable, "-m", "memhtml", "write", "--repo", str(root), *claim]
            subprocess.run(
                [*command, "--claim", f"Gate {n} is known to the shell."],
                check=True,
                stdout=subprocess.DEVNULL,
                env=env,
            )
            for peer, request_id in asked:
                answer = peer.receive_for(request_id)["result"]
                assert answer["isError"] is False, answer
        found = [peer.call("memory_search", query="gate", limit=200) for peer in (one, two)]
        paths = [{hit["path"] for hit in f["structuredContent"]["hits"]} for f in found]
        assert paths[0] == paths[1]
        assert one.finish() == []
        assert two.finish() == []
    with Corpus.open(root) as corpus:
        claims = sorted(memory.document.claim for memory in corpus.memories())
        assert corpus.status().dirty == ()
    knowers = ("all", "one", "the shell", "two")
    assert claims == sorted(f"Gate {n} is known to {k}." for n in range(ROUNDS) for k in knowers)
    checked = subprocess.run(["git", "-C", str(root), "fsck", "--strict"], check=False)
    assert checked.returncode == 0
