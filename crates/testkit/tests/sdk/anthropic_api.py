"""Anthropic's own client against the fake."""

import anthropic

from fake import BOTH, KEY, LIMITED, MANNERS, MODEL, SCHEMA, after, call, cut, equal, fails, text, thinking, two, waited

TOOLS = [{"name": "weather", "description": "The weather.", "input_schema": SCHEMA}]


def asks(*messages):
    return {"model": MODEL, "max_tokens": 2000, "tools": TOOLS, "messages": list(messages)}


def user(content):
    return {"role": "user", "content": content}


def assistant(content):
    return {"role": "assistant", "content": content}


def result(id, content):
    return {"type": "tool_result", "tool_use_id": id, "content": content}


def use(id):
    return {"type": "tool_use", "id": id, "name": "weather", "input": {}}


def blocks(message):
    return [block.model_dump(exclude_none=True) for block in message.content]


def tests(fake):
    client = anthropic.Anthropic(api_key=KEY, base_url=fake.url, max_retries=0, timeout=20)
    patient = client.with_options(max_retries=1)

    def finish(body, using=client):
        with using.messages.stream(**body) as stream:
            return stream.get_final_message()

    def both(message):
        equal(message.stop_reason, "tool_use")
        equal(message.content[0].text, "Looking at both.")
        equal([(block.id, block.name, block.input) for block in message.content[1:]], BOTH)

    def whole():
        fake.play(*two({}))
        message = client.messages.create(**asks(user("Weather?")))
        both(message)
        results = user([result("first", "rain"), result("second", [text("sun")])])
        last = client.messages.create(**asks(user("Weather?"), assistant(message.content), results))
        equal((last.stop_reason, last.content[0].text), ("end_turn", "So: rain | sun"))

    yield "a message in one piece, its parallel calls, and their results", whole

    for name, manner in MANNERS.items():

        def streamed(manner=manner):
            fake.play(*two(manner))
            message = finish(asks(user("Weather?")))
            both(message)
            results = user([result("first", "rain"), result("second", "sun"), text("And tomorrow?")])
            last = finish(asks(user("Weather?"), assistant(message.content), results))
            equal(last.content[0].text, "So: rain | sun")

        yield f"the same as a stream: {name}", streamed

    def empty():
        fake.play({"say": [call("weather")]})
        equal(finish(asks(user("x"))).content[0].input, {})
        cut_off = {"say": [call("weather", {"city": "Lyon"}, keep=9)], "stop": "max_tokens"}
        fake.play(cut_off)
        equal(client.messages.create(**asks(user("x"))).stop_reason, "max_tokens")

    yield "no arguments are the empty object, and a call that was cut off says so", empty

    def paused():
        moment = {"when": {"request": 1}, "say": [text("One moment.")], "stop": "pause_turn"}
        fake.play(moment, {"say": [text("Done.")]})
        message = finish(asks(user("x")))
        equal(message.stop_reason, "pause_turn")
        last = client.messages.create(**asks(user("x"), assistant(message.content)))
        equal(last.content[0].text, "Done.")

    yield "a paused turn goes on when it is sent again as it is", paused

    def thought():
        say = [thinking("They ask. Ünïcode."), {"type": "redacted_thinking", "text": "secret"}]
        fake.play(
            {"when": {"results": 0}, "say": [*say, call("weather", {"city": "Lyon"}, id="one")]},
            {"when": {"results": 1}, "say": [text("fine")]},
        )
        whole = blocks(client.messages.create(**asks(user("x"))))
        streamed = blocks(finish(asks(user("x"))))
        equal(streamed, whole)

        def go_on(*content):
            body = asks(user("x"), assistant(list(content)), user([result("one", "sun")]))
            return client.messages.create(**body).content[0].text

        equal(go_on(*streamed), "fine")
        first, second, tool = streamed
        bad = anthropic.BadRequestError
        fails(bad, lambda: go_on({**first, "thinking": first["thinking"] + " "}, second, tool))
        fails(bad, lambda: go_on({**first, "signature": first["signature"][1:]}, second, tool))
        fails(bad, lambda: go_on(first, {**second, "data": "00" + second["data"]}, tool))
        fails(bad, lambda: go_on(tool))

    yield "thinking comes back as it was, or not at all", thought

    def unpaired():
        fake.play({"say": [text("never said")]})
        calls = assistant([use("a"), use("b")])
        for messages, ids in [
            ([user("x"), calls, user("never mind")], "a, b"),
            ([user("x"), calls, user([result("a", "1")])], "b"),
            ([user("x"), calls, user([result("a", "1"), text("t"), result("b", "2")])], "b"),
            ([user("x"), calls, user([result("a", "1"), result("a", "1"), result("b", "2")])], "a"),
            ([user("x"), user([result("c", "1")])], "c"),
        ]:
            error = fails(anthropic.BadRequestError, lambda: client.messages.create(**asks(*messages)))
            equal(error.body["error"]["type"], "invalid_request_error")
            assert ids in error.message, error.message

    yield "what breaks the pairing is a bad request that names the call", unpaired

    def strangers():
        fake.play({"say": [text("x")]})
        wrong = client.with_options(api_key="wrong")
        fails(anthropic.AuthenticationError, lambda: wrong.messages.create(**asks(user("x"))))
        none = {**asks(user("x")), "model": "none"}
        fails(anthropic.NotFoundError, lambda: client.messages.create(**none))

    yield "a wrong key and an unknown model have classes of their own", strangers

    def limited():
        fake.play(LIMITED, {"say": [text("at last")]})
        error = fails(anthropic.RateLimitError, lambda: client.messages.create(**asks(user("x"))))
        equal(error.response.headers["retry-after"], "1")
        fake.play(LIMITED, {"say": [text("at last")]})
        equal(finish(asks(user("x")), patient).content[0].text, "at last")
        waited(fake)

    yield "a limit is told with the time to wait, and the client waits", limited

    def busy():
        fake.play({"fail": {"status": 529}})
        error = fails(anthropic.InternalServerError, lambda: client.messages.create(**asks(user("x"))))
        equal((error.status_code, error.body["error"]["type"]), (529, "overloaded_error"))
        then = {"error": {"status": 529, "message": "Overloaded"}}
        fake.play({"say": [text("never whole")], "manner": after(600, then)})
        fails(anthropic.APIStatusError, lambda: finish(asks(user("x"))))

    yield "an overloaded server, and errors in the middle", busy

    def broken():
        for bytes in (0, 1, 300, 700):
            fake.play({"say": [call("weather", {"city": "Lyon"})], "manner": after(bytes, "cut")})
            fails(Exception, lambda: finish(asks(user("x"))))
            cut(fake)
        fake.play({"say": [text("never whole")], "manner": after(500, "stall")})
        hasty = client.with_options(timeout=0.5)
        fails(Exception, lambda: finish(asks(user("x")), hasty))

    yield "a stream that breaks or stalls is an error", broken

    def counted():
        fake.play()
        count = {"model": MODEL, "messages": [user("How long is this?")], "tools": TOOLS}
        assert client.messages.count_tokens(**count).input_tokens > 10
        count["messages"].append(assistant([use("a")]))
        fails(anthropic.BadRequestError, lambda: client.messages.count_tokens(**count))
        equal([model.id for model in client.models.list()], [MODEL])

    yield "tokens are counted, and models listed", counted
