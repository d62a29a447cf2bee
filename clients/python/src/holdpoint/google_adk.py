"""Google ADK: tools that ask for a confirmation become holds, and the session goes on with the decisions.

    agent = LlmAgent(…, tools=[HeldTool(refund)])
    events = [event async for event in runner.run_async(user_id=…, session_id=…, new_message=question)]
    while (asked := await decide(events, client, run=session_id)).message:
        events = [event async for event in runner.run_async(user_id=…, session_id=…, new_message=asked.message)]
        await asked.report(events)

With a session service that keeps its sessions, a process that died while it waited calls `decide` with the events of its session
and the same `run`. Tools of ADK's own with `require_confirmation=True` are held as well, but take a yes or a no and nothing else: the
model does not hear the reason, and arguments that a person edited count as a no.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from google.adk.events import Event
from google.adk.tools.function_tool import FunctionTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from . import calls
from .calls import Call, Options, Verdict
from .client import AsyncClient
from .errors import Unreadable

CONFIRMATION = "adk_request_confirmation"
_PLAIN = frozenset({"approve", "reject"})
_HELD = frozenset({"approve", "edit", "reject"})
_MARK = {"held_by": "holdpoint"}
"""Says in a request that its tool reads what a decision carries. Without it the tool would run with its first arguments."""


class HeldTool(FunctionTool):
    """A function that is called only after a confirmation, with the arguments that were approved.

    It asks by itself: with `require_confirmation`, ADK would read the decision in its place, and leave out the reason."""

    def __init__(self, func: Callable[..., Any]) -> None:
        super().__init__(func)

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        confirmation = tool_context.tool_confirmation
        if confirmation is None:
            tool_context.request_confirmation(hint=f"{self.name} waits for a person", payload=_MARK)
            tool_context.actions.skip_summarization = True
            return {"error": "This call waits for a person."}
        decision = confirmation.payload if isinstance(confirmation.payload, dict) else {}
        if not confirmation.confirmed:
            return {"error": decision.get("message") or "This call was denied."}
        return await super().run_async(args=decision.get("arguments", args), tool_context=tool_context)


@dataclass(frozen=True)
class Turn:
    message: types.Content | None
    """The next message of the session, with all decisions; none if nothing waits."""
    verdicts: list[Verdict]
    client: AsyncClient
    run: str

    async def report(self, events: Iterable[Event]) -> None:
        """Tells the server what the approved calls did, as the events say."""
        told: dict[str, tuple[bool, Any]] = {}
        for event in events:
            for response in event.get_function_responses():
                said = response.response or {}
                result = said["result"] if set(said) == {"result"} else said
                told[f"{self.run}/{response.id}"] = ("error" not in said, result)
        await self.client.drive(calls.outcomes(self.verdicts, told, self.client.patience_s))


async def decide(events: Iterable[Event], client: AsyncClient, *, run: str, **options: Any) -> Turn:
    """Waits for the decision of every confirmation that is still open. `run` names the session; `options` are those of
    `calls.Options`."""
    wanted = {request.id: _call(request, run) for request in _open(events)}
    verdicts = await client.drive(calls.decide(list(wanted.values()), Options(**options), client.patience_s))
    parts = []
    for request, verdict in zip(wanted, verdicts, strict=True):
        confirmation = types.FunctionResponse(id=request, name=CONFIRMATION, response=_answer(verdict))
        parts.append(types.Part(function_response=confirmation))
    return Turn(types.Content(role="user", parts=parts) if parts else None, verdicts, client, run)


def _answer(verdict: Verdict) -> dict[str, Any]:
    if verdict.kind == "approve":
        return {"confirmed": True}
    if verdict.kind == "edit":
        return {"confirmed": True, "payload": {"arguments": verdict.arguments}}
    return {"confirmed": False, "payload": {"message": verdict.message}}


def _open(events: Iterable[Event]) -> list[types.FunctionCall]:
    asked: dict[str | None, types.FunctionCall] = {}
    for event in events:
        for call in event.get_function_calls():
            if call.name == CONFIRMATION:
                asked[call.id] = call
        for response in event.get_function_responses():
            if response.name == CONFIRMATION:
                asked.pop(response.id, None)
    return list(asked.values())


def _call(request: types.FunctionCall, run: str) -> Call:
    original = (request.args or {}).get("originalFunctionCall")
    if not isinstance(original, dict) or not original.get("id") or not original.get("name"):
        raise Unreadable(f"the confirmation {request.id} does not say which call it is about; nothing was asked")
    confirmation = (request.args or {}).get("toolConfirmation")
    takes = _HELD if isinstance(confirmation, dict) and confirmation.get("payload") == _MARK else _PLAIN
    return Call(f"{run}/{original['id']}", original["name"], original.get("args") or {}, None, takes)
