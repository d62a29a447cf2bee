"""What a run of schemathesis found, read from its report."""

import collections
import json
import pathlib
from collections.abc import Iterator


def events(report: pathlib.Path, kind: str) -> Iterator[dict]:
    if report.exists():
        for line in report.read_text().splitlines():
            event = json.loads(line)
            if kind in event:
                yield event[kind]


def scenarios(report: pathlib.Path) -> Iterator[tuple[str, str | None]]:
    """Each operation in each phase, and what is wrong with it. A run that did not get to its end is one that
    failed, whatever it found until then."""
    worst: dict[tuple[str, str], set[str]] = collections.defaultdict(set)
    for scenario in events(report, "ScenarioFinished"):
        name = (scenario["phase"], scenario["recorder"]["label"])
        if scenario["status"] in ("failure", "error", "interrupted"):
            worst[name] |= titles(scenario) or {scenario["status"]}
        elif scenario["status"] == "success":
            worst[name] |= set()
    for error in events(report, "NonFatalError"):
        worst[(str(error.get("phase")), str(error.get("label")))].add(str(error.get("value"))[:500])
    for (phase, label), found in worst.items():
        yield f"{phase}: {label}", "; ".join(sorted(found)) or None
    ended = any(event.get("stop_reason") == "completed" for event in events(report, "EngineFinished"))
    yield "came to its end", None if ended and worst else "it did not"


def titles(scenario: dict) -> set[str]:
    found = set()
    for checks in scenario["recorder"].get("checks", {}).values():
        for check in checks:
            if check["status"] == "failure":
                failure = check.get("failure_info", {}).get("failure", {})
                found.add(f"{check['name']} ({failure.get('title', '')})")
    return found


def walked(report: pathlib.Path) -> collections.Counter:
    """How often a link was followed to an operation that then took what it was given."""
    reached = collections.Counter()
    for scenario in events(report, "ScenarioFinished"):
        recorder = scenario["recorder"]
        for key, case in recorder.get("cases", {}).items():
            transition = case.get("transition")
            status = recorder.get("interactions", {}).get(key, {}).get("response", {}).get("status_code", 0)
            if transition and 200 <= status < 300:
                reached[transition["id"].rsplit(" -> ", 1)[-1]] += 1
    return reached


def count(calls: pathlib.Path, seen: dict[str, collections.Counter]) -> None:
    """Adds how often each operation said what."""
    if calls.exists():
        for line in calls.read_text().splitlines():
            operation, status = json.loads(line)
            seen[operation][status] += 1
