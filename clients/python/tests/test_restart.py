"""Deaths and restarts, of the server and of the program that waits."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from help import Running, fresh
from holdpoint import Client
from server import Server

HERE = Path(__file__).resolve().parent


class Child:
    def __init__(self, server: Server, folder: str, *words: str) -> None:
        self.key, self.file = fresh("child"), Path(folder) / "proof.txt"
        self.words = words
        self.env = {
            **os.environ, "HOLDPOINT_SERVER": server.url, "HOLDPOINT_TOKEN": server.token,
            "PYTHONPATH": str(HERE.parent / "src"),
        }  # fmt: skip

    def start(self, *words: str) -> "subprocess.Popen[str]":
        command = [sys.executable, "-B", str(HERE / "child.py"), self.key, str(self.file), *words]
        return subprocess.Popen(command, env=self.env, stdout=subprocess.PIPE, text=True)

    def end(self) -> str:
        out, _ = self.start().communicate(timeout=60)
        return out.strip()

    def wrote(self) -> str:
        return self.file.read_text() if self.file.exists() else ""


def test_the_server_is_killed_while_a_call_waits(server: Server) -> None:
    title, calls = fresh("wait"), []
    client = Client(server.url, server.token)

    @client.gate(title=title)
    def work() -> str:
        calls.append(1)
        return "done"

    running = Running(work)
    hold = server.person.opened(title)
    server.kill()
    server.start()
    assert calls == []
    server.person.approve(hold)
    assert (running.end(), calls) == ("done", [1])


def test_a_server_that_comes_later_is_waited_for(server: Server) -> None:
    title = fresh("late")
    server.kill()
    client = Client(server.url, server.token)
    running = Running(lambda: client.gate(title=title)(lambda: "done")())
    server.start()
    server.person.approve(server.person.opened(title))
    assert running.end() == "done"


def test_a_program_killed_while_it_waits_finds_its_decision_and_runs_once(server: Server) -> None:
    with tempfile.TemporaryDirectory() as folder:
        child = Child(server, folder)
        waiting = child.start()
        hold = server.person.opened(f"append {child.key}")
        waiting.kill()
        waiting.communicate()
        server.person.approve(hold)
        assert child.wrote() == ""
        assert child.end() == "appended"
        assert child.end() == "already used: succeeded appended"
        assert child.wrote() == "once\n"


def test_a_program_killed_in_its_call_does_not_make_it_again(server: Server) -> None:
    with tempfile.TemporaryDirectory() as folder:
        child = Child(server, folder)
        dies = child.start("die")
        server.person.approve(server.person.opened(f"append {child.key}"))
        dies.communicate(timeout=60)
        assert dies.returncode == 9
        assert child.end() == "already used: executing None"
        assert child.wrote() == "once\n"
