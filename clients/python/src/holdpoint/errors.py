"""What can go wrong. Each of these means that the gated function was not called.

What the function itself raises is passed on as it is, and is none of these.
"""

from __future__ import annotations

from typing import Any

from .wire import Hold


class HoldpointError(Exception):
    """The function was not called. `hold` is the hold as far as it is known."""

    def __init__(self, message: str, hold: Hold | None = None) -> None:
        super().__init__(message)
        self.hold = hold


class Denied(HoldpointError):
    """A person or a rule said no. `reason` is what they gave for it."""

    def __init__(self, message: str, hold: Hold, reason: str | None) -> None:
        super().__init__(message, hold)
        self.reason = reason


class Responded(HoldpointError):
    """A person answered in the function's place; `content` is what they wrote."""

    def __init__(self, message: str, hold: Hold, content: str) -> None:
        super().__init__(message, hold)
        self.content = content


class Expired(HoldpointError):
    """No one answered in time."""


class Cancelled(HoldpointError):
    """The hold was withdrawn. `reason` says why, if that was told."""

    def __init__(self, message: str, hold: Hold, reason: str | None) -> None:
        super().__init__(message, hold)
        self.reason = reason


class TimedOut(HoldpointError):
    """Your own `timeout_s` passed first. With a `key` or `run` the hold stays open and is found again."""


class Unreachable(HoldpointError):
    """The server did not answer for longer than `patience_s`."""


class Unreadable(HoldpointError):
    """The server answered with something that this client does not understand."""


class AlreadyUsed(HoldpointError):
    """The approval was used before: the call was started by another process, or before a restart.

    `outcome` is what was reported of it. `executing` means that the call was started and its end never
    reported: look at what it did before you ask again under another key.
    """

    def __init__(self, message: str, hold: Hold) -> None:
        super().__init__(message, hold)
        outcome = hold.get("outcome")
        self.outcome: str = outcome["state"] if outcome else "executing"
        self.result: Any = outcome.get("result") if outcome else None


class EditDoesNotFit(HoldpointError):
    """A person edited the arguments, and the function does not take them so."""


class Refused(HoldpointError):
    """The server refused the request: `status` and `code` are those of its problem document."""

    def __init__(self, message: str, status: int, code: str, field: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.field = field


class BadSignature(HoldpointError):
    """A callback is not from the server that has the secret, or is too old."""
