"""OpenAI's own client against the fake: Chat Completions."""

import json

import openai

from fake import BOTH, KEY, LIMITED, MANNERS, MODEL, SCHEMA, after, call, cut, equal, fails, text, two, waited

FUNCTION = {"name": "weather", "description": "The weather.", "parameters": SCHEMA}


def asks(*messages):
    return {"model": MODEL, "tools": [{"type": "function", "function": FUNCTION}], "messages": list(messages)}


def user(content):
    return {"role": "user", "content": content}


def result(id, content):
    return {"role": "tool", "tool_call_id": id, "content": content}


def uses(*ids):
    function = {"name": "weather", "arguments": "{}"}
    calls = [{"id": id, "type": "function", "function": function} for id in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def tests(fake):
    client = openai.OpenAI(api_key=KEY, base_url=f"{fake.url}/v1", max_retries=0, timeout=20)
    patient = client.with_options(max_retries=1)

    def create(*messages):
        return client.chat.completions.create(**asks(*messages))

    def finish(*messages, using=client):
        with using.chat.completions.stream(**asks(*messages)) as stream:
            for _ in stream:
                pass
            return stream.get_final_completion()

    def both(completion):
        choice = completion.choices[0]
        equal((choice.finish_reason, choice.message.content), ("tool_calls", "Looking at both."))
        calls = choice.message.tool_calls
        equal([(c.id, c.function.name, json.loads(c.function.arguments)) for c in calls], BOTH)
        said = choice.message.model_dump(include={"role", "content"})
        back = [{"id": c.id, "type": "function", "function": c.function.model_dump(include={"name", "arguments"})} for c in calls]
        return {**said, "tool_calls": back}

    def whole():
        fake.play(*two({}))
        message = both(create(user("Weather?")))
        last = create(user("Weather?"), message, result("second", "sun"), result("first", "rain")).choices[0]
        equal((last.finish_reason, last.message.content), ("stop", "So: sun | rain"))

    yield "a completion in one piece, its parallel calls, and their results", whole

    for name, manner in MANNERS.items():

        def streamed(manner=manner):
            fake.play(*two(manner))
            message = both(finish(user("Weather?")))
            results = [result("first", "rain"), result("second", "sun"), user("And tomorrow?")]
            last = finish(user("Weather?"), message, *results)
            equal(last.choices[0].message.content, "So: rain | sun")

        yield f"the same as a stream: {name}", streamed

    def cut_off():
        fake.play({"say": [call("weather", {"city": "Lyon"}, keep=9)], "stop": "max_tokens"})
        choice = create(user("x")).choices[0]
        equal((choice.finish_reason, choice.message.tool_calls[0].function.arguments), ("length", '{"city":"'))

    yield "a call that was cut off says so", cut_off

    def unpaired():
        fake.play({"say": [text("never said")]})
        for messages, part in [
            ([user("x"), uses("a", "b"), user("never mind")], "a, b"),
            ([user("x"), uses("a", "b"), result("a", "1")], "b"),
            ([user("x"), uses("a", "b"), result("a", "1"), user("t"), result("b", "2")], "b"),
            ([user("x"), result("c", "1")], "tool_calls"),
            ([user("x"), uses("a"), result("a", "1"), result("a", "1")], "'a'"),
        ]:
            error = fails(openai.BadRequestError, lambda: create(*messages))
            equal(error.type, "invalid_request_error")
            assert part in error.message, error.message

    yield "what breaks the pairing is a bad request that names the call", unpaired

    def strangers():
        fake.play({"say": [text("x")]})
        wrong = client.with_options(api_key="wrong")
        error = fails(openai.AuthenticationError, lambda: wrong.chat.completions.create(**asks(user("x"))))
        equal(error.code, "invalid_api_key")
        none = {**asks(user("x")), "model": "none"}
        fails(openai.NotFoundError, lambda: client.chat.completions.create(**none))

    yield "a wrong key and an unknown model have classes of their own", strangers

    def limited():
        fake.play(LIMITED, {"say": [text("at last")]})
        error = fails(openai.RateLimitError, lambda: create(user("x")))
        equal(error.response.headers["retry-after"], "1")
        fake.play(LIMITED, {"say": [text("at last")]})
        equal(finish(user("x"), using=patient).choices[0].message.content, "at last")
        waited(fake)

    yield "a limit is told with the time to wait, and the client waits", limited

    def busy():
        fake.play({"fail": {"status": 503}})
        fails(openai.InternalServerError, lambda: create(user("x")))
        then = {"error": {"status": 500, "message": "The server had an error"}}
        fake.play({"say": [text("never whole")], "manner": after(300, then)})
        fails(openai.APIError, lambda: finish(user("x")))

    yield "a server that fails, at once and in the middle", busy

    def broken():
        for bytes in (0, 1, 300, 500):
            fake.play({"say": [call("weather", {"city": "Lyon"})], "manner": after(bytes, "cut")})
            fails(Exception, lambda: finish(user("x")))
            cut(fake)
        fake.play({"say": [text("never whole")], "manner": after(300, "stall")})
        fails(Exception, lambda: finish(user("x"), using=client.with_options(timeout=0.5)))

    yield "a stream that breaks or stalls is an error", broken

    def listed():
        fake.play()
        equal([model.id for model in client.models.list()], [MODEL])

    yield "models are listed", listed
