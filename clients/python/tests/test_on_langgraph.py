"""LangChain's own middleware and LangGraph's own interrupts, as they are installed."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import langgraph_agent
from help import Running, fresh, raises
from holdpoint import AsyncClient, Client, Unreachable, Unreadable
from holdpoint.langgraph import adecide, decide
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Interrupt, interrupt
from killed import goes_on_after_a_restart
from server import Server


class Agent:
    """An agent that has stopped at its interrupt."""

    def __init__(self, *texts: str, mode: str = "batched") -> None:
        self.title = fresh("langgraph")
        self.home = tempfile.TemporaryDirectory(prefix="holdpoint-langgraph-")
        self.folder = Path(self.home.name)
        wanted = [langgraph_agent.call(text, f"call_{at}") for at, text in enumerate(texts or ("once",))]
        self.graph = langgraph_agent.agent(self.folder, self.title, InMemorySaver(), wanted, mode)
        self.config: Any = {"configurable": {"thread_id": self.title}}
        self.stopped = self.graph.invoke({"messages": [("user", "go")]}, self.config)

    def goes_on(self, server: Server) -> Running:
        def go() -> str:
            with Client(server.url, server.token) as client:
                turn = decide(self.stopped["__interrupt__"], client, run=self.title)
                result = self.graph.invoke(turn.command, self.config)
                turn.report(result["messages"])
                return str(result["messages"][-1].content)

        return Running(go)

    def wrote(self) -> str:
        file = self.folder / "proof.txt"
        return file.read_text() if file.exists() else ""


def decided(server: Server, answer: Callable[[Any], None], mode: str = "batched") -> tuple[Agent, str, dict[str, Any]]:
    agent = Agent(mode=mode)
    running = agent.goes_on(server)
    hold = server.person.opened(agent.title)
    assert agent.wrote() == ""
    answer(hold)
    return agent, running.end(), server.person.show(hold["id"])


def test_approved_the_tool_runs_and_its_result_is_reported(server: Server) -> None:
    for mode in ("batched", "per_call"):
        agent, said, hold = decided(server, server.person.approve, mode)
        assert (said, agent.wrote()) == ("appended once", "once\n")
        assert hold["outcome"] == {"state": "succeeded", "result": "appended once"}, mode


def test_denied_the_model_hears_the_reason(server: Server) -> None:
    for mode in ("batched", "per_call"):
        agent, said, hold = decided(server, lambda hold: server.person.deny(hold, "not today"), mode)
        assert ("not today" in said, agent.wrote(), hold["outcome"]) == (True, "", None)


def test_edited_the_tool_runs_with_the_edited_arguments(server: Server) -> None:
    for mode in ("batched", "per_call"):
        agent, _, hold = decided(server, lambda hold: server.person.approve(hold, {"text": "other"}), mode)
        assert agent.wrote() == "other\n"
        assert hold["outcome"]["state"] == "succeeded"


def test_a_person_answers_in_the_tools_place(server: Server) -> None:
    answer = {"verdict": "respond", "content": "done by hand"}
    agent, said, _ = decided(server, lambda hold: server.person.answer(hold, answer))
    assert (said, agent.wrote()) == ("done by hand", "")


def test_two_calls_of_one_turn_are_decided_one_by_one(server: Server) -> None:
    agent = Agent("one", "two")
    running = agent.goes_on(server)
    for _ in range(2):
        hold = server.person.opened(agent.title)
        if hold["call"]["arguments"]["text"] == "one":
            server.person.deny(hold, "no")
        else:
            server.person.approve(hold)
    running.end()
    assert agent.wrote() == "two\n"


def test_expired_and_without_a_server_nothing_runs(server: Server) -> None:
    agent = Agent()
    client = Client(server.url, server.token)
    turn = decide(agent.stopped["__interrupt__"], client, run=agent.title, expires_in_s=1)
    said = agent.graph.invoke(turn.command, agent.config)["messages"][-1].content
    assert ("expired" in said, agent.wrote()) == (True, "")
    other, away = Agent(), Client("http://127.0.0.1:9", server.token, patience_s=0.2)
    raises(Unreachable, lambda: decide(other.stopped["__interrupt__"], away, run=other.title))
    assert other.graph.get_state(other.config).interrupts, "it still waits"


def test_an_approval_is_used_once(server: Server) -> None:
    agent = Agent()
    running = agent.goes_on(server)
    server.person.approve(server.person.opened(agent.title))
    running.end()
    turn = decide(agent.stopped["__interrupt__"], Client(server.url, server.token), run=agent.title)
    assert turn.verdicts[0].kind == "reject" and "has run already" in turn.verdicts[0].message


def test_requests_of_agent_inbox_are_understood(server: Server) -> None:
    config = {"allow_ignore": True, "allow_respond": True, "allow_edit": True, "allow_accept": True}
    title, ran = fresh("inbox"), []

    def node(state: dict[str, Any]) -> dict[str, Any]:
        request = {"action_request": {"action": "send", "args": {"to": "ana"}}, "config": config, "description": title}
        answer = interrupt([request])[0]
        if answer["type"] in ("accept", "edit"):
            ran.append(answer["args"]["args"] if answer["args"] else {"to": "ana"})
        return {"said": answer["type"]}

    builder = StateGraph(dict)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    builder.add_edge("node", END)
    graph = builder.compile(checkpointer=InMemorySaver())
    person = server.person
    for number, (answer, expected) in enumerate(
        [
            (person.approve, "accept"),
            (lambda hold: person.approve(hold, {"to": "bob"}), "edit"),
            (lambda hold: person.deny(hold, "no"), "ignore"),
            (lambda hold: person.answer(hold, {"verdict": "respond", "content": "hm"}), "response"),
        ]
    ):
        thread: Any = {"configurable": {"thread_id": f"{title} {number}"}}
        stopped = graph.invoke({}, thread)["__interrupt__"]
        client = Client(server.url, server.token)
        running = Running(lambda: decide(stopped, client, run=thread["configurable"]["thread_id"]))
        answer(person.opened(title))
        assert graph.invoke(running.end().command, thread)["said"] == expected
    assert ran == [{"to": "ana"}, {"to": "bob"}]


def test_an_interrupt_that_is_no_request_is_not_answered(server: Server) -> None:
    client = Client(server.url, server.token)
    for value in ("What is your name?", {"question": "?"}, [{"action_request": {"action": 1, "args": {}}}]):
        raises(Unreadable, lambda value=value: decide([Interrupt(value=value, id="1")], client, run="x"))


async def test_the_async_way_decides_too(server: Server) -> None:
    import asyncio

    agent = Agent()
    async with AsyncClient(server.url, server.token) as client:
        waiting = asyncio.create_task(adecide(agent.stopped["__interrupt__"], client, run=agent.title))
        hold = await asyncio.to_thread(server.person.opened, agent.title)
        await asyncio.to_thread(server.person.approve, hold)
        turn = await waiting
        result = agent.graph.invoke(turn.command, agent.config)
        await turn.areport(result["messages"])
    assert server.person.show(hold["id"])["outcome"]["state"] == "succeeded"


def test_killed_while_it_waits_the_agent_goes_on_after_a_restart(server: Server) -> None:
    title = fresh("killed")
    goes_on_after_a_restart(server, "langgraph_agent.py", title, title)
