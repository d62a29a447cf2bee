"""A function's parameters as a JSON object, and back: also after a person has edited the object."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable
from typing import Any, Literal, Union

from . import json_values
from .errors import EditDoesNotFit
from .wire import Hold


class Parameters:
    """What a function takes. Parameters in `leave_out` are no part of what is approved (a connection, `self`)."""

    def __init__(self, function: Callable[..., Any], leave_out: tuple[str, ...] = ()) -> None:
        self.signature = inspect.signature(function)
        names = list(self.signature.parameters)
        unknown = [name for name in leave_out if name not in names]
        if unknown:
            raise ValueError(f"`leave_out` names {unknown[0]!r}, which {function.__qualname__} does not take")
        self.leave_out = set(leave_out) | ({names[0]} if names[:1] in (["self"], ["cls"]) else set())
        try:
            self.hints = typing.get_type_hints(function)
        except (NameError, TypeError):
            self.hints = {}

    def as_json(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The arguments to approve, defaults included, and those that are left out."""
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        shown: dict[str, Any] = {}
        left: dict[str, Any] = {}
        for name, value in bound.arguments.items():
            if name in self.leave_out:
                left[name] = value
                continue
            if self.signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL:
                value = list(value)
            json_values.must_be_json(value, f"the argument {name!r}")
            shown[name] = value
        return json_values.copy(shown), left

    def bound(self, arguments: dict[str, Any], left: dict[str, Any]) -> inspect.BoundArguments:
        every: dict[str, Any] = {}
        for name, parameter in self.signature.parameters.items():
            if name in left:
                every[name] = left[name]
            elif name in arguments:
                listed = parameter.kind is inspect.Parameter.VAR_POSITIONAL
                every[name] = tuple(arguments[name]) if listed else arguments[name]
            elif parameter.default is not inspect.Parameter.empty:
                every[name] = parameter.default
        return inspect.BoundArguments(self.signature, every)

    def must_fit(self, edited: dict[str, Any], sent: dict[str, Any], hold: Hold) -> None:
        """An edit may change values, not what kind of value the function gets."""

        def no(why: str) -> EditDoesNotFit:
            return EditDoesNotFit(f"the arguments were edited and do not fit: {why}", hold)

        for name in edited:
            if name not in self.signature.parameters or name in self.leave_out:
                raise no(f"the function takes no {name!r}")
        for name, parameter in self.signature.parameters.items():
            if name in self.leave_out:
                continue
            if name not in edited:
                if parameter.default is inspect.Parameter.empty and parameter.kind not in (
                    inspect.Parameter.VAR_POSITIONAL,
                    inspect.Parameter.VAR_KEYWORD,
                ):
                    raise no(f"{name!r} is missing")
                continue
            value = edited[name]
            if parameter.kind is inspect.Parameter.VAR_POSITIONAL and not isinstance(value, list):
                raise no(f"{name!r} must be a list")
            if parameter.kind is inspect.Parameter.VAR_KEYWORD and not isinstance(value, dict):
                raise no(f"{name!r} must be an object")
            plain = parameter.kind not in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
            judged = admits(self.hints[name], value) if plain and name in self.hints else None
            if judged is None:
                judged = name not in sent or json_kind(sent[name]) == json_kind(value)
            if not judged:
                raise no(f"{name!r} is {value!r}")


def json_kind(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    return type(value).__name__


def admits(hint: Any, value: Any) -> bool | None:
    """Whether a value is of a type, for the types that JSON has; None where the type says nothing to us."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return True
    if origin is typing.Annotated:
        return admits(inner[0], value)
    if hint is None or hint is type(None):
        return value is None
    if origin in (Union, types.UnionType):
        judged = [admits(one, value) for one in inner]
        return True if True in judged else None if None in judged else False
    if origin is Literal:
        return any(json_values.same(one, value) for one in inner)
    if hint is bool:
        return isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if hint is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if hint is str:
        return isinstance(value, str)
    if hint is list or origin is list:
        if not isinstance(value, list):
            return False
        return all(admits(inner[0], item) is not False for item in value) if inner else True
    if hint is dict or origin is dict:
        if not isinstance(value, dict):
            return False
        return all(admits(inner[1], item) is not False for item in value.values()) if inner else True
    if typing.is_typeddict(hint):
        hints = typing.get_type_hints(hint)
        if not isinstance(value, dict) or not hint.__required_keys__ <= value.keys() <= hints.keys():
            return False
        return all(admits(hints[name], item) is not False for name, item in value.items())
    return None
