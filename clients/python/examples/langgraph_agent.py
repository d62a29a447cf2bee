"""A LangChain agent that stops before its tool runs: `langgraph_agent.py [FOLDER] [TITLE]`.

The model is scripted, so no key is needed. Start `holdpoint demo`, set the two variables that it prints for a program, and
answer on the page. Kill it while it waits and start it again: its checkpoints are on disk, and it goes on where it was."""

import sys
from pathlib import Path
from typing import Any

from holdpoint import Client
from holdpoint.langgraph import decide
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.sqlite import SqliteSaver


def agent(folder: Path, title: str, checkpoints: Any, calls: list[dict[str, Any]], mode: str = "batched") -> Any:
    @tool
    def append(text: str) -> str:
        """Appends a line to the file."""
        with (folder / "proof.txt").open("a") as file:
            file.write(text + "\n")
        return f"appended {text}"

    class Model(GenericFakeChatModel):
        """Asks for the calls, and then says what came of them."""

        def bind_tools(self, tools: Any, **_: Any) -> "Model":
            return self

        def _generate(self, messages: list[Any], *_: Any, **__: Any) -> ChatResult:
            results = [message.content for message in messages if message.type == "tool"]
            said = AIMessage(content=" | ".join(results), tool_calls=[] if results else calls)
            return ChatResult(generations=[ChatGeneration(message=said)])

    gate: Any = HumanInTheLoopMiddleware(
        {"append": {"allowed_decisions": ["approve", "edit", "reject", "respond"], "description": title}},
        interrupt_mode=mode,  # type: ignore[arg-type]
    )
    return create_agent(Model(messages=iter([])), [append], middleware=[gate], checkpointer=checkpoints)


def call(text: str, id: str = "call_1") -> dict[str, Any]:
    return {"name": "append", "args": {"text": text}, "id": id, "type": "tool_call"}


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    title = sys.argv[2] if len(sys.argv) > 2 else "Append a line"
    config: Any = {"configurable": {"thread_id": title}}
    with Client() as client, SqliteSaver.from_conn_string(str(folder / "checkpoints.db")) as checkpoints:
        graph = agent(folder, title, checkpoints, [call("once")])
        state = graph.get_state(config)
        interrupts = state.interrupts
        if not state.created_at:
            result = graph.invoke({"messages": [("user", "go")]}, config)
            interrupts = result["__interrupt__"]
        if interrupts:
            turn = decide(interrupts, client, run=title)
            result = graph.invoke(turn.command, config)
            turn.report(result["messages"])
        print(graph.get_state(config).values["messages"][-1].content)


if __name__ == "__main__":
    main()
