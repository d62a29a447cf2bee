"""Pydantic AI: tools with `requires_approval=True` become holds, and the run goes on with the decisions.

    result = await agent.run(question)
    while isinstance(result.output, DeferredToolRequests):
        asked = await decide(result.output, client, run=conversation_id)
        result = await agent.run(message_history=result.all_messages(), deferred_tool_results=asked.results)
        await asked.report(result.new_messages())

Keep the messages (`result.all_messages_json()`) before you call `decide`: a process that died while it waited runs the agent with
them again, gets the same requests, and calls `decide` with the same `run`. Calls that are deferred for another reason than an
approval are yours to answer: pass their results as `others`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pydantic_ai import DeferredToolRequests, DeferredToolResults, ToolApproved, ToolDenied
from pydantic_ai.messages import ModelMessage, ToolCallPart

from . import calls
from .calls import Call, Options, Verdict
from .client import AsyncClient

TAKES = frozenset({"approve", "edit", "reject"})


@dataclass(frozen=True)
class Turn:
    results: DeferredToolResults
    verdicts: list[Verdict]
    client: AsyncClient
    run: str

    async def report(self, messages: Iterable[ModelMessage]) -> None:
        """Tells the server what the approved calls did, as the messages say."""
        told: dict[str, tuple[bool, Any]] = {}
        for message in messages:
            for part in message.parts:
                if part.part_kind == "tool-return":
                    told[f"{self.run}/{part.tool_call_id}"] = (part.outcome == "success", part.content)
                elif part.part_kind == "retry-prompt":
                    told[f"{self.run}/{part.tool_call_id}"] = (False, str(part.content))
        await self.client.drive(calls.outcomes(self.verdicts, told, self.client.patience_s))


async def decide(
    requests: DeferredToolRequests,
    client: AsyncClient,
    *,
    run: str,
    others: dict[str, Any] | None = None,
    **options: Any,
) -> Turn:
    """Waits for the decision of every approval. `run` names the conversation; `options` are those of `calls.Options`."""
    wanted = [_call(part, run) for part in requests.approvals]
    verdicts = await client.drive(calls.decide(wanted, Options(**options), client.patience_s))
    results = DeferredToolResults(calls=dict(others or {}))
    for part, verdict in zip(requests.approvals, verdicts, strict=True):
        if verdict.kind == "approve":
            results.approvals[part.tool_call_id] = ToolApproved()
        elif verdict.kind == "edit":
            results.approvals[part.tool_call_id] = ToolApproved(override_args=verdict.arguments)
        else:
            results.approvals[part.tool_call_id] = ToolDenied(verdict.message)
    return Turn(results, verdicts, client, run)


def _call(part: ToolCallPart, run: str) -> Call:
    return Call(f"{run}/{part.tool_call_id}", part.tool_name, part.args_as_dict(), None, TAKES)
