"""One line in front of a function: it is called once, with exactly the arguments that a person approved."""

from __future__ import annotations

import contextlib
import functools
import inspect
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar, overload

from . import json_values, steps
from .client import AsyncClient, Client, Risk, new_hold, new_key
from .errors import HoldpointError, TimedOut
from .fit import Parameters
from .steps import Patience, Steps
from .wire import AskedAudience, Hold

log = logging.getLogger("holdpoint")
F = TypeVar("F", bound=Callable[..., Any])
Arguments = dict[str, Any]
Text = str | Callable[[Arguments], str]
WITHDRAW_S = 3.0
"""How long withdrawing a hold may take, of which nobody waits for the answer any more."""


@dataclass
class Request:
    """One call that waits for its approval."""

    tool: str
    arguments: Arguments
    title: str
    key: str | None = None
    run: str | None = None
    context: dict[str, Any] | None = None
    audience: AskedAudience | None = None
    risk: Risk | None = None
    expires_in_s: int | None = None
    timeout_s: float | None = None
    opened: Hold | None = field(default=None, init=False)

    def found_again(self) -> bool:
        """Whether a restart finds the same hold."""
        return self.key is not None or self.run is not None

    def steps(self, unreachable_s: float) -> Steps[Hold]:
        """Opens the hold, or finds it again, and waits until it is decided."""
        key = self.key
        if key is None:
            key = new_key() if self.run is None else json_values.derived_key(self.tool, self.arguments, self.run)
        body = new_hold(
            self.title,
            tool=self.tool,
            arguments=self.arguments,
            context=self.context,
            audience=self.audience,
            risk=self.risk,
            expires_in_s=self.expires_in_s,
        )
        patience = Patience(unreachable_s, self.timeout_s)
        self.opened = yield from steps.open_hold(body, key, patience)
        try:
            if self.opened["state"] == "pending":
                self.opened = yield from steps.wait(self.opened["id"], "decided", patience, self.opened)
        except TimedOut:
            if not self.found_again():
                yield from self.withdraw("its program no longer waits")
            raise
        return self.opened

    def withdraw(self, reason: str) -> Steps[None]:
        """So that no person is asked for nothing. It is decided by now, or stays open until it expires, if
        this fails; either way the function is not called."""
        if self.opened is not None and self.opened["state"] == "pending":
            with contextlib.suppress(HoldpointError):
                yield from steps.cancel(self.opened["id"], reason, Patience(WITHDRAW_S, WITHDRAW_S), new_key())


@overload
def gate(function: F, /) -> F: ...
@overload
def gate(
    function: None = None,
    /,
    *,
    tool: str | None = None,
    title: Text | None = None,
    key: Text | None = None,
    run: str | Callable[[], str] | None = None,
    client: Client | AsyncClient | None = None,
    context: dict[str, Any] | Callable[[Arguments], dict[str, Any]] | None = None,
    audience: AskedAudience | None = None,
    risk: Risk | None = None,
    expires_in_s: int | None = None,
    timeout_s: float | None = None,
    check: Callable[[Arguments], object] | None = None,
    leave_out: tuple[str, ...] = (),
    report_result: bool = True,
) -> Callable[[F], F]: ...


def gate(
    function: Callable[..., Any] | None = None,
    /,
    *,
    tool: str | None = None,
    title: Text | None = None,
    key: Text | None = None,
    run: str | Callable[[], str] | None = None,
    client: Client | AsyncClient | None = None,
    context: dict[str, Any] | Callable[[Arguments], dict[str, Any]] | None = None,
    audience: AskedAudience | None = None,
    risk: Risk | None = None,
    expires_in_s: int | None = None,
    timeout_s: float | None = None,
    check: Callable[[Arguments], object] | None = None,
    leave_out: tuple[str, ...] = (),
    report_result: bool = True,
) -> Any:
    """The function waits for a person's approval of its arguments before each call.

    `key` names this call (the id of a tool call is a good one), or `run` names what it belongs to: with
    either, a process that was restarted finds its hold and its decision again. `check` looks at arguments
    that a person edited and raises, or returns False, if they do not fit. Whatever is not an approval
    raises a `HoldpointError`, and the function is not called.
    """
    if function is None:
        return functools.partial(
            gate, tool=tool, title=title, key=key, run=run, client=client, context=context, audience=audience,
            risk=risk, expires_in_s=expires_in_s, timeout_s=timeout_s, check=check, leave_out=leave_out,
            report_result=report_result,
        )  # fmt: skip
    parameters = Parameters(function, leave_out)
    name = tool or function.__name__

    def request(arguments: Arguments) -> Request:
        told = title(arguments) if callable(title) else title
        return Request(
            tool=name,
            arguments=arguments,
            title=told or f"Call {name}",
            key=key(arguments) if callable(key) else key,
            run=run() if callable(run) else run,
            context=context(arguments) if callable(context) else context,
            audience=audience,
            risk=risk,
            expires_in_s=expires_in_s,
            timeout_s=timeout_s,
        )

    def clear(asked: Request, unreachable_s: float, left: Arguments) -> Steps[inspect.BoundArguments]:
        """To the last moment before the call: the approval is used when this returns."""
        hold = yield from asked.steps(unreachable_s)
        steps.must_be_approved(hold)
        approved, edited = steps.approved_arguments(hold, name, asked.arguments)
        if edited:
            parameters.must_fit(approved, asked.arguments, hold)
            checked(check, approved, hold)
        bound = parameters.bound(approved, left)
        yield from steps.start(hold, Patience(unreachable_s), new_key())
        return bound

    def outcome(asked: Request, succeeded: bool, result: Any, unreachable_s: float) -> Steps[Any]:
        """The call was made, so nothing that goes wrong here may look as if it was not."""
        assert asked.opened is not None
        told = steps.reportable(result) if report_result else None
        try:
            yield from steps.report(asked.opened["id"], succeeded, told, Patience(unreachable_s), new_key())
        except HoldpointError as error:
            log.warning("%s ran, and its outcome could not be reported: %s", name, error)

    if inspect.iscoroutinefunction(function):
        if isinstance(client, Client):
            raise TypeError(f"{name} is async: give it an AsyncClient")

        @functools.wraps(function)
        async def gated_async(*args: Any, **kwargs: Any) -> Any:
            arguments, left = parameters.as_json(args, kwargs)
            asked = request(arguments)
            async with _async_client(client) as speaker:
                try:
                    bound = await speaker.drive(clear(asked, speaker.patience_s, left))
                except HoldpointError:
                    raise
                except BaseException:
                    if not asked.found_again():
                        await speaker.drive(asked.withdraw("its program was interrupted"))
                    raise
                try:
                    result = await function(*bound.args, **bound.kwargs)
                except Exception as error:
                    await speaker.drive(outcome(asked, False, _said(error), speaker.patience_s))
                    raise
                await speaker.drive(outcome(asked, True, result, speaker.patience_s))
                return result

        return gated_async

    if isinstance(client, AsyncClient):
        raise TypeError(f"{name} is not async: give it a Client")

    @functools.wraps(function)
    def gated(*args: Any, **kwargs: Any) -> Any:
        arguments, left = parameters.as_json(args, kwargs)
        asked = request(arguments)
        with _client(client) as speaker:
            try:
                bound = speaker.drive(clear(asked, speaker.patience_s, left))
            except HoldpointError:
                raise
            except BaseException:
                if not asked.found_again():
                    speaker.drive(asked.withdraw("its program was interrupted"))
                raise
            try:
                result = function(*bound.args, **bound.kwargs)
            except Exception as error:
                speaker.drive(outcome(asked, False, _said(error), speaker.patience_s))
                raise
            speaker.drive(outcome(asked, True, result, speaker.patience_s))
            return result

    return gated


def checked(check: Callable[[Arguments], object] | None, edited: Arguments, hold: Hold) -> None:
    from .errors import EditDoesNotFit

    if check is None:
        return
    try:
        fits = check(json_values.copy(edited))
    except Exception as error:
        raise EditDoesNotFit(f"the arguments were edited and do not fit: {error}", hold) from error
    if fits is False:
        raise EditDoesNotFit("the arguments were edited and do not fit", hold)


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


@contextlib.contextmanager
def _client(given: Client | None) -> Iterator[Client]:
    if given is not None:
        yield given
        return
    with Client() as own:
        yield own


@contextlib.asynccontextmanager
async def _async_client(given: AsyncClient | None) -> AsyncIterator[AsyncClient]:
    if given is not None:
        yield given
        return
    async with AsyncClient() as own:
        yield own
