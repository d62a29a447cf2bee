"""Google ADK itself, with a scripted model."""

from pathlib import Path
from typing import Any

import adk_agent
from frameworks import Framework, six_days, used_once
from google.adk.runners import Runner
from google.adk.tools import FunctionTool
from google.genai import types
from help import fresh
from holdpoint import AsyncClient
from holdpoint.google_adk import decide
from killed import goes_on_after_a_restart
from server import Server


async def go(folder: Path, client: AsyncClient, run: str, texts: tuple[str, ...], options: dict[str, Any]) -> str:
    return await goes(adk_agent.runner(folder, *texts), client, run, texts, options)


async def goes(writer: Runner, client: AsyncClient, run: str, texts: tuple[str, ...], options: dict[str, Any]) -> str:
    name = fresh("session")
    await writer.session_service.create_session(app_name="writer", user_id=adk_agent.USER, session_id=name)

    async def told(message: types.Content) -> list[Any]:
        return [event async for event in writer.run_async(user_id=adk_agent.USER, session_id=name, new_message=message)]

    events = await told(types.Content(role="user", parts=[types.Part(text="go")]))
    asked = await decide(events, client, run=run, **options)
    assert asked.message and len(asked.verdicts) == len(texts)
    events = await told(asked.message)
    await asked.report(events)
    session = await writer.session_service.get_session(app_name="writer", user_id=adk_agent.USER, session_id=name)
    assert (await decide(session.events, client, run=run)).message is None, "nothing waits any more"
    return adk_agent.last_words(events)


async def test_approved_denied_edited_two_at_once_expired_and_without_a_server(server: Server) -> None:
    await six_days(server, go, takes_edits=True)


async def test_an_approval_is_used_once(server: Server) -> None:
    await used_once(server, go)


async def test_a_tool_of_adks_own_takes_a_yes_and_a_no_and_no_edit(server: Server) -> None:
    async def plain(folder: Path, client: AsyncClient, run: str, texts: tuple[str, ...], options: dict[str, Any]) -> str:
        writer = adk_agent.runner(folder, *texts)
        writer.agent.tools = [FunctionTool(adk_agent.tool(folder), require_confirmation=True)]
        return await goes(writer, client, run, texts, options)

    day = Framework(server, plain)
    assert (await day.day(server.person.approve))[0] == "appended once"
    for answer in (lambda hold: server.person.deny(hold, "no"), lambda hold: server.person.approve(hold, {"text": "other"})):
        day = Framework(server, plain)
        said, holds = await day.day(answer)
        assert ("rejected" in said, day.wrote(), holds[0]["outcome"]) == (True, "", None), said


def test_killed_while_it_waits_the_agent_goes_on_after_a_restart(server: Server) -> None:
    goes_on_after_a_restart(server, "adk_agent.py", fresh("run"), "Call append")
