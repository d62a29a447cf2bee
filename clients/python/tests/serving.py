"""A server with a configuration of its own, which sends callbacks."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from server import Person

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
CONFIGURATION = """
[server]
listen = "127.0.0.1:0"
[store]
url = "sqlite:data"
[models.script]
provider = "scripted"
script = "builtin:demo"
[[agents]]
id = "ops"
model = "script"
instructions = "You look after the shop."
tools = []
[[people]]
id = "ana"
name = "Ana"
roles = ["admin"]
[callbacks]
secret_envs = ["CI_CALLBACK_SECRET"]
allow_private_addresses = true
"""


@contextmanager
def serving() -> Iterator[tuple[str, str, Person]]:
    """Its address, a program's token, and Ana."""
    program = os.environ["HOLDPOINT_BIN"]
    with tempfile.TemporaryDirectory(prefix="holdpoint-serving-") as folder:
        (Path(folder) / "holdpoint.toml").write_text(CONFIGURATION)
        env = {**os.environ, "HOME": folder, "CI_CALLBACK_SECRET": SECRET}
        env.pop("XDG_CONFIG_HOME", None)
        server = subprocess.Popen(
            [program, "serve"], cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        try:
            assert server.stdout is not None
            link = next(line.strip() for line in server.stdout if "/login?code=" in line)
            url = link.split("/login")[0]

            def command(*words: str) -> str:
                done = subprocess.run([program, *words], cwd=folder, env=env, capture_output=True, text=True, timeout=30)
                assert done.returncode == 0, done.stderr
                return done.stdout

            def token(*words: str) -> Any:
                return json.loads(command("token", "create", "--server", url, "--json", *words))["token"]

            command("login", link)
            yield url, token("--program", "ci", "--scope", "ask"), Person(url, token("--person", "ana", "--scope", "answer,admin"))
        finally:
            server.kill()
            server.wait()
