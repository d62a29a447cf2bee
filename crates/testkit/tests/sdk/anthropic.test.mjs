// Anthropic's own client against the fake.

import Anthropic from "@anthropic-ai/sdk";
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { KEY, MANNERS, MODEL, SCHEMA, call, fails, start, text, thinking, two } from "./fake.mjs";

let fake, client;
before(async () => {
  fake = await start();
  client = new Anthropic({ apiKey: KEY, baseURL: fake.url, maxRetries: 0 });
});
after(() => fake.stop());

const tools = [{ name: "weather", description: "The weather.", input_schema: SCHEMA }];
const asks = (...messages) => ({ model: MODEL, max_tokens: 2000, tools, messages });
const user = (content) => ({ role: "user", content });
const assistant = (content) => ({ role: "assistant", content });
const result = (tool_use_id, content) => ({ type: "tool_result", tool_use_id, content });
const use = (id, input = {}) => ({ type: "tool_use", id, name: "weather", input });

const BOTH = [
  { type: "text", text: "Looking at both." },
  { type: "tool_use", id: "first", name: "weather", input: { city: "Köln 🌧", days: 2 } },
  { type: "tool_use", id: "second", name: "weather", input: { city: "Lyon", days: 1 } },
];

const plain = (message) => JSON.parse(JSON.stringify(message.content));

test("a message in one piece, its parallel calls, and their results", async () => {
  await fake.play(...two());
  const message = await client.messages.create(asks(user("Weather?")));
  assert.equal(message.stop_reason, "tool_use");
  assert.equal(message.role, "assistant");
  assert.ok(message.usage.input_tokens > 0 && message.usage.output_tokens > 0);
  assert.deepEqual(plain(message), BOTH);
  const last = await client.messages.create(
    asks(
      user("Weather?"),
      assistant(message.content),
      user([result("first", "rain"), { ...result("second", [text("sun")]), is_error: true }]),
    ),
  );
  assert.deepEqual([last.stop_reason, last.content[0].text], ["end_turn", "So: rain | sun"]);
});

for (const [name, manner] of Object.entries(MANNERS)) {
  test(`the same as a stream: ${name}`, async () => {
    await fake.play(...two(manner));
    const stream = client.messages.stream(asks(user("Weather?")));
    const message = await stream.finalMessage();
    assert.equal(message.stop_reason, "tool_use");
    assert.deepEqual(plain(message), BOTH);
    const after = client.messages.stream(
      asks(
        user("Weather?"),
        assistant(message.content),
        user([result("first", "rain"), result("second", "sun"), text("And tomorrow?")]),
      ),
    );
    assert.equal(await after.finalText(), "So: rain | sun");
  });
}

test("the raw events come in the order that the documentation promises", async () => {
  await fake.play({ say: [text("hi"), call("weather", {})] });
  const seen = [];
  for await (const event of await client.messages.create({ ...asks(user("x")), stream: true }))
    seen.push(event.type);
  assert.deepEqual(seen.filter((type) => type !== "ping"), [
    "message_start",
    ...["content_block_start", "content_block_delta", "content_block_stop"],
    ...["content_block_start", "content_block_delta", "content_block_delta", "content_block_stop"],
    "message_delta",
    "message_stop",
  ]);
});

test("no arguments at all are the empty object", async () => {
  await fake.play({ say: [call("weather")] });
  const [block] = plain(await client.messages.stream(asks(user("x"))).finalMessage());
  assert.deepEqual(block.input, {});
});

test("a call that the token limit cut off says so", async () => {
  await fake.play({ say: [call("weather", { city: "Lyon" }, { keep: 9 })], stop: "max_tokens" });
  const message = await client.messages.stream(asks(user("x"))).finalMessage();
  assert.equal(message.stop_reason, "max_tokens");
  assert.equal(message.content[0].input.city ?? "", "");
});

test("a paused turn goes on when it is sent again as it is", async () => {
  await fake.play(
    { when: { request: 1 }, say: [text("One moment.")], stop: "pause_turn" },
    { say: [text("Done.")] },
  );
  const paused = await client.messages.stream(asks(user("x"))).finalMessage();
  assert.equal(paused.stop_reason, "pause_turn");
  const last = await client.messages.create(asks(user("x"), assistant(paused.content)));
  assert.equal(last.content[0].text, "Done.");
});

test("thinking comes back as it was, or not at all", async () => {
  const thought = "They want the weather. Ünïcode, too.";
  const say = [thinking(thought), { type: "redacted_thinking", text: "secret" }];
  const turns = [
    { when: { results: 0 }, say: [...say, call("weather", { city: "Lyon" }, { id: "one" })] },
    { when: { results: 1 }, say: [text("fine")] },
  ];
  await fake.play(...turns);
  const whole = await client.messages.create(asks(user("x")));
  const streamed = await client.messages.stream(asks(user("x"))).finalMessage();
  assert.deepEqual(plain(streamed), plain(whole));
  assert.equal(streamed.content[0].thinking, thought);
  assert.ok(streamed.content[0].signature.length > 100);
  const goOn = (content) =>
    client.messages.create(asks(user("x"), assistant(content), user([result("one", "sun")])));
  assert.equal((await goOn(streamed.content)).content[0].text, "fine");
  const [first, ...rest] = plain(streamed);
  const { BadRequestError } = Anthropic;
  await fails(goOn([{ ...first, thinking: thought + " " }, ...rest]), BadRequestError);
  await fails(goOn([{ ...first, signature: first.signature.slice(1) }, ...rest]), BadRequestError);
  await fails(goOn(rest), BadRequestError);
  await fails(goOn([first, { ...rest[0], data: "00" + rest[0].data }, rest[1]]), BadRequestError);
  // What was thought about an earlier message may be left out.
  const later = asks(user("x"), assistant(rest.slice(1)), user([result("one", "s")]), assistant("ok"), user("y"));
  assert.ok(await client.messages.create(later));
});

test("what breaks the pairing is a bad request that names the call", async () => {
  await fake.play({ say: [text("never said")] });
  const two = assistant([use("a"), use("b")]);
  const wrong = {
    "no result": [[user("x"), two, user("never mind")], "a, b"],
    "one of two": [[user("x"), two, user([result("a", "1")])], "b"],
    "nothing after": [[user("x"), two], "a, b"],
    "after a text": [[user("x"), two, user([result("a", "1"), text("t"), result("b", "2")])], "b"],
    "two user turns": [[user("x"), two, user([result("a", "1")]), user([result("b", "2")])], "b"],
    "twice": [[user("x"), two, user([result("a", "1"), result("a", "1"), result("b", "2")])], "a"],
    "no call": [[user("x"), user([result("c", "1")])], "c"],
    "a stranger": [[user("x"), two, user([result("a", "1"), result("b", "2"), result("c", "3")])], "c"],
  };
  for (const [name, [messages, ids]] of Object.entries(wrong)) {
    const error = await fails(client.messages.create(asks(...messages)), Anthropic.BadRequestError, { status: 400 });
    assert.equal(error.error.error.type, "invalid_request_error", name);
    assert.ok(error.message.includes(ids), `${name}: ${error.message}`);
  }
});

test("what is missing or misnamed is a bad request", async () => {
  await fake.play({ say: [text("never said")] });
  const good = asks(user("x"));
  const wrong = [
    { ...good, max_tokens: undefined },
    { ...good, messages: [] },
    { ...good, messages: [user("")] },
    { ...good, messages: [assistant("I begin")] },
    { ...good, tools: [{ ...tools[0], name: "shop.delete" }] },
    { ...good, tools: [tools[0], tools[0]] },
    { ...good, messages: [user("x"), assistant("and then ")] },
  ];
  for (const body of wrong) await fails(client.messages.create(body), Anthropic.BadRequestError);
  const old = new Anthropic({ apiKey: KEY, baseURL: fake.url, defaultHeaders: { "anthropic-version": null } });
  await fails(old.messages.create(good), Anthropic.BadRequestError);
});

test("a wrong key and an unknown model have classes of their own", async () => {
  await fake.play({ say: [text("x")] });
  const stranger = new Anthropic({ apiKey: "wrong", baseURL: fake.url });
  const error = await fails(stranger.messages.create(asks(user("x"))), Anthropic.AuthenticationError);
  assert.equal(error.error.error.type, "authentication_error");
  await fails(client.messages.create({ ...asks(user("x")), model: "none" }), Anthropic.NotFoundError);
});

test("a limit is told with the time to wait, and the client waits", async () => {
  const limited = { when: { request: 1 }, fail: { status: 429, retry_after: "1" } };
  await fake.play(limited, { say: [text("at last")] });
  const error = await fails(client.messages.create(asks(user("x"))), Anthropic.RateLimitError);
  assert.equal(error.headers.get("retry-after"), "1");
  assert.equal(error.error.error.type, "rate_limit_error");
  await fake.play(limited, { say: [text("at last")] });
  const patient = new Anthropic({ apiKey: KEY, baseURL: fake.url, maxRetries: 1 });
  const message = await patient.messages.stream(asks(user("x"))).finalMessage();
  assert.equal(message.content[0].text, "at last");
  const [one, other] = await fake.requests();
  assert.ok(other.at_ms - one.at_ms >= 1000, `${other.at_ms - one.at_ms} ms`);
  assert.equal(one.body, other.body);
});

test("an overloaded server, and errors in the middle", async () => {
  await fake.play({ fail: { status: 529 } });
  const busy = await fails(client.messages.create(asks(user("x"))), Anthropic.InternalServerError, { status: 529 });
  assert.equal(busy.error.error.type, "overloaded_error");
  const then = { error: { status: 529, message: "Overloaded" } };
  await fake.play({ say: [text("never whole")], manner: { after: { bytes: 600, then } } });
  const late = await fails(client.messages.stream(asks(user("x"))).finalMessage(), Anthropic.APIError);
  assert.match(late.message, /overloaded_error/);
});

test("a stream that breaks, ends early or stalls is an error", async () => {
  for (const bytes of [0, 1, 300, 700]) {
    for (const then of ["cut", "end"]) {
      await fake.play({ say: [call("weather", { city: "Lyon" })], manner: { after: { bytes, then } } });
      await fails(client.messages.stream(asks(user("x"))).finalMessage(), Error);
      const [request] = await fake.requests();
      assert.deepEqual([request.status, request.ended], [200, "cut"]);
    }
  }
  await fake.play({ say: [text("never whole")], manner: { after: { bytes: 500, then: "stall" } } });
  const stream = client.messages.stream(asks(user("x")));
  setTimeout(() => stream.abort(), 300);
  await fails(stream.finalMessage(), Anthropic.APIUserAbortError);
});

test("tokens are counted, and models listed", async () => {
  await fake.play();
  const { model, messages, tools } = asks(user("How long is this?"));
  assert.ok((await client.messages.countTokens({ model, messages, tools })).input_tokens > 10);
  const unpaired = { model, messages: [user("x"), assistant([use("a")])] };
  await fails(client.messages.countTokens(unpaired), Anthropic.BadRequestError);
  const models = [];
  for await (const model of client.models.list()) models.push(model.id);
  assert.deepEqual(models, [MODEL]);
});

test("the requests are recorded as they came, and the path alone decides", async () => {
  await fake.play({ say: [text("hi")] });
  await client.messages.create(asks(user("Grüße")), { query: { beta: true } });
  const [request] = await fake.requests();
  assert.deepEqual([request.method, request.path, request.query], ["POST", "/v1/messages", "beta=true"]);
  const { authorization, "x-api-key": key } = request.headers;
  assert.ok(key === KEY || authorization === `Bearer ${KEY}`);
  assert.equal(JSON.parse(request.body).messages[0].content, "Grüße");
  assert.equal((await fetch(`${fake.url}/`, { method: "HEAD" })).status, 200);
});
