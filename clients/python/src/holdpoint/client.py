"""The two clients. Both do what `steps` says; one with threads in mind, one with asyncio."""

from __future__ import annotations

import asyncio
import os
import time
import uuid
from collections.abc import Callable
from typing import Any, Literal, TypeVar

import httpx2

from . import steps
from .errors import Unreadable
from .steps import Ask, Lost, Patience, Pause, Reply, Steps
from .wire import AskedAudience, Hold, NewCallback, NewOption

DEFAULT_SERVER = "http://127.0.0.1:7420"
PATIENCE_S = 60.0
"""How long the server may be away, a restart included, before a request gives up."""
BODY_BYTES = 16 << 20
"""More than the server ever sends; a reply beyond it is not read."""

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
Kind = Literal["approve", "choose", "fill"]
Risk = Literal["low", "medium", "high", "critical"]
Until = Literal["decided", "settled"]


def new_key() -> str:
    return f"holdpoint-{uuid.uuid4().hex}"


def new_hold(
    title: str,
    *,
    kind: Kind = "approve",
    tool: str | None = None,
    arguments: dict[str, Any] | None = None,
    options: list[NewOption] | None = None,
    multiple: bool | None = None,
    allow_other: bool | None = None,
    schema: dict[str, Any] | None = None,
    context: dict[str, Any] | None = None,
    audience: AskedAudience | None = None,
    risk: Risk | None = None,
    expires_in_s: int | None = None,
    callback: NewCallback | None = None,
) -> dict[str, Any]:
    """The body of `POST /v1/holds`, without what was not said."""
    call = None if tool is None else {"tool": tool, "arguments": arguments or {}}
    body = {
        "kind": kind,
        "title": title,
        "call": call,
        "options": options,
        "multiple": multiple,
        "allow_other": allow_other,
        "schema": schema,
        "context": context,
        "audience": audience,
        "risk": risk,
        "expires_in_s": expires_in_s,
        "callback": callback,
    }
    return {name: value for name, value in body.items() if value is not None}


class _Base:
    def __init__(self, url: str | None, token: str | None, patience_s: float) -> None:
        self.url = (url or os.environ.get("HOLDPOINT_SERVER") or DEFAULT_SERVER).rstrip("/")
        token = token or os.environ.get("HOLDPOINT_TOKEN")
        if not token:
            raise ValueError("no token: pass `token`, or set HOLDPOINT_TOKEN (`holdpoint token create` makes one)")
        self.patience_s = patience_s
        self._settings: dict[str, Any] = {
            "headers": {"authorization": f"Bearer {token}", "accept": "application/json"},
            "follow_redirects": False,
        }

    def _patience(self, timeout_s: float | None = None) -> Patience:
        return Patience(self.patience_s, timeout_s)

    def _request(self, ask: Ask) -> dict[str, Any]:
        headers = {}
        if ask.body is not None:
            headers["content-type"] = "application/json"
        if ask.key is not None:
            headers["idempotency-key"] = ask.key
        return {
            "method": ask.method,
            "url": self.url + ask.path,
            "content": ask.body,
            "headers": headers,
            "timeout": httpx2.Timeout(10.0, read=ask.read_s),
        }


def _reply(response: httpx2.Response) -> Reply:
    if len(response.content) > BODY_BYTES:
        raise Unreadable("the reply is longer than any of Holdpoint's")
    return Reply(response.status_code, {name.lower(): value for name, value in response.headers.items()}, response.content)


def _lost(error: httpx2.TransportError) -> Lost:
    return Lost(str(error) or type(error).__name__)


class Client(_Base):
    """Speaks to one server. `url` and `token` come from HOLDPOINT_SERVER and HOLDPOINT_TOKEN if not said."""

    def __init__(self, url: str | None = None, token: str | None = None, *, patience_s: float = PATIENCE_S) -> None:
        super().__init__(url, token, patience_s)
        self._http = httpx2.Client(**self._settings)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def drive(self, work: Steps[T]) -> T:
        got: Reply | Lost | None = None
        while True:
            try:
                step = work.send(got)
            except StopIteration as done:
                result: T = done.value
                return result
            if isinstance(step, Pause):
                time.sleep(step.seconds)
                got = None
                continue
            try:
                got = _reply(self._http.request(**self._request(step)))
            except httpx2.TransportError as error:
                got = _lost(error)
            except httpx2.DecodingError as error:
                raise Unreadable(f"the reply cannot be decoded: {error}") from None

    def open(self, title: str, *, key: str | None = None, **hold: Any) -> Hold:
        """Opens a hold; `new_hold` lists what it takes. Under the same `key` the same hold is found again for 24 hours."""
        return self.drive(steps.open_hold(new_hold(title, **hold), key or new_key(), self._patience()))

    def show(self, id: str) -> Hold:
        return self.drive(steps.show(id, self._patience()))

    def wait(self, id: str, *, until: Until = "decided", timeout_s: float | None = None) -> Hold:
        """Waits over faults and restarts of the server. Raises `TimedOut` after `timeout_s`."""
        return self.drive(steps.wait(id, until, self._patience(timeout_s)))

    def cancel(self, id: str, reason: str | None = None) -> Hold:
        return self.drive(steps.cancel(id, reason, self._patience(), new_key()))

    def start(self, hold: Hold) -> Hold:
        """Uses an approval, right before you make the call. Raises `AlreadyUsed` the second time."""
        return self.drive(steps.start(hold, self._patience(), new_key()))

    def report(self, id: str, succeeded: bool, result: Any = None) -> Hold:
        return self.drive(steps.report(id, succeeded, result, self._patience(), new_key()))

    def gate(self, **options: Any) -> Callable[[F], F]:
        """`gate` with this client: `@client.gate()`."""
        from .gate import gate

        return gate(client=self, **options)


class AsyncClient(_Base):
    """The same for asyncio."""

    def __init__(self, url: str | None = None, token: str | None = None, *, patience_s: float = PATIENCE_S) -> None:
        super().__init__(url, token, patience_s)
        self._http = httpx2.AsyncClient(**self._settings)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    async def drive(self, work: Steps[T]) -> T:
        got: Reply | Lost | None = None
        while True:
            try:
                step = work.send(got)
            except StopIteration as done:
                result: T = done.value
                return result
            if isinstance(step, Pause):
                await asyncio.sleep(step.seconds)
                got = None
                continue
            try:
                got = _reply(await self._http.request(**self._request(step)))
            except httpx2.TransportError as error:
                got = _lost(error)
            except httpx2.DecodingError as error:
                raise Unreadable(f"the reply cannot be decoded: {error}") from None

    async def open(self, title: str, *, key: str | None = None, **hold: Any) -> Hold:
        """As `Client.open`."""
        return await self.drive(steps.open_hold(new_hold(title, **hold), key or new_key(), self._patience()))

    async def show(self, id: str) -> Hold:
        return await self.drive(steps.show(id, self._patience()))

    async def wait(self, id: str, *, until: Until = "decided", timeout_s: float | None = None) -> Hold:
        """As `Client.wait`."""
        return await self.drive(steps.wait(id, until, self._patience(timeout_s)))

    async def cancel(self, id: str, reason: str | None = None) -> Hold:
        return await self.drive(steps.cancel(id, reason, self._patience(), new_key()))

    async def start(self, hold: Hold) -> Hold:
        """As `Client.start`."""
        return await self.drive(steps.start(hold, self._patience(), new_key()))

    async def report(self, id: str, succeeded: bool, result: Any = None) -> Hold:
        return await self.drive(steps.report(id, succeeded, result, self._patience(), new_key()))

    def gate(self, **options: Any) -> Callable[[F], F]:
        """`gate` with this client: `@client.gate()`."""
        from .gate import gate

        return gate(client=self, **options)
