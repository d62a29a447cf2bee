"""OpenAI Agents: tools with `needs_approval=True` become holds, and the run goes on with the decisions.

    result = await Runner.run(agent, question)
    while result.interruptions:
        state = result.to_state()
        asked = await decide(state, client, run=conversation_id)
        result = await Runner.run(agent, state)
        await asked.report(result)

Keep `state.to_string()` before you call `decide`: a process that died while it waited makes the state again with
`RunState.from_string(agent, text)` and calls `decide` with the same `run`. An approval here carries no other arguments than the
model's, so an edit is told to the model as a denial that names the wanted arguments, and its next call is asked about again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from agents import RunResult, RunState, ToolApprovalItem

from . import calls
from .calls import Call, Options, Verdict
from .client import AsyncClient
from .errors import Unreadable

TAKES = frozenset({"approve", "reject"})


@dataclass(frozen=True)
class Turn:
    verdicts: list[Verdict]
    client: AsyncClient
    run: str

    async def report(self, result: RunResult) -> None:
        """Tells the server what the approved calls did, as the run's items say."""
        told: dict[str, tuple[bool, Any]] = {}
        for item in result.new_items:
            raw: Any = getattr(item, "raw_item", None)
            if item.type == "tool_call_output_item":
                id = raw.get("call_id") if isinstance(raw, dict) else getattr(raw, "call_id", None)
                told[f"{self.run}/{id}"] = (True, item.output)
        await self.client.drive(calls.outcomes(self.verdicts, told, self.client.patience_s))


async def decide(state: RunState[Any, Any], client: AsyncClient, *, run: str, **options: Any) -> Turn:
    """Waits for the decision of every interruption and writes it into the state. `run` names the conversation;
    `options` are those of `calls.Options`."""
    items = state.get_interruptions()
    wanted = [_call(item, run) for item in items]
    verdicts = await client.drive(calls.decide(wanted, Options(**options), client.patience_s))
    for item, verdict in zip(items, verdicts, strict=True):
        if verdict.kind == "approve":
            state.approve(item)
        else:
            state.reject(item, rejection_message=verdict.message)
    return Turn(verdicts, client, run)


def _call(item: ToolApprovalItem, run: str) -> Call:
    raw: Any = item.raw_item
    id = raw.get("call_id") if isinstance(raw, dict) else getattr(raw, "call_id", None)
    try:
        arguments = json.loads(item.arguments or "{}")
    except ValueError:
        arguments = None
    if not isinstance(id, str) or not item.name or not isinstance(arguments, dict):
        raise Unreadable("this interruption is no call of a function with an id and an object of arguments")
    return Call(f"{run}/{id}", item.qualified_name or item.name, arguments, None, TAKES)
