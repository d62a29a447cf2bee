"""OpenAI's own client against the fake: Responses."""

import json

import openai

from fake import BOTH, KEY, LIMITED, MANNERS, MODEL, SCHEMA, after, call, cut, equal, fails, text, thinking, two, waited

TOOLS = [{"type": "function", "name": "weather", "parameters": SCHEMA, "strict": False}]
SEALED = {"store": False, "include": ["reasoning.encrypted_content"]}


def asks(*items, **more):
    return {"model": MODEL, "tools": TOOLS, "input": list(items), **more}


def user(content):
    return {"role": "user", "content": content}


def use(id):
    return {"type": "function_call", "call_id": id, "name": "weather", "arguments": "{}"}


def output(id, text):
    return {"type": "function_call_output", "call_id": id, "output": text}


def items(response):
    """Items as they go back: without what the client added."""
    added = {"parsed_arguments": True, "content": {"__all__": {"parsed"}}}
    return [item.model_dump(exclude=added, exclude_none=True) for item in response.output]


def tests(fake):
    client = openai.OpenAI(api_key=KEY, base_url=f"{fake.url}/v1", max_retries=0, timeout=20)
    patient = client.with_options(max_retries=1)

    def create(*items, **more):
        return client.responses.create(**asks(*items, **more))

    def finish(*items, using=client, **more):
        with using.responses.stream(**asks(*items, **more)) as stream:
            for _ in stream:
                pass
            return stream.get_final_response()

    def both(response):
        equal((response.status, response.output_text), ("completed", "Looking at both."))
        calls = [item for item in response.output if item.type == "function_call"]
        equal([(c.call_id, c.name, json.loads(c.arguments)) for c in calls], BOTH)

    def whole():
        fake.play(*two({}))
        response = create(user("Weather?"))
        both(response)
        outputs = [output("second", "sun"), output("first", "rain")]
        equal(create(user("Weather?"), *items(response), *outputs).output_text, "So: sun | rain")

    yield "a response in one piece, its parallel calls, and their outputs", whole

    def goes_on():
        fake.play(*two({}))
        before = create(user("Weather?")).id
        outputs = [output("first", "rain"), output("second", "sun")]
        equal(create(*outputs, previous_response_id=before).output_text, "So: rain | sun")
        fails(openai.BadRequestError, lambda: create(outputs[0], previous_response_id=before))

    yield "a response that goes on from the one before needs the outputs only", goes_on

    for name, manner in MANNERS.items():

        def streamed(manner=manner):
            fake.play(*two(manner))
            response = finish(user("Weather?"))
            both(response)
            outputs = [output("first", "rain"), output("second", "sun"), user("And tomorrow?")]
            equal(finish(user("Weather?"), *items(response), *outputs).output_text, "So: rain | sun")

        yield f"the same as a stream: {name}", streamed

    def cut_off():
        fake.play({"say": [call("weather", {"city": "Lyon"}, keep=9)], "stop": "max_tokens"})
        response = create(user("x"))
        equal((response.status, response.incomplete_details.reason), ("incomplete", "max_output_tokens"))

    yield "a call that was cut off says so", cut_off

    def thought():
        fake.play(
            {"when": {"results": 0}, "say": [thinking("They ask."), call("weather", {}, id="one")]},
            {"when": {"results": 1}, "say": [text("fine")]},
        )
        reasoning, tool = items(finish(user("x"), **SEALED))
        equal([item["type"] for item in (reasoning, tool)], ["reasoning", "function_call"])

        def go_on(*said):
            return create(user("x"), *said, output("one", "sun"), **SEALED).output_text

        equal(go_on(reasoning, tool), "fine")
        fails(openai.BadRequestError, lambda: go_on(tool))
        forged = {**reasoning, "encrypted_content": reasoning["encrypted_content"][:-1]}
        error = fails(openai.BadRequestError, lambda: go_on(forged, tool))
        equal(error.code, "invalid_encrypted_content")

    yield "reasoning comes back as it was, or not at all", thought

    def unpaired():
        fake.play({"say": [text("never said")]})
        for said, id in [
            ([user("x"), use("a"), user("never mind")], "a"),
            ([user("x"), use("a"), use("b"), output("a", "1")], "b"),
            ([user("x"), output("c", "1")], "c"),
            ([user("x"), use("a"), output("a", "1"), use("a")], "a"),
            ([user("x"), use("a"), output("a", "1"), output("a", "1")], "a"),
        ]:
            error = fails(openai.BadRequestError, lambda: create(*said))
            equal(error.type, "invalid_request_error")
            assert id in error.message, error.message

    yield "what breaks the pairing is a bad request that names the call", unpaired

    def strangers():
        fake.play({"say": [text("x")]})
        wrong = client.with_options(api_key="wrong")
        fails(openai.AuthenticationError, lambda: wrong.responses.create(**asks(user("x"))))
        none = {**asks(user("x")), "model": "none"}
        fails(openai.NotFoundError, lambda: client.responses.create(**none))

    yield "a wrong key and an unknown model have classes of their own", strangers

    def limited():
        fake.play(LIMITED, {"say": [text("at last")]})
        error = fails(openai.RateLimitError, lambda: create(user("x")))
        equal(error.response.headers["retry-after"], "1")
        fake.play(LIMITED, {"say": [text("at last")]})
        equal(finish(user("x"), using=patient).output_text, "at last")
        waited(fake)

    yield "a limit is told with the time to wait, and the client waits", limited

    def busy():
        fake.play({"fail": {"status": 500}})
        fails(openai.InternalServerError, lambda: create(user("x")))
        for status, wanted in ((500, "response.failed"), (429, "error")):
            then = {"error": {"status": status, "message": "Sorry."}}
            fake.play({"say": [text("never whole")], "manner": after(900, then)})
            # This client hands both on as the events that they are, and has no final response then.
            equal([event.type for event in create(user("x"), stream=True)][-1], wanted)
            fails(RuntimeError, lambda: finish(user("x")))

    yield "a server that fails, at once and in the middle", busy

    def broken():
        for bytes in (0, 1, 300, 1900):
            fake.play({"say": [call("weather", {"city": "Lyon"})], "manner": after(bytes, "cut")})
            fails(Exception, lambda: finish(user("x")))
            cut(fake)
        fake.play({"say": [text("never whole")], "manner": after(1900, "stall")})
        fails(Exception, lambda: finish(user("x"), using=client.with_options(timeout=0.5)))

    yield "a stream that breaks or stalls is an error", broken
