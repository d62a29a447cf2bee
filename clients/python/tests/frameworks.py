"""What every framework is asked: the same six days of a tool that waits."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from help import fresh
from holdpoint import AsyncClient, Unreachable
from server import Server

Go = Callable[[Path, AsyncClient, str, tuple[str, ...], dict[str, Any]], Awaitable[str]]


class Framework:
    """`go` runs an agent that wants to append each text, and returns its last words."""

    def __init__(self, server: Server, go: Go) -> None:
        self.server, self.go = server, go
        self.home = tempfile.TemporaryDirectory(prefix="holdpoint-framework-")
        self.folder = Path(self.home.name)
        self.client = AsyncClient(server.url, server.token)

    def wrote(self) -> str:
        file = self.folder / "proof.txt"
        return file.read_text() if file.exists() else ""

    async def day(self, answer: Callable[[dict[str, Any]], None], *texts: str, run: str | None = None) -> tuple[str, list[Any]]:
        """Each call's hold is found by its own risk, which nothing else has at this time, and answered."""
        run = run or fresh("run")
        texts = texts or ("once",)
        going = asyncio.ensure_future(self.go(self.folder, self.client, run, texts, {"context": {"run": run}}))
        held = []
        for _ in texts:
            hold = await asyncio.to_thread(self._next, run, [hold["id"] for hold in held], going)
            held.append(hold)
        assert self.wrote() == "", "it ran before it was approved"
        for hold in held:
            await asyncio.to_thread(answer, hold)
        said = await asyncio.wait_for(going, 60)
        return said, [self.server.person.show(hold["id"]) for hold in held]

    def _next(self, run: str, known: list[str], _: Any) -> dict[str, Any]:
        def is_new(hold: dict[str, Any]) -> bool:
            return hold["context"].get("run") == run and hold["id"] not in known

        return self.server.person.opened_where(is_new)


async def six_days(server: Server, go: Go, takes_edits: bool) -> None:
    person = server.person
    day = Framework(server, go)
    said, holds = await day.day(person.approve)
    assert (said, day.wrote()) == ("appended once", "once\n")
    assert holds[0]["outcome"] == {"state": "succeeded", "result": "appended once"}

    day = Framework(server, go)
    said, holds = await day.day(lambda hold: person.deny(hold, "not today"))
    assert ("not today" in said, day.wrote(), holds[0]["outcome"]) == (True, "", None), said

    day = Framework(server, go)
    said, holds = await day.day(lambda hold: person.approve(hold, {"text": "other"}))
    if takes_edits:
        assert day.wrote() == "other\n" and holds[0]["outcome"]["state"] == "succeeded"
    else:
        assert (day.wrote(), holds[0]["outcome"]) == ("", None) and '{"text":"other"}' in said, said

    day = Framework(server, go)

    def one_of_two(hold: dict[str, Any]) -> None:
        person.deny(hold, "no") if hold["call"]["arguments"]["text"] == "one" else person.approve(hold)

    await day.day(one_of_two, "one", "two")
    assert day.wrote() == "two\n"

    day = Framework(server, go)
    said = await go(day.folder, day.client, fresh("run"), ("once",), {"expires_in_s": 1})
    assert ("expired" in said, day.wrote()) == (True, ""), said
    away = AsyncClient("http://127.0.0.1:9", server.token, patience_s=0.2)
    try:
        await go(day.folder, away, fresh("run"), ("once",), {})
    except Unreachable:
        assert day.wrote() == ""
    else:
        raise AssertionError("it went on without a server")


async def used_once(server: Server, go: Go) -> None:
    """The same turn again, as after a crash that lost the framework's own record: it is not made again."""
    day, run = Framework(server, go), fresh("run")
    await day.day(server.person.approve, run=run)
    said = await go(day.folder, day.client, run, ("once",), {"context": {"run": run}})
    assert ("has run already" in said, day.wrote()) == (True, "once\n"), said
