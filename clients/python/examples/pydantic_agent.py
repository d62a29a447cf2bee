"""An agent of Pydantic AI that stops before its tool runs: `pydantic_agent.py [FOLDER] [RUN]`.

The model is a function, so no key is needed. Start `holdpoint demo`, set the two variables that it prints for a program, and
answer on the page. Kill it while it waits and start it again: its messages are on disk, and it goes on where it was."""

import asyncio
import sys
from pathlib import Path
from typing import Any

from holdpoint import AsyncClient
from holdpoint.pydantic_ai import decide
from pydantic_ai import Agent, DeferredToolRequests
from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel


def agent(folder: Path, *texts: str) -> Agent[None, Any]:
    def model(messages: list[Any], _: Any) -> ModelResponse:
        """Asks for the calls, and then says what came of them."""
        told = [part.content for part in messages[-1].parts if part.part_kind in ("tool-return", "retry-prompt")]
        if told:
            return ModelResponse(parts=[TextPart(" | ".join(map(str, told)))])
        return ModelResponse(
            parts=[ToolCallPart("append", {"text": text}, tool_call_id=f"call_{at}") for at, text in enumerate(texts)]
        )

    writer: Agent[None, Any] = Agent(FunctionModel(model), output_type=[str, DeferredToolRequests])

    @writer.tool_plain(requires_approval=True)
    def append(text: str) -> str:
        """Appends a line to the file."""
        with (folder / "proof.txt").open("a") as file:
            file.write(text + "\n")
        return f"appended {text}"

    return writer


async def main(folder: Path, run: str) -> None:
    kept, done = folder / "messages.json", folder / "said.txt"
    writer = agent(folder, "once")
    if done.exists():
        print(done.read_text())
        return
    if not kept.exists():
        result = await writer.run("go")
        kept.write_bytes(result.all_messages_json())
    messages = ModelMessagesTypeAdapter.validate_json(kept.read_bytes())
    requests = DeferredToolRequests(approvals=[part for part in messages[-1].parts if isinstance(part, ToolCallPart)])
    async with AsyncClient() as client:
        asked = await decide(requests, client, run=run)
        result = await writer.run(message_history=messages, deferred_tool_results=asked.results)
        await asked.report(result.new_messages())
    done.write_text(result.output)
    print(result.output)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1] if len(sys.argv) > 1 else "."), sys.argv[2] if len(sys.argv) > 2 else "pydantic-1"))
