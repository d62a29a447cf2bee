"""What schemathesis needs to know of us. It loads this file by the name in SCHEMATHESIS_HOOKS."""

import json
import os

import jsonschema_rs
import schemathesis

from stock import Stock

SETTING = json.loads(os.environ["API_SETTING"])
STOCK = Stock(SETTING["url"], SETTING["tokens"], SETTING["caller"], SETTING["push_service"], SETTING["run"])
CALLS = open(SETTING["calls"], "a", buffering=1)


@schemathesis.hook
def before_call(context, case, kwargs):
    STOCK.furnish(case)


@schemathesis.hook
def after_call(context, case, response):
    text = response.content.decode("utf-8", "replace")
    STOCK.saw(text)
    operation = case.operation.label
    # What is frozen says 423 to everything: one frozen moment must not be the end of the test.
    if operation == "POST /v1/freeze" and response.status_code == 200:
        STOCK.admin.ask("DELETE", "/v1/freeze")
    # A method that is not described belongs to no operation.
    if response.request.method == operation.split()[0]:
        CALLS.write(json.dumps([operation, response.status_code]) + "\n")


@schemathesis.check
def events_match_their_shape(ctx, response, case):
    """Schemathesis takes the data of an event as text; we look into it."""
    kind = (response.headers.get("content-type") or [""])[0]
    if not kind.startswith("text/event-stream"):
        return
    replies = case.operation.definition.raw["responses"]
    event = replies["200"]["content"]["text/event-stream"]["schema"]
    shape = event["properties"]["data"]["contentSchema"]
    document = case.operation.schema.raw_schema
    validator = jsonschema_rs.validator_for({**shape, "components": document["components"]})
    for block in response.content.decode().split("\n\n")[:-1]:
        lines = [line for line in block.split("\n") if not line.startswith(":")]
        fields = dict(line.split(": ", 1) for line in lines)
        if not fields:
            continue
        # Text on its way is not stored, and has no position.
        stored = fields["event"] not in ("message.delta", "message.discarded")
        assert stored == fields.get("id", "").isdigit(), f"a position where none belongs, or none: {block}"
        error = next(iter(validator.iter_errors(json.loads(fields["data"]))), None)
        assert error is None, f"{error} in {block}"


@schemathesis.deserializer("application/jsonl")
def lines(ctx, response):
    return [json.loads(line) for line in response.content.splitlines()]


@schemathesis.deserializer("application/openmetrics-text")
def metrics(ctx, response):
    text = response.content.decode()
    if not text.endswith("# EOF\n"):
        raise ValueError("the numbers have no end")
    return text
