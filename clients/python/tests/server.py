"""A real server for the tests, and the person who answers."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from typing import Any

import httpx2

WITHIN_S = 15.0


class Server:
    """`holdpoint demo` with its data in a folder, so that it can be killed and started again."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="holdpoint-clients-")
        self.listen = "127.0.0.1:0"
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        program = os.environ.get("HOLDPOINT_BIN")
        if not program:
            raise SystemExit("HOLDPOINT_BIN names the program to test")
        words = [program, "demo", "--json", "--listen", self.listen, "--data", self.folder.name]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{program} ended before it was ready")
        told = json.loads(line)
        self.url: str = told["url"]
        self.listen = self.url.removeprefix("http://")
        self.token: str = told["program_token"]
        self.person = Person(self.url, told["person_token"])

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        self.kill()
        self.folder.cleanup()


class Person:
    """Ana, who may answer everything."""

    def __init__(self, url: str, token: str) -> None:
        self.http = httpx2.Client(base_url=url, headers={"authorization": f"Bearer {token}"}, timeout=WITHIN_S)

    def opened(self, title: str) -> dict[str, Any]:
        """The open hold with this title, as soon as there is one."""
        return self.opened_where(lambda hold: bool(hold["title"] == title))

    def opened_where(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        until = time.monotonic() + WITHIN_S
        # The stream first: what is opened after the list was read is told there.
        with self.http.stream("GET", "/v1/events", headers={"accept": "text/event-stream"}) as stream:
            lines = stream.iter_lines()
            while time.monotonic() < until:
                found = next(filter(wanted, self._pending()), None)
                if found:
                    return found
                next(lines)
        raise AssertionError("no such hold was opened")

    def _pending(self) -> list[dict[str, Any]]:
        reply = self.http.get("/v1/holds", params={"state": "pending", "limit": "100"})
        items: list[dict[str, Any]] = reply.raise_for_status().json()["items"]
        return items

    def pending(self) -> int:
        return len(self._pending())

    def show(self, id: str) -> dict[str, Any]:
        shown: dict[str, Any] = self.http.get(f"/v1/holds/{id}").raise_for_status().json()
        return shown

    def answer(self, hold: dict[str, Any], answer: dict[str, Any]) -> None:
        body = {"digest": hold["digest"], "answer": answer}
        reply = self.http.post(f"/v1/holds/{hold['id']}/answer", json=body)
        assert reply.status_code == 200, reply.text

    def approve(self, hold: dict[str, Any], arguments: dict[str, Any] | None = None) -> None:
        edited = {} if arguments is None else {"arguments": arguments}
        self.answer(hold, {"verdict": "approve", **edited})

    def deny(self, hold: dict[str, Any], reason: str) -> None:
        self.answer(hold, {"verdict": "deny", "reason": reason})

    def freeze(self) -> None:
        assert self.http.post("/v1/freeze", json={"reason": "a test"}).status_code == 200

    def thaw(self) -> None:
        assert self.http.delete("/v1/freeze").is_success
