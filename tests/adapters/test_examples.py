"""Each adapter's example runs as it stands, without a key and without a network."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SHOWN = {
    "langgraph_store": "What colour is the kayak?\nThe kayak is red.\n",
    "llamaindex_memory": "My bicycle is green.\nIt is fast.\n",
    "openai_agents_tools": '"gist": "Ada takes oat milk in her coffee."',
    "pydantic_ai_toolset": '"gist": "Ada takes oat milk in her coffee."',
    "anthropic_memory": "     2\tAda takes no milk in her coffee.\n",
}
# A proxy that nobody listens at: whoever reaches for the network fails.
NOWHERE = "http://127.0.0.1:9"


@pytest.mark.parametrize("name", SHOWN)
def test_an_example_runs_and_shows_what_it_promises(name: str, tmp_path: Path) -> None:
    env = {key: value for key, value in os.environ.items() if "KEY" not in key}
    done = subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / "examples" / f"{name}.py")],
        cwd=tmp_path,
        env={
            **env,
            "PYTHONPATH": str(ROOT / "src"),
            "HTTP_PROXY": NOWHERE,
            "HTTPS_PROXY": NOWHERE,
            "ALL_PROXY": NOWHERE,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert SHOWN[name] in done.stdout
    assert list(tmp_path.iterdir()) == []
