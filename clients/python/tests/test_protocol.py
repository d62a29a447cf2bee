"""What needs no server: arguments as JSON, and what fits a function."""

import time
from typing import Any, Literal, TypedDict

from help import raises
from holdpoint import Unreachable, json_values
from holdpoint.fit import Parameters, admits
from holdpoint.steps import Ask, Lost, Patience, Pause, path, reportable, send


class Point(TypedDict):
    x: int


def test_values_are_the_same_only_as_json(_: Any) -> None:
    for one, two, equal in (
        (1, 1.0, True), (1, True, False), (0, False, False), ([1], [1], True), ([1, 2], [2, 1], False),
        ({"a": 1, "b": [None]}, {"b": [None], "a": 1}, True), ("1", 1, False), (None, False, False), ({}, [], False),
    ):  # fmt: skip
        assert json_values.same(one, two) is equal, (one, two)
    assert json_values.same_but_secrets({"k": "s3cret", "n": 1}, {"k": "[secret]", "n": 1})
    assert not json_values.same_but_secrets({"k": "s3cret", "n": 1}, {"k": "[secret]", "n": 2})


def test_a_derived_key_depends_on_the_call_and_the_run_alone(_: Any) -> None:
    key = json_values.derived_key("t", {"a": 1, "b": "ü"}, "run")
    assert key == json_values.derived_key("t", {"b": "ü", "a": 1}, "run") and len(key) < 255
    others = [("u", {"a": 1, "b": "ü"}, "run"), ("t", {"a": 2, "b": "ü"}, "run"), ("t", {"a": 1, "b": "ü"}, "ran")]
    assert key not in [json_values.derived_key(*other) for other in others]


def test_types_admit_what_json_can_say(_: Any) -> None:
    for hint, value, expected in (
        (int, 1, True), (int, True, False), (int, 1.5, False), (float, 1, True), (str, None, False),
        (str | None, None, True), (list[int], [1, "2"], False), (dict[str, int], {"a": 1}, True),
        (Literal["a", "b"], "c", False), (Point, {"x": 1}, True), (Point, {"x": 1, "y": 2}, False), (Point, {}, False),
        (bytes, "x", None), (Any, object(), True),
    ):  # fmt: skip
        assert admits(hint, value) is expected, (hint, value)


def test_every_form_of_parameter_goes_to_json_and_back(_: Any) -> None:
    def function(a: int, /, b: int, *rest: int, c: int = 3, **more: int) -> Any:
        return a, b, rest, c, more

    parameters = Parameters(function)
    arguments, left = parameters.as_json((1, 2, 4, 5), {"d": 6})
    assert arguments == {"a": 1, "b": 2, "rest": [4, 5], "c": 3, "more": {"d": 6}}
    bound = parameters.bound(arguments, left)
    assert function(*bound.args, **bound.kwargs) == (1, 2, (4, 5), 3, {"d": 6})
    raises(ValueError, lambda: Parameters(function, ("nothing",)))
    raises(TypeError, lambda: parameters.as_json((1,), {}))


def test_results_are_reported_short(_: Any) -> None:
    assert reportable({"rows": 3}) == {"rows": 3}
    assert reportable((1, 2)) == "(1, 2)"
    cut = reportable("x" * 20_000)
    assert len(cut) < 10_100 and cut.endswith("characters, cut)")


def test_patience_begins_with_the_first_fault(_: Any) -> None:
    """A long poll that ends in a fault after a long time is sent again, however short the patience is."""
    going = send(Ask("GET", "/"), Patience(0.05))
    assert isinstance(next(going), Ask)
    until = time.monotonic() + 0.1
    while time.monotonic() < until:
        pass
    assert isinstance(going.send(Lost("cut")), Pause)
    assert isinstance(going.send(None), Ask)
    while time.monotonic() < until + 0.1:
        pass
    raises(Unreachable, lambda: going.send(Lost("cut")))


def test_an_id_cannot_name_another_path(_: Any) -> None:
    for id in ("hold_1/../../x", "hold_1?x", "ses_1", "hold_ü", ""):
        raises(ValueError, lambda id=id: path(id))
    assert Patience(1.0, 0.0).left() <= 0
