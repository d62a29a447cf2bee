"""The real server on a loopback port, and those who call it."""

import json
import os
import pathlib
import socket
import subprocess
import time

import requests

from push_service import PushService
from telegram import Telegram
from tickets import Tickets

HERE = pathlib.Path(__file__).parent
# A debug build on a busy machine starts in a fraction of this.
START_WITHIN_S = 30
STOP_WITHIN_S = 15
CALL_WITHIN_S = 20

# Everybody who calls, with what their tokens are for. The first is an admin and comes from
# --bootstrap-tokens. A token without any scope cannot be made, so the last has the least one.
CALLERS = {
    "ana": None,
    "bob": {"person": "bob", "scopes": ["ask", "answer", "run"]},
    "robot": {"program": "robot", "scopes": ["ask", "run"]},
    "eve": {"person": "eve", "scopes": ["ask"]},
}


class Caller:
    """One caller with a token. What goes wrong here is a fault of ours, not a finding."""

    def __init__(self, url: str, token: str):
        self.url, self.token = url, token
        self.session = requests.Session()
        self.session.headers["Authorization"] = f"Bearer {token}"

    def ask(self, method: str, path: str, body: dict | None = None) -> dict:
        reply = self.session.request(method, self.url + path, json=body, timeout=CALL_WITHIN_S)
        assert reply.status_code < 300, f"{method} {path}: {reply.status_code} {reply.text}"
        return reply.json() if reply.content else {}

    def look(self, path: str) -> dict:
        """What is there, or nothing."""
        reply = self.session.get(self.url + path, timeout=CALL_WITHIN_S)
        return reply.json() if reply.status_code == 200 else {}


class Served:
    """A server with its settings and its data in a folder of its own."""

    def __init__(self, binary: str, folder: pathlib.Path):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        self.log = folder / "server.log"
        self.tokens: dict[str, str] = {}
        self.telegram, self.tickets, self.push_service = Telegram(), Tickets(), PushService()
        for name in ("holdpoint.toml", "script.toml"):
            text = (HERE / name).read_text().replace("@PORT@", str(port))
            text = text.replace("@TELEGRAM_PORT@", str(self.telegram.port))
            text = text.replace("@TICKETS_PORT@", str(self.tickets.port))
            (folder / name).write_text(text)
        secret = folder / "telegram-token"
        secret.write_text("1:api\n")
        secret.chmod(0o600)
        bootstrap = folder / "tokens.json"
        # Nothing of the settings of whoever runs the tests.
        env = {name: value for name, value in os.environ.items() if "HOLDPOINT_" not in name}
        words = [binary, "serve", "--config", folder / "holdpoint.toml", "--bootstrap-tokens", bootstrap]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                words, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder
            )
        self.wait_until_ready()
        self.tokens["ana"] = json.loads(bootstrap.read_text())["person_token"]
        admin = Caller(self.url, self.tokens["ana"])
        for name, wanted in CALLERS.items():
            if wanted:
                self.tokens[name] = admin.ask("POST", "/v1/tokens", wanted)["token"]

    def wait_until_ready(self) -> None:
        until = time.monotonic() + START_WITHIN_S
        while time.monotonic() < until:
            if self.process.poll() is not None:
                raise SystemExit(f"the server ended by itself:\n{self.log.read_text()}")
            try:
                if requests.get(f"{self.url}/readyz", timeout=1).status_code == 200:
                    return
            except requests.RequestException:
                pass
            time.sleep(0.02)
        self.stop()
        raise SystemExit(f"the server is not ready:\n{self.log.read_text()}")

    def stop(self) -> int:
        """As an operator stops it. Its exit status."""
        self.process.terminate()
        try:
            return self.process.wait(STOP_WITHIN_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()
        finally:
            self.telegram.stop()
            self.tickets.stop()
            self.push_service.stop()

    def faults(self) -> list[str]:
        """Lines of the log that tell of a bug, also where the reply looked harmless."""
        lines = self.log.read_text(errors="replace").splitlines()
        return [line for line in lines if "panicked" in line or '"level":"ERROR"' in line]
