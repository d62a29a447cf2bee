"""Arguments as JSON: the bytes that a person approves, and the comparison with what came back."""

from __future__ import annotations

import hashlib
import json
from typing import Any

SECRET = "[secret]"
"""Stands in the server's replies where a tool's schema marks a value as secret."""


def must_be_json(value: Any, where: str) -> None:
    """Refuses what would come back as something else, such as a tuple or a subclass."""
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return
    if kind is float:
        if value != value or value in (float("inf"), float("-inf")):
            raise TypeError(f"{where} is {value!r}, which JSON cannot say")
    elif kind is list:
        for at, item in enumerate(value):
            must_be_json(item, f"{where}[{at}]")
    elif kind is dict:
        for name, item in value.items():
            if type(name) is not str:
                raise TypeError(f"{where} has the key {name!r}; only text can be a key")
            must_be_json(item, f"{where}[{name!r}]")
    else:
        raise TypeError(
            f"{where} is a {kind.__name__}; a person approves JSON, so pass text, numbers, lists and dicts, "
            f"or name the parameter in `leave_out` if it is not part of what is approved"
        )


def encode(value: Any) -> bytes:
    """The same bytes for the same value, so that a repeated request is the same request."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode()


def copy(value: Any) -> Any:
    """A copy that nobody else can change."""
    return json.loads(encode(value))


def same(one: Any, two: Any) -> bool:
    """Equal as JSON: `1` and `1.0` are one number, `True` is none."""
    if isinstance(one, bool) or isinstance(two, bool):
        return one is two
    if isinstance(one, dict) and isinstance(two, dict):
        return one.keys() == two.keys() and all(same(one[name], two[name]) for name in one)
    if isinstance(one, list) and isinstance(two, list):
        return len(one) == len(two) and all(map(same, one, two))
    if isinstance(one, (int, float)) and isinstance(two, (int, float)):
        return one == two
    return type(one) is type(two) and bool(one == two)


def same_but_secrets(sent: Any, shown: Any) -> bool:
    """The same, where a reply may show `[secret]` in a secret's place."""
    if shown == SECRET:
        return True
    if isinstance(sent, dict) and isinstance(shown, dict):
        return sent.keys() == shown.keys() and all(same_but_secrets(sent[name], shown[name]) for name in sent)
    if isinstance(sent, list) and isinstance(shown, list):
        return len(sent) == len(shown) and all(map(same_but_secrets, sent, shown))
    return same(sent, shown)


def holds_secret(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(holds_secret, value.values()))
    if isinstance(value, list):
        return any(map(holds_secret, value))
    return bool(value == SECRET)


def derived_key(tool: str, arguments: dict[str, Any], run: str) -> str:
    """The key of one call in one run. A restart makes the same; the same call again in the same run does too."""
    return "holdpoint-" + hashlib.sha256(encode([tool, arguments, run])).hexdigest()
