"""LangChain and LangGraph: an `interrupt` that waits for a person becomes a hold, and its decision the resume.

    result = agent.invoke(question, config)
    while result.get("__interrupt__"):
        asked = decide(result["__interrupt__"], client, run=thread_id)
        result = agent.invoke(asked.command, config)
        asked.report(result["messages"])

Three shapes are understood: the requests of `HumanInTheLoopMiddleware`, batched or one per call, and the older ones of
Agent Inbox. Any other interrupt is refused: it is not ours to answer. With a checkpointer on disk, a process that died while
it waited reads the interrupts from `agent.get_state(config)` and calls `decide` again with the same `run`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from langgraph.types import Command, Interrupt

from . import calls
from .calls import Call, Options, Verdict
from .client import AsyncClient, Client
from .errors import Unreadable


@dataclass(frozen=True)
class Turn:
    """The decisions of all interrupts of one turn."""

    command: Command[Any]
    verdicts: list[Verdict]
    client: Client | AsyncClient

    def report(self, messages: Iterable[Any]) -> None:
        """Tells the server what the approved calls did, as their tool messages say."""
        assert isinstance(self.client, Client), "await `areport`"
        self.client.drive(calls.outcomes(self.verdicts, self._results(messages), self.client.patience_s))

    async def areport(self, messages: Iterable[Any]) -> None:
        assert isinstance(self.client, AsyncClient), "call `report`"
        await self.client.drive(calls.outcomes(self.verdicts, self._results(messages), self.client.patience_s))

    def _results(self, messages: Iterable[Any]) -> dict[str, tuple[bool, Any]]:
        """The tool messages of this turn, in the order of its calls: batched requests carry no id of the call."""
        said = [message for message in messages if getattr(message, "type", None) == "tool"]
        approved = [verdict for verdict in self.verdicts if verdict.kind in ("approve", "edit")]
        results = {}
        for verdict in reversed(approved):
            while said:
                message = said.pop()
                if message.name == verdict.call.tool:
                    results[verdict.call.key] = (message.status != "error", message.content)
                    break
        return results


def decide(interrupts: Sequence[Interrupt], client: Client, *, run: str, **options: Any) -> Turn:
    """Waits for the decisions of every interrupt. `run` names the thread; `options` are those of `calls.Options`."""
    asked = [_Asked(interrupt, run) for interrupt in interrupts]
    every = [call for one in asked for call in one.calls]
    verdicts = client.drive(calls.decide(every, Options(**options), client.patience_s))
    return _turn(asked, verdicts, client)


async def adecide(interrupts: Sequence[Interrupt], client: AsyncClient, *, run: str, **options: Any) -> Turn:
    """The same for asyncio."""
    asked = [_Asked(interrupt, run) for interrupt in interrupts]
    every = [call for one in asked for call in one.calls]
    verdicts = await client.drive(calls.decide(every, Options(**options), client.patience_s))
    return _turn(asked, verdicts, client)


def _turn(asked: list[_Asked], verdicts: list[Verdict], client: Client | AsyncClient) -> Turn:
    left = iter(verdicts)
    resume = {one.id: one.resume([next(left) for _ in one.calls]) for one in asked}
    return Turn(Command(resume=resume), verdicts, client)


class _Asked:
    """One interrupt: its calls, and how its answer is written."""

    def __init__(self, interrupt: Interrupt, run: str) -> None:
        self.id = interrupt.id
        value = interrupt.value
        self.form: str
        self.allowed: list[set[str]] = []
        found: list[tuple[Any, Any, Any]] = []
        if isinstance(value, dict) and "action_requests" in value:
            self.form = "batched"
            by_name = {config["action_name"]: set(config["allowed_decisions"]) for config in value["review_configs"]}
            for request in value["action_requests"]:
                found.append((request["name"], request["args"], request.get("description")))
                self.allowed.append(by_name.get(request["name"], set()))
        elif isinstance(value, dict) and value.get("type") == "tool_approval":
            self.form = "single"
            found.append((value["name"], value["args"], value.get("description")))
            # The answer is checked by LangGraph against what the tool allows.
            self.allowed.append({"approve", "edit", "reject", "respond"})
        else:
            self.form = "inbox"
            requests = value if isinstance(value, list) else [value]
            for request in requests:
                if not isinstance(request, dict) or "action_request" not in request:
                    raise Unreadable("this interrupt is no request for approval that this adapter knows")
                action, config = request["action_request"], request.get("config") or {}
                found.append((action["action"], action["args"], request.get("description")))
                names = {"approve": "accept", "edit": "edit", "reject": "ignore", "respond": "respond"}
                self.allowed.append({ours for ours, theirs in names.items() if config.get(f"allow_{theirs}")})
        self.calls = []
        for at, (tool, arguments, description) in enumerate(found):
            if not isinstance(tool, str) or not isinstance(arguments, dict):
                raise Unreadable("this interrupt does not name a tool and its arguments")
            first = str(description or "").strip().split("\n")[0]
            key = f"{run}/{self.id}/{at}"
            self.calls.append(Call(key, tool, arguments, first or None, frozenset(self.allowed[at])))

    def resume(self, verdicts: list[Verdict]) -> Any:
        answers = [self._answer(verdict, allowed) for verdict, allowed in zip(verdicts, self.allowed, strict=True)]
        if self.form == "batched":
            return {"decisions": answers}
        return answers[0] if self.form == "single" else answers

    def _answer(self, verdict: Verdict, allowed: set[str]) -> dict[str, Any]:
        kind, message = verdict.kind, verdict.message
        if kind == "reject" and kind not in allowed and "respond" in allowed:
            kind = "respond"
        if kind not in allowed:
            raise Unreadable(f"the graph takes no {kind!r} for {verdict.call.tool}; nothing was resumed", verdict.hold)
        action = {"action": verdict.call.tool, "args": verdict.arguments}
        if self.form == "inbox":
            if kind == "approve":
                return {"type": "accept", "args": None}
            if kind == "edit":
                return {"type": "edit", "args": action}
            return {"type": "response", "args": message} if kind == "respond" else {"type": "ignore", "args": None}
        if kind == "approve":
            return {"type": "approve"}
        if kind == "edit":
            return {"type": "edit", "edited_action": {"name": verdict.call.tool, "args": verdict.arguments}}
        return cast("dict[str, Any]", {"type": kind, "message": message})
