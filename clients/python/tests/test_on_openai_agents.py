"""The OpenAI Agents SDK itself, with a scripted model."""

from pathlib import Path
from typing import Any

import openai_agent
from agents import Runner, RunState
from frameworks import six_days, used_once
from help import fresh
from holdpoint import AsyncClient
from holdpoint.openai_agents import decide
from killed import goes_on_after_a_restart
from server import Server


async def go(folder: Path, client: AsyncClient, run: str, texts: tuple[str, ...], options: dict[str, Any]) -> str:
    agent = openai_agent.agent(folder, *texts)
    stopped = await Runner.run(agent, "go")
    assert len(stopped.interruptions) == len(texts)
    # Through text and back, as a process would that was started again.
    state: Any = await RunState.from_string(agent, stopped.to_state().to_string())
    asked = await decide(state, client, run=run, **options)
    result = await Runner.run(agent, state)
    await asked.report(result)
    return str(result.final_output)


async def test_approved_denied_edited_two_at_once_expired_and_without_a_server(server: Server) -> None:
    await six_days(server, go, takes_edits=False)


async def test_an_approval_is_used_once(server: Server) -> None:
    await used_once(server, go)


def test_killed_while_it_waits_the_agent_goes_on_after_a_restart(server: Server) -> None:
    goes_on_after_a_restart(server, "openai_agent.py", fresh("run"), "Call append")
