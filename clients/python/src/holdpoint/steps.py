"""The protocol without its input and output: what to send, when to wait, when to give up.

Each function is a generator that yields `Ask` or `Pause` and is sent the `Reply`, or `Lost`. So the
sync and the async client share every decision.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from . import json_values
from .errors import (
    AlreadyUsed,
    Cancelled,
    Denied,
    EditDoesNotFit,
    Expired,
    HoldpointError,
    Refused,
    Responded,
    TimedOut,
    Unreachable,
    Unreadable,
)
from .wire import Hold

REPLY_S = 15.0
"""How long an ordinary reply may take; a long poll takes its own time on top."""
POLL_S = 30
BACKOFF_S = (0.1, 5.0)
"""Between two attempts while the server is away: from the first to the longest pause."""
RESULT_CHARS = 10_000
"""What is reported of a result; the rest is cut, and said to be cut."""
STATES = frozenset({"pending", "approved", "denied", "answered", "expired", "cancelled"})


@dataclass(frozen=True)
class Ask:
    method: str
    path: str
    body: bytes | None = None
    key: str | None = None
    read_s: float = REPLY_S


@dataclass(frozen=True)
class Pause:
    seconds: float


@dataclass(frozen=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Lost:
    """No reply came. Whether the request arrived is unknown."""

    why: str


T = TypeVar("T")
Steps = Generator[Ask | Pause, Reply | Lost | None, T]

AWAY = frozenset({429, 502, 503, 504})
FROZEN = 423


@dataclass
class Patience:
    """How long to go on. `timeout_s` is the caller's bound for everything, `unreachable_s` the longest
    time without any reply."""

    unreachable_s: float
    timeout_s: float | None = None
    deadline: float = field(init=False)

    def __post_init__(self) -> None:
        self.deadline = time.monotonic() + self.timeout_s if self.timeout_s is not None else float("inf")

    def left(self) -> float:
        return self.deadline - time.monotonic()


def send(ask: Ask, patience: Patience, hold: Hold | None = None, also: frozenset[int] = frozenset()) -> Steps[Reply]:
    """Sends until there is a reply. Only for requests that may be repeated: reads, and those with a key."""
    away_since: float | None = None
    pause = BACKOFF_S[0]
    while True:
        got = yield ask
        if isinstance(got, Reply):
            if got.status not in AWAY | also:
                return got
            problem = problem_of(got)
            why = f"{got.status} {problem.get('detail', '')}".strip()
            asked = retry_after(got)
        else:
            assert isinstance(got, Lost)
            problem, why, asked = {}, got.why, None
        # From the first fault, and not from the beginning: a long poll may have waited in peace before.
        away_since = away_since if away_since is not None else time.monotonic()
        if patience.left() <= 0:
            raise TimedOut(f"no decision within {patience.timeout_s} s; last heard: {why}", hold)
        if time.monotonic() - away_since > patience.unreachable_s:
            if isinstance(got, Reply) and got.status in also:
                raise refused(got)
            raise Unreachable(f"the server did not answer for {patience.unreachable_s} s: {why}", hold)
        wait = max(pause * random.uniform(0.5, 1.0), asked or 0.0)
        yield Pause(max(0.0, min(wait, patience.left(), BACKOFF_S[1])))
        pause = min(pause * 2, BACKOFF_S[1])


def retry_after(reply: Reply) -> float | None:
    try:
        return float(reply.headers.get("retry-after", ""))
    except ValueError:
        return None


def problem_of(reply: Reply) -> dict[str, Any]:
    try:
        problem = json.loads(reply.body)
    except ValueError:
        return {}
    return problem if isinstance(problem, dict) else {}


def refused(reply: Reply) -> HoldpointError:
    problem = problem_of(reply)
    code = problem.get("code")
    if not isinstance(code, str) or reply.status < 400:
        return Unreadable(f"status {reply.status} without a problem that this client can read; is this a Holdpoint?")
    detail = str(problem.get("detail") or problem.get("title") or code)
    if code == "idempotency_key_reused":
        detail += "; one `key` stands for one call with one title, context and audience"
    named = problem.get("field")
    return Refused(f"{reply.status} {code}: {detail}", reply.status, code, named if isinstance(named, str) else None)


def hold_of(reply: Reply, id: str | None = None) -> Hold:
    if reply.status not in (200, 201):
        raise refused(reply)
    try:
        hold = json.loads(reply.body)
    except ValueError as error:
        raise Unreadable(f"the reply is not JSON: {error}") from None
    if (
        not isinstance(hold, dict)
        or not isinstance(hold.get("id"), str)
        or hold.get("state") not in STATES
        or (id is not None and hold["id"] != id)
    ):
        raise Unreadable("the reply is not the hold that was asked for")
    return cast(Hold, hold)


def show(id: str, patience: Patience) -> Steps[Hold]:
    reply = yield from send(Ask("GET", path(id)), patience)
    return hold_of(reply, id)


def open_hold(body: dict[str, Any], key: str, patience: Patience) -> Steps[Hold]:
    reply = yield from send(Ask("POST", "/v1/holds", json_values.encode(body), key), patience)
    hold = hold_of(reply)
    if reply.headers.get("idempotency-replayed"):
        # The kept reply is the hold as it was when it was opened.
        return (yield from show(hold["id"], patience))
    return hold


def wait(id: str, until: str, patience: Patience, hold: Hold | None = None) -> Steps[Hold]:
    while True:
        left = patience.left()
        if left <= 0:
            raise TimedOut(f"no decision within {patience.timeout_s} s", hold)
        seconds = int(max(0.0, min(POLL_S, left)))
        ask = Ask("GET", f"{path(id)}/wait?until={until}&timeout_s={seconds}", read_s=REPLY_S + seconds)
        reply = yield from send(ask, patience, hold)
        if reply.status != 204:
            return hold_of(reply, id)
        if seconds == 0:
            yield Pause(max(0.0, min(0.2, patience.left())))


def cancel(id: str, reason: str | None, patience: Patience, key: str) -> Steps[Hold]:
    body = json_values.encode({} if reason is None else {"reason": reason})
    reply = yield from send(Ask("POST", f"{path(id)}/cancel", body, key), patience)
    return hold_of(reply, id)


def start(hold: Hold, patience: Patience, key: str) -> Steps[Hold]:
    """Uses the approval. The key belongs to this attempt alone, so that a second attempt, in this process or
    another, is refused. While all is frozen, nothing starts."""
    id = hold["id"]
    ask = Ask("POST", f"{path(id)}/outcome", json_values.encode({"state": "executing"}), key)
    reply = yield from send(ask, patience, hold, also=frozenset({FROZEN}))
    if reply.status == 409:
        raise already_used((yield from show(id, patience)))
    started = hold_of(reply, id)
    if started["state"] != "approved" or started["digest"] != hold["digest"]:
        raise Unreadable("the hold changed after its approval", started)
    return started


def already_used(hold: Hold) -> AlreadyUsed:
    outcome = hold["outcome"]
    state = outcome["state"] if outcome else "executing"
    if state == "executing":
        told = "the call was started under this approval, and its end was not reported: look at what it did"
    else:
        told = f"the call has run under this approval, and {state}"
    return AlreadyUsed(told, hold)


def report(id: str, succeeded: bool, result: Any, patience: Patience, key: str) -> Steps[Hold]:
    body: dict[str, Any] = {"state": "succeeded" if succeeded else "failed"}
    if result is not None:
        body["result"] = result
    ask = Ask("POST", f"{path(id)}/outcome", json_values.encode(body), key)
    reply = yield from send(ask, patience)
    return hold_of(reply, id)


def path(id: str) -> str:
    if not id.startswith("hold_") or not id.replace("_", "").isalnum() or not id.isascii():
        raise ValueError(f"{id!r} is not the id of a hold")
    return f"/v1/holds/{id}"


def must_be_approved(hold: Hold) -> None:
    """Everything but an approval ends in an error of its own."""
    state, decision = hold["state"], hold.get("decision")
    if state == "approved":
        return
    title = hold.get("title", "the call")
    if state == "denied":
        reason = decision.get("reason") if decision else None
        rule = decision.get("rule") if decision else None
        by = (decision.get("by") if decision else None) or (f"the rule {rule!r}" if rule else "a rule")
        said = f": {reason}" if reason else ""
        raise Denied(f"{title}: denied by {by}{said}", hold, reason if isinstance(reason, str) else None)
    if state == "expired":
        raise Expired(f"{title}: expired, no one answered in time", hold)
    if state == "cancelled":
        withdrawn = hold.get("cancelled")
        reason = withdrawn.get("reason") if withdrawn else None
        raise Cancelled(f"{title}: cancelled" + (f": {reason}" if reason else ""), hold, reason)
    if state == "answered" and decision and decision.get("verdict") == "respond":
        raise Responded(f"{title}: answered in its place", hold, str(decision.get("content") or ""))
    raise Unreadable(f"{title}: the state {state!r} is no approval", hold)


def approved_arguments(hold: Hold, tool: str, sent: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """The arguments of the approved call, and whether a person edited them.

    Where nobody edited them they must be those that were sent; anything else is not trusted.
    """
    call = hold["call"]
    if call is None or call["tool"] != tool:
        raise Unreadable("the approved hold is about another call", hold)
    approved = call["arguments"]
    if not isinstance(approved, dict):
        raise Unreadable("the approved arguments are no object", hold)
    if json_values.same_but_secrets(sent, approved):
        return json_values.copy(sent), False
    if not any(answer.get("arguments") is not None for answer in hold["answers"]):
        raise Unreadable("the approved arguments are not those that were sent, and nobody edited them", hold)
    if json_values.holds_secret(approved):
        raise EditDoesNotFit("the arguments were edited and hold a secret, which is not shown to programs", hold)
    return json_values.copy(approved), True


def reportable(result: Any) -> Any:
    """A result as it is reported: JSON where it is that and short, else text, cut where it is long."""
    try:
        json_values.must_be_json(result, "the result")
        text = json_values.encode(result).decode()
    except (TypeError, ValueError):
        text = repr(result)
        result = text
    if len(text) <= RESULT_CHARS:
        return result
    return text[:RESULT_CHARS] + f"… ({len(text)} characters, cut)"
