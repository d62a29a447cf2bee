"""Fresh things to ask about. A random id names nothing, and a test that only ever sees 404 proves little:
so most requests are pointed at something that was made for them a moment ago."""

import copy
import itertools
import re
import time

from schemathesis.core.parameters import ParameterLocation

from push_service import BROWSER_KEYS
from served import CALL_WITHIN_S, Caller

ID = re.compile(r"(?:ses|run|hold|grant|tok)_[0-7][0-9a-hjkmnp-tv-z]{25}")
KEY_MAX = 255
KEY = re.compile(r"[\t -~]*[!-~][\t -~]{0,%d}" % KEY_MAX)
# Browsers of one person, fewer than may be subscribed.
BROWSERS = 4
# One request in so many keeps what was generated: what is not there must be refused well, too.
UNTOUCHED = 4

# An answer that such a hold takes, as `Stock` makes it.
FITTING = {
    "choose": {"choose": ["Blue"]},
    "fill": {"fill": {"text": "x"}},
    "perform": {"perform": {"content": "x"}},
}


class Stock:
    def __init__(self, url: str, tokens: dict[str, str], me: str, push_service: str, run: int = 0):
        # Each run is a process that counts from one, and the server remembers all of them.
        self.run, self.push_service = run, push_service
        self.me = Caller(url, tokens[me])
        self.admin = Caller(url, tokens["ana"])
        # Whoever may not open sessions is asked about those of somebody else.
        self.opener = self.admin if me == "eve" else self.me
        self.known: set[str] = set()
        self.ours = set(ID.findall(str(self.admin.ask("GET", "/v1/tokens?limit=200"))))
        self.turn = itertools.count(1)

    def saw(self, text: str) -> None:
        self.known.update(ID.findall(text))

    # --- What can be made.

    def session(self) -> str:
        return self.opener.ask("POST", "/v1/sessions", {"agent": "clerk"})["id"]

    def said(self, text: str) -> dict:
        """A session in which this was said, when its run has paused or ended."""
        session = self.session()
        self.opener.ask("POST", f"/v1/sessions/{session}/messages", {"text": text})
        until = time.monotonic() + CALL_WITHIN_S
        while time.monotonic() < until:
            shown = self.opener.ask("GET", f"/v1/sessions/{session}")
            if shown["run"]["status"] != "running":
                return shown
            time.sleep(0.002)
        raise AssertionError(f"nothing comes of {text!r}: {shown}")

    def talked(self) -> str:
        return self.said("a note")["id"]

    def paused(self) -> str:
        return self.said("a note")["run"]["id"]

    def failed(self) -> str:
        return self.said("fail")["run"]["id"]

    def outside(self, **more: object) -> dict:
        hold = {"kind": "approve", "title": "Take a note", **more}
        return self.me.ask("POST", "/v1/holds", hold)

    def pending(self) -> dict:
        match next(self.turn) % 3:
            case 0:
                return self.outside(call={"tool": "note", "arguments": {"text": "x"}})
            case 1:
                return self.said("two")["pending"][0]
            case _:
                return self.said("a note")["pending"][0]

    def claimed(self) -> dict:
        hold = self.pending()
        self.admin.ask("POST", f"/v1/holds/{hold['id']}/claim")
        return hold

    def approved(self) -> dict:
        return self.outside(call={"tool": "harmless", "arguments": {}})

    def grant(self) -> str:
        hold = self.said("a note")["pending"][0]
        answer = {"verdict": "approve", "scope": "session"}
        self.admin.ask("POST", f"/v1/holds/{hold['id']}/answer", {"digest": hold["digest"], "answer": answer})
        return self.admin.ask("GET", "/v1/grants")["items"][0]["id"]

    def token(self) -> str:
        return self.admin.ask("POST", "/v1/tokens", {"program": "fresh", "scopes": ["ask"]})["id"]

    def answerable(self, body: object) -> dict:
        """A hold that an answer of this shape is for."""
        answer = body.get("answer") if isinstance(body, dict) else None
        if isinstance(answer, dict):
            if "choose" in answer:
                options = ["Blue", {"id": "g", "label": "Green"}]
                return self.outside(kind="choose", options=options, multiple=True, allow_other=True)
            if "fill" in answer:
                return self.outside(kind="fill", schema={"type": "object"})
            if "perform" in answer:
                return self.said("perform")["pending"][0]
            if answer.get("scope") == "session":
                return self.said("a note")["pending"][0]
        return self.pending()

    def seed(self) -> None:
        """So that no list is empty."""
        for text in ("a note", "two", "perform", "choose", "broken", "talk", "fail"):
            self.said(text)
        self.grant()
        self.approved()
        self.outside(call={"tool": "forbidden", "arguments": {}})
        cancelled = self.pending()["id"]
        self.me.ask("POST", f"/v1/holds/{cancelled}/cancel", {"reason": "seeded"})

    # --- Where it goes.

    def furnish(self, case) -> None:
        """Points a request at something real."""
        operation = case.operation.label
        if case.method.upper() != operation.split()[0]:
            return
        case.path_parameters, case.query = dict(case.path_parameters or {}), dict(case.query or {})
        self.bound(case, operation)
        self.unlock(case)
        if operation == "GET /v1/grants":
            # The first of the list is one that can still be taken back.
            self.grant()
        # Nobody saws off the branch that the tests sit on.
        if next(self.turn) % UNTOUCHED or case.path_parameters.get("id") in self.ours:
            self.point(case, operation)
            self.fill_in(case, operation)
            if operation == "GET /v1/mcp/connect" and isinstance(case.query.get("server"), str):
                case.query["server"] = "tickets"

    def point(self, case, operation: str) -> None:
        asked = case.path_parameters.get("id")
        if not isinstance(asked, str) or not ID.fullmatch(asked):
            return
        # A link was followed: it leads where it leads.
        if asked in self.known and asked not in self.ours:
            return
        noun, _, verb = operation.partition(" /v1/")[2].partition("/{id}")
        made = {
            "sessions": self.session if verb == "/messages" else self.talked,
            "runs": self.failed if verb == "/retry" else self.paused,
            "holds": {
                "/answer": lambda: self.answerable(case.body),
                "/outcome": self.approved,
                "/claim": self.claimed,
            }.get(verb, self.pending),
            "grants": self.grant,
            "tokens": self.token,
        }[noun]()
        case.path_parameters["id"] = made["id"] if isinstance(made, dict) else made

    def fill_in(self, case, operation: str) -> None:
        """What only this server knows: its agents and its people."""
        if not isinstance(case.body, dict) or not positive(case, ParameterLocation.BODY):
            return
        # One value may stand in many requests.
        body = case.body = copy.deepcopy(case.body)
        match operation:
            case "POST /v1/sessions":
                body["agent"] = "clerk"
            case "POST /v1/logins":
                body["person"] = "bob"
            case "POST /v1/tokens" if body.get("person") is not None:
                body["person"] = "bob"
            case "POST /v1/holds":
                for name in ("callback", "audience", "schema"):
                    body.pop(name, None)
                if body["kind"] == "approve" or body.get("call"):
                    tool = "harmless" if next(self.turn) % 2 else "note"
                    body["call"] = {"arguments": {}, **(body.get("call") or {}), "tool": tool}
            case "POST /v1/holds/{id}/answer":
                hold = self.admin.look(f"/v1/holds/{case.path_parameters['id']}")
                body["digest"] = hold.get("digest")
                if hold.get("kind") in FITTING and next(self.turn) % 2:
                    body["answer"] = FITTING[hold["kind"]]
            case "POST /v1/mcp/connect" | "POST /v1/mcp/disconnect":
                body["server"] = "tickets"
            case "POST /v1/me/push":
                body["endpoint"] = f"{self.push_service}/{next(self.turn) % BROWSERS}"
                body["keys"] = BROWSER_KEYS
            case "POST /v1/channels/test":
                body["channel"] = "telegram"
            case "POST /v1/holds/{id}/preview":
                body["arguments"] = {"text": "y"}
            case "POST /v1/holds/{id}/snooze":
                body["until"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3600))
            case "POST /v1/sessions/{id}/messages" if next(self.turn) % 4 == 1 and body.get("text"):
                body["text"] = "fail"
            case "POST /v1/sessions/{id}/messages" if next(self.turn) % 4 == 0:
                # Somebody who was here before may still be waited for.
                case.path_parameters["id"] = self.session()
                case.headers["Accept"] = "text/event-stream"

    def bound(self, case, operation: str) -> None:
        """A wait ends at once, and a stream begins with what is there."""
        waits = operation.endswith("/wait") or operation == "GET /v1/mcp/connect"
        if waits and whole(case.query.get("timeout_s", 0)):
            case.query["timeout_s"] = int(next(self.turn) % 8 == 0)
        elif operation.endswith("/events") and whole(case.query.get("after", 0)) and next(self.turn) % 8:
            case.query["after"] = 0

    def unlock(self, case) -> None:
        """A key opens once: each sound one is made another than all before it. And each request comes from
        another address, because whoever sends many wrong tokens is no longer told that they are wrong."""
        number = next(self.turn)
        key = case.headers.get("Idempotency-Key")
        if isinstance(key, str) and KEY.fullmatch(key):
            case.headers["Idempotency-Key"] = f"{self.run}-{number}-{key}"[:KEY_MAX]
        case.headers["X-Forwarded-For"] = f"10.{self.run}.{number >> 8 & 255}.{number & 255}"


def positive(case, location: ParameterLocation) -> bool:
    return case.meta is None or not case.meta.is_negative_at(location)


def whole(value: object) -> bool:
    return re.fullmatch(r"\d{1,20}", str(value)) is not None and int(str(value)) < 2**64
