"""Schemathesis against the OpenAPI document of a running server. `cargo xtask test --only api` runs this;
docs/proof/api.md says what it checks and how to read what it prints.

The output is TAP: one line for each operation and phase, then what must be true of the whole."""

import collections
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import openapi_spec_validator
import requests

import findings
from served import HERE, Served
from stock import Stock

# Who tries what, and how many examples of each operation. The admin reaches everything, so most are hers. The others
# are there for what they must not reach.
ATTACKS = [
    ("ana", "examples,coverage,fuzzing", 40),
    ("bob", "fuzzing", 15),
    ("robot", "fuzzing", 15),
    ("eve", "fuzzing", 10),
]
# Walks along the links, as the admin. A walk ends early when the server's state is not as schemathesis thinks, so there
# are several, each with the next seed, until every operation on one thing was reached.
WALKS_MIN, WALKS_MAX, WALK_EXAMPLES = 4, 20, 60
SEED = 20251115
# Each takes a minute at most. Whatever hangs is ended, and counts as failed.
LIMIT_S = 240


class Tap:
    """Counts, and says so line by line."""

    def __init__(self):
        self.passed = self.failed = 0

    def test(self, name: str, trouble: object = None) -> None:
        if trouble:
            self.failed += 1
            print(f"not ok {self.passed + self.failed} - {name}: {trouble}", flush=True)
        else:
            self.passed += 1
            print(f"ok {self.passed + self.failed} - {name}", flush=True)

    def end(self) -> int:
        print(f"# pass {self.passed}\n# fail {self.failed}", flush=True)
        return 1 if self.failed else 0


def main() -> int:
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="holdpoint-api-") as folder:
        folder = pathlib.Path(folder)
        served = Served(os.environ["HOLDPOINT_BIN"], folder)
        try:
            document = requests.get(f"{served.url}/openapi.json", timeout=10).json()
            tap.test("the document is sound OpenAPI 3.1", unsound(document))
            Stock(served.url, served.tokens, "ana", served.push_service.url).seed()
            seen = collections.defaultdict(collections.Counter)
            # Schemathesis reads this one and does not try it; we did, just now.
            seen["GET /openapi.json"][200] += 1
            for caller, phases, examples in ATTACKS:
                attack = Attack(served, folder, caller, phases, examples, SEED)
                attack.run(tap, caller)
                findings.count(attack.calls, seen)
            walked = collections.Counter()
            for number in range(WALKS_MAX):
                walk = Attack(served, folder, "ana", "stateful", WALK_EXAMPLES, SEED + number)
                walk.run(tap, f"walk {number + 1}")
                findings.count(walk.calls, seen)
                walked += findings.walked(walk.report)
                if number + 1 >= WALKS_MIN and all(walked[name] for name in on_one_thing(document)):
                    break
            something_happened(tap, document, seen, walked)
            tap.test("every test of a channel arrived", not_arrived(served, seen))
            tap.test("notices came to browsers", not served.push_service.taken and "none did")
            tap.test("the server is still well", not_well(served))
        finally:
            status = served.stop()
        tap.test("the server stops when told to", status and f"it ended with {status}")
        tap.test("the log tells of no bug", "\n".join(served.faults()))
    return tap.end()


def unsound(document: dict) -> str | None:
    try:
        openapi_spec_validator.validate(document, cls=openapi_spec_validator.OpenAPIV31SpecValidator)
    except Exception as error:
        return str(error)
    return None


class Attack:
    """One run of schemathesis with this caller's token. What it prints of failures goes to our output."""

    numbers = itertools.count(1)

    def __init__(self, served: Served, folder: pathlib.Path, caller: str, phases: str, examples: int, seed: int):
        self.about = f"as {caller}: {phases}, seed {seed}"
        self.folder = folder
        name = f"{caller}-{phases}-{seed}"
        self.report, self.calls = folder / f"{name}.ndjson", folder / f"{name}.calls"
        setting = {"url": served.url, "tokens": served.tokens, "caller": caller, "calls": str(self.calls)}
        setting["push_service"] = served.push_service.url
        setting["run"] = next(self.numbers)
        self.env = {**os.environ, "API_SETTING": json.dumps(setting), "PYTHONPATH": str(HERE)}
        self.words = [sys.executable, "-m", "schemathesis.cli", "--config-file", HERE / "schemathesis.toml"]
        self.words += ["run", f"{served.url}/openapi.json", "--phases", phases, "--seed", str(seed)]
        self.words += ["--max-examples", str(examples), "--header", f"Authorization: Bearer {served.tokens[caller]}"]
        self.words += ["--report", "ndjson", "--report-ndjson-path", self.report]

    def run(self, tap: Tap, name: str) -> None:
        print(f"# {self.about}", flush=True)
        try:
            # It says by itself what it found; how it ended is in the report.
            subprocess.run(
                self.words, env=self.env, cwd=self.folder, timeout=LIMIT_S, check=False, stdin=subprocess.DEVNULL
            )
        except subprocess.TimeoutExpired:
            print(f"# ended after {LIMIT_S} s", flush=True)
        for scenario, trouble in findings.scenarios(self.report):
            tap.test(f"{name}: {scenario}", trouble)


def operations(document: dict) -> list[str]:
    return [f"{method.upper()} {path}" for path, methods in document["paths"].items() for method in methods]


def on_one_thing(document: dict) -> list[str]:
    return [name for name in operations(document) if "{id}" in name]


def something_happened(tap: Tap, document: dict, seen: dict, walked: collections.Counter) -> None:
    """A test in which nothing happened passes, too. So every operation must have worked at least once, and
    every operation on one thing must have been reached by a link."""
    print(f"# {'operation':<36}{'2xx':>6}{'3xx':>6}{'4xx':>6}{'5xx':>6}{'by link':>9}")
    for name in operations(document):
        counts = [sum(n for status, n in seen[name].items() if status // 100 == first) for first in (2, 3, 4, 5)]
        print(f"# {name:<36}" + "".join(f"{count:>6}" for count in counts) + f"{walked[name]:>9}")
        tap.test(f"{name} worked", not (counts[0] or counts[1]) and "it never did")
    for name in on_one_thing(document):
        tap.test(f"{name} was reached by a link", not walked[name] and "it never was")


def not_arrived(served: Served, seen: dict) -> str | None:
    """At the account of Ana, who is the only one that may send them."""
    said = seen["POST /v1/channels/test"][200]
    came = sum(chat == "7" and text.startswith("A test from Holdpoint") for chat, text in served.telegram.sent)
    return None if said == came else f"the server says so of {said}, and {came} came"


def not_well(served: Served) -> str | None:
    if served.process.poll() is not None:
        return f"it ended with {served.process.returncode}"
    reply = requests.get(f"{served.url}/readyz", timeout=10)
    return None if reply.status_code == 200 else reply.text


if __name__ == "__main__":
    sys.exit(main())
