"""An agent of the OpenAI Agents SDK that stops before its tool runs: `openai_agent.py [FOLDER] [RUN]`.

The model is scripted, so no key is needed. Start `holdpoint demo`, set the two variables that it prints for a program, and
answer on the page. Kill it while it waits and start it again: its state is on disk, and it goes on where it was."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from agents import Agent, Model, ModelResponse, Runner, RunState, Usage, function_tool, set_tracing_disabled
from holdpoint import AsyncClient
from holdpoint.openai_agents import decide
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

set_tracing_disabled(True)


class Scripted(Model):
    """Asks for the calls, and then says what came of them."""

    def __init__(self, *texts: str) -> None:
        self.texts = texts

    async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> ModelResponse:
        told = [item for item in input if isinstance(item, dict) and item.get("type") == "function_call_output"]
        output: list[Any] = [
            ResponseFunctionToolCall(
                call_id=f"call_{at}", name="append", arguments=json.dumps({"text": text}), type="function_call"
            )
            for at, text in enumerate(self.texts)
        ]
        if told:
            said = " | ".join(str(item["output"]) for item in told)
            text = ResponseOutputText(text=said, type="output_text", annotations=[])
            output = [ResponseOutputMessage(id="1", content=[text], role="assistant", status="completed", type="message")]
        return ModelResponse(output=output, usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


def agent(folder: Path, *texts: str) -> Agent[Any]:
    @function_tool(needs_approval=True)
    def append(text: str) -> str:
        """Appends a line to the file."""
        with (folder / "proof.txt").open("a") as file:
            file.write(text + "\n")
        return f"appended {text}"

    return Agent(name="writer", model=Scripted(*texts), tools=[append])


async def main(folder: Path, run: str) -> None:
    kept, done = folder / "state.json", folder / "said.txt"
    writer = agent(folder, "once")
    if done.exists():
        print(done.read_text())
        return
    if not kept.exists():
        result = await Runner.run(writer, "go")
        kept.write_text(result.to_state().to_string())
    async with AsyncClient() as client:
        state: Any = await RunState.from_string(writer, kept.read_text())
        asked = await decide(state, client, run=run)
        result = await Runner.run(writer, state)
        await asked.report(result)
    done.write_text(str(result.final_output))
    print(result.final_output)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1] if len(sys.argv) > 1 else "."), sys.argv[2] if len(sys.argv) > 2 else "openai-python-1"))
