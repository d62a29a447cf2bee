"""An agent of Google ADK that stops before its tool runs: `adk_agent.py [FOLDER] [SESSION]`.

The model is scripted, so no key is needed. Start `holdpoint demo`, set the two variables that it prints for a program, and
answer on the page. Kill it while it waits and start it again: its session is on disk, and it goes on where it was."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import Runner
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.genai import types
from holdpoint import AsyncClient
from holdpoint.google_adk import HeldTool, decide

USER = "ana"


class Script(BaseLlm):
    """Asks for the calls, and then says what came of them."""

    texts: tuple[str, ...]

    async def generate_content_async(self, llm_request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
        parts = [part for content in llm_request.contents for part in content.parts or []]
        told = [part.function_response.response or {} for part in parts if part.function_response]
        if told:
            said = " | ".join(str(result.get("result", result.get("error"))) for result in told)
            parts = [types.Part(text=said)]
        else:
            wanted = [types.FunctionCall(id=f"call_{at}", name="append", args={"text": text}) for at, text in enumerate(self.texts)]
            parts = [types.Part(function_call=call) for call in wanted]
        usage = types.GenerateContentResponseUsageMetadata(prompt_token_count=0, candidates_token_count=0)
        yield LlmResponse(content=types.Content(role="model", parts=parts), usage_metadata=usage)


def tool(folder: Path) -> Callable[[str], str]:
    def append(text: str) -> str:
        """Appends a line to the file."""
        with (folder / "proof.txt").open("a") as file:
            file.write(text + "\n")
        return f"appended {text}"

    return append


def runner(folder: Path, *texts: str) -> Runner:
    agent = LlmAgent(name="writer", model=Script(model="script", texts=texts), tools=[HeldTool(tool(folder))])
    sessions = SqliteSessionService(str(folder / "sessions.db"))
    return Runner(app_name="writer", agent=agent, session_service=sessions)


def last_words(events: list[Any]) -> str:
    texts = [part.text for event in events if event.author == "writer" for part in event.content.parts or [] if part.text]
    return str(texts[-1])


async def main(folder: Path, name: str) -> None:
    writer = runner(folder, "once")
    sessions = writer.session_service
    session = await sessions.get_session(app_name="writer", user_id=USER, session_id=name)
    if session is None:
        await sessions.create_session(app_name="writer", user_id=USER, session_id=name)
        go = types.Content(role="user", parts=[types.Part(text="go")])
        events = [event async for event in writer.run_async(user_id=USER, session_id=name, new_message=go)]
    else:
        events = session.events
    async with AsyncClient() as client:
        while (asked := await decide(events, client, run=name)).message:
            events = [event async for event in writer.run_async(user_id=USER, session_id=name, new_message=asked.message)]
            await asked.report(events)
    print(last_words(events))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1] if len(sys.argv) > 1 else "."), sys.argv[2] if len(sys.argv) > 2 else "adk-1"))
