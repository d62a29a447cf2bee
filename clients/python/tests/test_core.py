"""The gate on a real server: whatever is not an approval does not call the function."""

import socket
import subprocess
import sys
from typing import Any

from help import Running, answers, fresh, raises
from holdpoint import (
    AlreadyUsed,
    Cancelled,
    Client,
    Denied,
    EditDoesNotFit,
    Expired,
    Refused,
    Responded,
    TimedOut,
    Unreachable,
    Unreadable,
)
from server import Server


class Gated:
    """A gated function that writes down its calls."""

    def __init__(self, server: Server, url: str | None = None, patience_s: float = 20.0, **options: Any) -> None:
        self.title = fresh("delete")
        self.calls: list[dict[str, Any]] = []
        self.client = Client(url or server.url, server.token, patience_s=patience_s)

        def delete(path: str, depth: int = 1, force: bool = False) -> str:
            self.calls.append({"path": path, "depth": depth, "force": force})
            if path == "/fails":
                raise OSError("busy")
            return f"deleted {path}"

        self.delete = self.client.gate(title=self.title, **options)(delete)

    def runs(self, *args: Any, **kwargs: Any) -> Running:
        return Running(lambda: self.delete(*args, **kwargs))


def test_an_approved_call_runs_once_with_those_arguments(server: Server) -> None:
    gated = Gated(server)
    running = gated.runs("/tmp/x", force=True)
    hold = server.person.opened(gated.title)
    assert hold["call"]["arguments"] == {"path": "/tmp/x", "depth": 1, "force": True}, "defaults are shown too"
    assert gated.calls == []
    server.person.approve(hold)
    assert running.end() == "deleted /tmp/x"
    assert gated.calls == [{"path": "/tmp/x", "depth": 1, "force": True}]
    assert server.person.show(hold["id"])["outcome"] == {"state": "succeeded", "result": "deleted /tmp/x"}


def test_a_denial_raises_with_its_reason(server: Server) -> None:
    gated = Gated(server)
    running = gated.runs("/tmp/x")
    server.person.deny(server.person.opened(gated.title), "not today")
    error = raises(Denied, running.end)
    assert (error.reason, gated.calls) == ("not today", [])
    assert "denied by ana: not today" in str(error)


def test_an_edited_call_runs_with_the_edited_arguments(server: Server) -> None:
    gated = Gated(server)
    running = gated.runs("/tmp/x")
    server.person.approve(server.person.opened(gated.title), {"path": "/tmp/y", "depth": 2, "force": False})
    assert running.end() == "deleted /tmp/y"
    assert gated.calls == [{"path": "/tmp/y", "depth": 2, "force": False}]


def test_an_edit_that_does_not_fit_calls_nothing_and_uses_nothing(server: Server) -> None:
    for edited in (
        {"path": 7, "depth": 1, "force": False},
        {"path": "/tmp/x", "depth": True, "force": False},
        {"path": "/tmp/x", "depth": 1, "force": False, "more": 1},
        {"depth": 1, "force": False},
    ):
        gated = Gated(server)
        running = gated.runs("/tmp/x")
        hold = server.person.opened(gated.title)
        server.person.approve(hold, edited)
        raises(EditDoesNotFit, running.end)
        assert gated.calls == []
        assert server.person.show(hold["id"])["outcome"] is None


def test_a_check_of_edited_arguments_is_asked(server: Server) -> None:
    gated = Gated(server, check=lambda args: args["path"].startswith("/tmp/"))
    running = gated.runs("/tmp/x")
    server.person.approve(server.person.opened(gated.title), {"path": "/etc", "depth": 1, "force": False})
    raises(EditDoesNotFit, running.end)
    assert gated.calls == []


def test_an_answer_in_its_place_is_handed_over(server: Server) -> None:
    gated = Gated(server)
    running = gated.runs("/tmp/x")
    server.person.answer(server.person.opened(gated.title), {"verdict": "respond", "content": "it is gone already"})
    assert raises(Responded, running.end).content == "it is gone already"
    assert gated.calls == []


def test_an_expired_hold_raises(server: Server) -> None:
    gated = Gated(server, expires_in_s=1)
    raises(Expired, lambda: gated.delete("/tmp/x"))
    assert gated.calls == []


def test_a_cancelled_hold_raises_with_its_reason(server: Server) -> None:
    gated = Gated(server)
    running = gated.runs("/tmp/x")
    hold = server.person.opened(gated.title)
    gated.client.cancel(hold["id"], "no longer needed")
    assert raises(Cancelled, running.end).reason == "no longer needed"
    assert gated.calls == []


def test_a_time_out_withdraws_a_hold_that_nobody_could_find_again(server: Server) -> None:
    gated = Gated(server, timeout_s=1.5)
    error = raises(TimedOut, lambda: gated.delete("/tmp/x"))
    assert gated.calls == []
    assert server.person.show(error.hold["id"])["state"] == "cancelled"


def test_after_a_time_out_a_keyed_hold_stays_open_and_is_found_again(server: Server) -> None:
    key = fresh("timeout")
    gated = Gated(server, timeout_s=1.2, key=key)
    error = raises(TimedOut, lambda: gated.delete("/tmp/x"))
    hold = server.person.show(error.hold["id"])
    assert hold["state"] == "pending"
    server.person.approve(hold)
    assert gated.delete("/tmp/x") == "deleted /tmp/x"
    assert len(gated.calls) == 1


def test_without_a_server_nothing_runs(server: Server) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        gated = Gated(server, url=f"http://127.0.0.1:{taken.getsockname()[1]}", patience_s=0.3)
        raises(Unreachable, lambda: gated.delete("/tmp/x"))
    assert gated.calls == []


def test_a_wrong_token_is_refused_at_once(server: Server) -> None:
    gated = Gated(server)
    wrong = Client(server.url, "hp_program_" + "0" * 64)
    error = raises(Refused, lambda: wrong.gate(title="x")(lambda: gated.calls.append({}))())
    assert (error.status, error.code, gated.calls) == (401, "unauthenticated", [])


def test_nonsense_from_the_server_calls_nothing(server: Server) -> None:
    hold = '{"id":"hold_1","state":"%s","digest":"d","title":"t","call":%s,"answers":[],"decision":null,"outcome":null}'
    call = '{"tool":"delete","arguments":%s}'
    other = hold % ("approved", call % '{"path":"/etc","depth":1,"force":false}')
    for status, body in (
        (200, "<html>log in</html>"),
        (200, '{"state":"approved"}'),
        (201, "[]"),
        (302, ""),
        (204, ""),
        (201, hold % ("fine", "null")),
        (201, hold % ("approved", "null")),
        (201, other),
        (404, "not here"),
    ):
        with answers(lambda *_, told=(status, body): told) as url:
            gated = Gated(server, url=url, patience_s=0.3)
            raises(Unreadable, lambda: gated.delete("/tmp/x"))
            assert gated.calls == [], body


def test_an_approval_that_cannot_be_used_calls_nothing(server: Server) -> None:
    """The hold is approved, and the word that the call starts is refused or lost."""
    arguments = '{"path":"/tmp/x","depth":1,"force":false}'
    hold = (
        '{"id":"hold_1","state":"approved","digest":"d","title":"t","answers":[],"decision":null,"outcome":null,'
        '"call":{"tool":"delete","arguments":' + arguments + "}}"
    )
    problem = '{"code":"answer_invalid","detail":"no"}'
    for told, kind in (((422, problem), Refused), ((503, ""), Unreachable), ((200, hold.replace('"d"', '"e"')), Unreadable)):
        with answers(lambda method, path, told=told: told if path.endswith("outcome") else (201, hold)) as url:
            gated = Gated(server, url=url, patience_s=0.3)
            raises(kind, lambda: gated.delete("/tmp/x"))
            assert gated.calls == []


def test_what_the_function_raises_is_passed_on_and_reported(server: Server) -> None:
    gated = Gated(server)
    running = gated.runs("/fails")
    hold = server.person.opened(gated.title)
    server.person.approve(hold)
    raises(OSError, running.end)
    assert server.person.show(hold["id"])["outcome"] == {"state": "failed", "result": "OSError: busy"}


def test_a_result_is_handed_back_though_its_report_fails(server: Server) -> None:
    def reply(_: str, path: str) -> tuple[int, str]:
        hold = '{"id":"hold_1","state":"approved","digest":"d","title":"t","answers":[],"decision":null,"outcome":null,"call":{"tool":"delete","arguments":{"path":"/tmp/x","depth":1,"force":false}}}'
        if path.endswith("outcome") and gated.calls:
            return 500, "gone"
        return 201, hold

    with answers(reply) as url:
        gated = Gated(server, url=url, patience_s=0.3)
        assert gated.delete("/tmp/x") == "deleted /tmp/x"
    assert len(gated.calls) == 1


def test_what_is_changed_while_waiting_is_not_what_runs(server: Server) -> None:
    title, seen = fresh("send"), []
    client = Client(server.url, server.token)

    @client.gate(title=title)
    def send(to: list[str]) -> None:
        seen.append(to)

    to = ["ana@example.org"]
    running = Running(lambda: send(to))
    hold = server.person.opened(title)
    to.append("everyone@example.org")
    server.person.approve(hold)
    running.end()
    assert seen == [["ana@example.org"]]


def test_what_json_cannot_say_is_refused_before_anyone_is_asked(server: Server) -> None:
    client, before = Client(server.url, server.token), server.person.pending()

    @client.gate(leave_out=("connection",))
    def send(what: Any, connection: Any = None) -> None:
        raise AssertionError("it was called")

    for what in ((1, 2), object(), float("nan"), {1: 2}, [b"x"], "\ud800"):
        raises((TypeError, ValueError), lambda what=what: send(what, connection=object()))
    assert server.person.pending() == before


def test_two_at_once_under_one_key_run_once(server: Server) -> None:
    gated = Gated(server, key=fresh("both"))
    both = [gated.runs("/tmp/x") for _ in range(2)]
    server.person.approve(server.person.opened(gated.title))
    ended = []
    for running in both:
        running.thread.join(60)
        ended.append(running.error)
    assert len(gated.calls) == 1
    assert sorted(type(error) for error in ended if error) == [AlreadyUsed] or [type(e) for e in ended if e] == [AlreadyUsed]


def test_two_at_once_are_two_holds(server: Server) -> None:
    one, two = Gated(server), Gated(server)
    running = [one.runs("/tmp/x"), two.runs("/tmp/x")]
    server.person.deny(server.person.opened(two.title), "no")
    server.person.approve(server.person.opened(one.title))
    assert running[0].end() == "deleted /tmp/x"
    raises(Denied, running[1].end)
    assert (len(one.calls), two.calls) == (1, [])


def test_a_key_stands_for_one_call_and_changed_arguments_are_asked_again(server: Server) -> None:
    keyed = Gated(server, key=fresh("one call"), timeout_s=1.2)
    raises(TimedOut, lambda: keyed.delete("/tmp/x"))
    assert raises(Refused, lambda: keyed.delete("/tmp/y")).code == "idempotency_key_reused"
    gated = Gated(server, run=fresh("run"))
    running = gated.runs("/tmp/x")
    server.person.approve(server.person.opened(gated.title))
    running.end()
    again = gated.runs("/tmp/y")
    hold = server.person.opened(gated.title)
    assert hold["call"]["arguments"]["path"] == "/tmp/y", "another hold"
    server.person.deny(hold, "no")
    raises(Denied, again.end)
    assert raises(AlreadyUsed, lambda: gated.delete("/tmp/x")).result == "deleted /tmp/x"
    assert len(gated.calls) == 1


def test_while_all_is_frozen_nothing_starts(server: Server) -> None:
    key = fresh("frozen")
    gated = Gated(server, key=key, timeout_s=1.2, patience_s=0.3)
    error = raises(TimedOut, lambda: gated.delete("/tmp/x"))
    server.person.approve(server.person.show(error.hold["id"]))
    server.person.freeze()
    try:
        assert raises(Refused, lambda: gated.delete("/tmp/x")).code == "frozen"
        assert gated.calls == []
    finally:
        server.person.thaw()
    assert gated.delete("/tmp/x") == "deleted /tmp/x"


def test_questions_are_asked_too(server: Server) -> None:
    with Client(server.url, server.token) as client:
        title = fresh("Which strategy?")
        options: Any = [{"label": "Blue-Green"}, {"label": "Canary"}]
        hold = client.open(title, kind="choose", options=options)
        server.person.answer(server.person.opened(title), {"choose": ["Canary"]})
        decided = client.wait(hold["id"])
        assert decided["state"] == "answered" and decided["decision"] is not None
        assert decided["decision"]["choose"] == ["Canary"]


def test_examples_run_as_the_readme_shows_them(server: Server) -> None:
    """The five-minute path: its file runs with the two variables that the demo prints."""
    from pathlib import Path

    root = Path(__file__).resolve().parent.parent
    env = {
        "HOLDPOINT_SERVER": server.url, "HOLDPOINT_TOKEN": server.token, "PYTHONPATH": str(root / "src"),
        "PATH": "/usr/bin:/bin", "NO_PROXY": "127.0.0.1",
    }  # fmt: skip
    words = [sys.executable, "-B", str(root / "examples/refund.py"), "--customer", fresh("customer")]
    process = subprocess.Popen(words, env=env, stdout=subprocess.PIPE, text=True)
    hold = server.person.opened(f"Refund 20.0 to {words[-1]}")
    server.person.approve(hold, {"customer": words[-1], "amount": 15.0})
    told, _ = process.communicate(timeout=60)
    assert f"refunded 15.0 to {words[-1]}" in told, told
