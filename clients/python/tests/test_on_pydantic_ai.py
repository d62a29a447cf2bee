"""Pydantic AI itself, with a function as its model."""

from pathlib import Path
from typing import Any

import pydantic_agent
from frameworks import six_days, used_once
from help import fresh
from holdpoint import AsyncClient
from holdpoint.pydantic_ai import decide
from killed import goes_on_after_a_restart
from pydantic_ai import DeferredToolRequests
from server import Server


async def go(folder: Path, client: AsyncClient, run: str, texts: tuple[str, ...], options: dict[str, Any]) -> str:
    agent = pydantic_agent.agent(folder, *texts)
    stopped = await agent.run("go")
    assert isinstance(stopped.output, DeferredToolRequests) and len(stopped.output.approvals) == len(texts)
    asked = await decide(stopped.output, client, run=run, **options)
    result = await agent.run(message_history=stopped.all_messages(), deferred_tool_results=asked.results)
    await asked.report(result.new_messages())
    return str(result.output)


async def test_approved_denied_edited_two_at_once_expired_and_without_a_server(server: Server) -> None:
    await six_days(server, go, takes_edits=True)


async def test_an_approval_is_used_once(server: Server) -> None:
    await used_once(server, go)


def test_killed_while_it_waits_the_agent_goes_on_after_a_restart(server: Server) -> None:
    goes_on_after_a_restart(server, "pydantic_agent.py", fresh("run"), "Call append")
