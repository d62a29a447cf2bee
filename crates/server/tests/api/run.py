"""Schemathesis against the OpenAPI document of a running server. `cargo xtask test --only api` runs this;
docs/proof/api.md says what it checks and how to read what it prints.

The output is TAP: one line for each operation and phase, then what must be true of the whole."""

import collections
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

# Who tries what, and how many examples of each operation (of walks, for `stateful`). The admin reaches everything, so
# most are hers. The others are there for what they must not reach.
ATTACKS = [
    ("ana", "examples,coverage,fuzzing", 40),
    ("ana", "stateful", 250),
    ("bob", "fuzzing", 15),
    ("robot", "fuzzing", 15),
    ("eve", "fuzzing", 10),
]
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
            Stock(served.url, served.tokens, "ana").seed()
            seen = collections.defaultdict(collections.Counter)
            # Schemathesis reads this one and does not try it; we did, just now.
            seen["GET /openapi.json"][200] += 1
            walked = collections.Counter()
            for caller, phases, examples in ATTACKS:
                report, calls = attack(served, folder, caller, phases, examples)
                for name, trouble in findings.scenarios(report, caller):
                    tap.test(name, trouble)
                walked += findings.walked(report)
                findings.count(calls, seen)
            something_happened(tap, document, seen, walked)
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


def attack(
    served: Served, folder: pathlib.Path, caller: str, phases: str, examples: int
) -> tuple[pathlib.Path, pathlib.Path]:
    """One run of schemathesis with this caller's token: its report, and what was called. What it prints of failures
    goes to our output."""
    report, calls = folder / f"{caller}-{phases}.ndjson", folder / f"{caller}-{phases}.calls"
    setting = {"url": served.url, "tokens": served.tokens, "caller": caller, "calls": str(calls)}
    env = {**os.environ, "API_SETTING": json.dumps(setting), "PYTHONPATH": str(HERE)}
    words = [sys.executable, "-m", "schemathesis.cli", "--config-file", HERE / "schemathesis.toml"]
    words += ["run", f"{served.url}/openapi.json", "--phases", phases]
    words += ["--max-examples", str(examples), "--report", "ndjson", "--report-ndjson-path", report]
    words += ["--header", f"Authorization: Bearer {served.tokens[caller]}"]
    print(f"# as {caller}: {phases}", flush=True)
    try:
        subprocess.run(words, env=env, cwd=folder, timeout=LIMIT_S, check=False, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        print(f"# ended after {LIMIT_S} s", flush=True)
    return report, calls


def something_happened(tap: Tap, document: dict, seen: dict, walked: collections.Counter) -> None:
    """A test in which nothing happened passes, too. So every operation must have worked at least once, and
    every operation on one thing must have been reached by a link."""
    print(f"# {'operation':<36}{'2xx':>6}{'3xx':>6}{'4xx':>6}{'5xx':>6}{'by link':>9}")
    for path, methods in document["paths"].items():
        for method in methods:
            name = f"{method.upper()} {path}"
            counts = [sum(n for status, n in seen[name].items() if status // 100 == first) for first in (2, 3, 4, 5)]
            print(f"# {name:<36}" + "".join(f"{count:>6}" for count in counts) + f"{walked[name]:>9}")
            tap.test(f"{name} worked", not (counts[0] or counts[1]) and "it never did")
            if "{id}" in path:
                tap.test(f"{name} was reached by a link", not walked[name] and "it never was")


def not_well(served: Served) -> str | None:
    if served.process.poll() is not None:
        return f"it ended with {served.process.returncode}"
    reply = requests.get(f"{served.url}/readyz", timeout=10)
    return None if reply.status_code == 200 else reply.text


if __name__ == "__main__":
    sys.exit(main())
