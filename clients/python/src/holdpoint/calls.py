"""Several tool calls of one turn of an agent: each gets its hold, all are waited for, each approval is used once.

The adapters translate between this and their framework. The framework makes the calls itself, so an approval is used
when the verdicts are handed over; `outcomes` reports afterwards what the calls did.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from . import json_values, steps
from .client import Risk, new_hold, new_key
from .errors import AlreadyUsed, Cancelled, Denied, Expired, HoldpointError, Responded, Unreadable
from .steps import Patience, Steps
from .wire import AskedAudience, Hold


@dataclass(frozen=True)
class Call:
    """One call that waits. `key` is the same after a restart, and another for every other call."""

    key: str
    tool: str
    arguments: dict[str, Any]
    title: str | None = None
    takes: frozenset[str] = frozenset({"approve", "edit", "reject", "respond"})
    """What the framework lets a person decide about it."""


@dataclass(frozen=True)
class Options:
    """What every hold of a turn has in common."""

    context: dict[str, Any] | None = None
    audience: AskedAudience | None = None
    risk: Risk | None = None
    expires_in_s: int | None = None
    timeout_s: float | None = None


@dataclass(frozen=True)
class Verdict:
    call: Call
    hold: Hold
    kind: Literal["approve", "edit", "reject", "respond"]
    arguments: dict[str, Any]
    message: str


def decide(calls: list[Call], options: Options, unreachable_s: float) -> Steps[list[Verdict]]:
    """Opens every hold before it waits for the first, so that people see all of them at once. No approval is used
    before all are decided; if the wait ends in an error, none is, and the same turn can be asked again."""
    patience = Patience(unreachable_s, options.timeout_s)
    for call in calls:
        json_values.must_be_json(call.arguments, f"the arguments of {call.tool}")
    holds: list[Hold] = []
    for call in calls:
        body = new_hold(
            (call.title or f"Call {call.tool}")[:500],
            tool=call.tool,
            arguments=call.arguments,
            context=options.context,
            audience=options.audience,
            risk=options.risk,
            expires_in_s=options.expires_in_s,
        )
        key = json_values.derived_key(call.tool, call.arguments, call.key)
        holds.append((yield from steps.open_hold(body, key, patience)))
    decided: list[Hold] = []
    for hold in holds:
        if hold["state"] == "pending":
            hold = yield from steps.wait(hold["id"], "decided", patience, hold)
        decided.append(hold)
    verdicts: list[Verdict] = []
    for call, hold in zip(calls, decided, strict=True):
        verdicts.append((yield from verdict(call, hold, unreachable_s)))
    return verdicts


def verdict(call: Call, hold: Hold, unreachable_s: float) -> Steps[Verdict]:
    def no(message: str) -> Verdict:
        return Verdict(call, hold, "reject", call.arguments, message)

    try:
        steps.must_be_approved(hold)
    except Responded as answered:
        if "respond" in call.takes:
            return Verdict(call, hold, "respond", call.arguments, answered.content)
        return no(f"A person answered in the tool's place: {answered.content}")
    except Denied as denied:
        return no(denied.reason or "denied")
    except (Expired, Cancelled) as ended:
        return no(str(ended))
    arguments, edited = steps.approved_arguments(hold, call.tool, call.arguments)
    if edited and "edit" not in call.takes:
        wanted = json_values.encode(arguments).decode()
        return no(f"A person wants other arguments. Call {call.tool} again with exactly these: {wanted}")
    if not edited and "approve" not in call.takes:
        raise Unreadable(f"the framework takes no approval of {call.tool}; nothing was resumed", hold)
    try:
        yield from steps.start(hold, Patience(unreachable_s), new_key())
    except AlreadyUsed as used:
        if used.outcome == "succeeded":
            return no(f"This call has run already. Its result: {used.result}")
        return no(f"This call was made before, and is not made again: {used}")
    return Verdict(call, hold, "edit" if edited else "approve", arguments, "")


def outcomes(verdicts: list[Verdict], results: Mapping[str, tuple[bool, Any]], unreachable_s: float) -> Steps[None]:
    """Reports what the approved calls did, by the keys of the calls. A call without a result stays `executing`."""
    for verdict in verdicts:
        if verdict.kind not in ("approve", "edit") or verdict.call.key not in results:
            continue
        succeeded, result = results[verdict.call.key]
        with contextlib.suppress(HoldpointError):
            told = steps.reportable(result)
            yield from steps.report(verdict.hold["id"], succeeded, told, Patience(unreachable_s), new_key())
