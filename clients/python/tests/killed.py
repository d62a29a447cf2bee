"""An example that is killed while it waits, and started again."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from server import Server

ROOT = Path(__file__).resolve().parent.parent


def goes_on_after_a_restart(server: Server, example: str, word: str, title: str) -> None:
    """`word` is the example's second word, `title` that of its hold."""
    with tempfile.TemporaryDirectory(prefix="holdpoint-killed-") as folder:
        env = {
            **os.environ, "HOLDPOINT_SERVER": server.url, "HOLDPOINT_TOKEN": server.token,
            "PYTHONPATH": str(ROOT / "src"),
        }  # fmt: skip
        words = [sys.executable, "-B", str(ROOT / "examples" / example), folder, word]
        first = subprocess.Popen(words, env=env, stdout=subprocess.PIPE, text=True)
        hold = server.person.opened(title)
        first.kill()
        first.communicate()
        server.person.approve(hold)
        proof = Path(folder) / "proof.txt"
        assert not proof.exists(), "it ran without its decision"
        for _ in range(2):
            again = subprocess.run(words, env=env, stdout=subprocess.PIPE, text=True, timeout=60, check=True)
            assert again.stdout.strip() == "appended once", again.stdout
        assert proof.read_text() == "once\n"
        assert server.person.show(hold["id"])["outcome"] == {"state": "succeeded", "result": "appended once"}
