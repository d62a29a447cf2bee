"""The fake model server, for tests that talk to it with a vendor's client, and a few words of its scripts."""

import atexit
import json
import os
import subprocess
import urllib.request

KEY = "fake-key"
MODEL = "fake-model"

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
}

# Ways to send the same thing. A client must read the same message from each.
MANNERS = {
    "plain": {},
    "many fragments": {"fragment": 1},
    "byte by byte": {"fragment": 3, "chunk": 1},
    "interleaved": {"fragment": 2, "interleave": True},
    "with signs of life": {"fragment": 5, "ping": True},
    "with other line ends": {"fragment": 5, "crlf": True},
    "dripping": {"fragment": 40, "drip_ms": 2},
}


class Fake:
    def __init__(self):
        program = os.environ["FAKE_MODEL_BIN"]
        self.process = subprocess.Popen([program], stdout=subprocess.PIPE, text=True)
        atexit.register(self.process.kill)
        self.url = self.process.stdout.readline().strip()

    def play(self, *turns):
        """What it says from now on. Whatever was before is forgotten."""
        self._door("script", {"turns": turns})

    def requests(self):
        return self._door("requests")

    def _door(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(f"{self.url}/fake/{path}", data, timeout=10) as reply:
            return json.load(reply)


def text(text):
    return {"type": "text", "text": text}


def thinking(text):
    return {"type": "thinking", "text": text}


def call(name, input=None, **more):
    return {"type": "call", "name": name, "input": input, **more}


def two(manner):
    """Two calls at once, then a last word that repeats what came back."""
    calls = [
        call("weather", {"city": "Köln 🌧", "days": 2}, id="first", escaped=True),
        call("weather", {"city": "Lyon", "days": 1}, id="second"),
    ]
    return [
        {"when": {"results": 0}, "say": [text("Looking at both."), *calls], "manner": manner},
        {"when": {"results": 2}, "say": [text("So: {result}")], "manner": manner},
    ]


BOTH = [
    ("first", "weather", {"city": "Köln 🌧", "days": 2}),
    ("second", "weather", {"city": "Lyon", "days": 1}),
]

LIMITED = {"when": {"request": 1}, "fail": {"status": 429, "retry_after": "1"}}


def after(bytes, then):
    return {"after": {"bytes": bytes, "then": then}}


def equal(found, wanted):
    assert found == wanted, f"{found!r} is not {wanted!r}"


def fails(wanted, action):
    """Fails as it should: with this class."""
    try:
        value = action()
    except wanted as error:
        return error
    raise AssertionError(f"it went well: {value!r}")


def waited(fake):
    """The client came back with the same request, and not before it was told to."""
    one, other = fake.requests()
    assert other["at_ms"] - one["at_ms"] >= 1000, f"{other['at_ms'] - one['at_ms']} ms"
    equal(one["body"], other["body"])


def cut(fake):
    [request] = fake.requests()
    equal((request["status"], request["ended"]), (200, "cut"))
