// OpenAI's own client against the fake: Chat Completions.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import OpenAI from "openai";
import { KEY, MANNERS, MODEL, SCHEMA, call, fails, start, text, thinking, two } from "./fake.mjs";

let fake, client;
const open = (more = {}) => new OpenAI({ apiKey: KEY, baseURL: `${fake.url}/v1`, maxRetries: 0, ...more });
before(async () => {
  fake = await start();
  client = open();
});
after(() => fake.stop());

const tools = [{ type: "function", function: { name: "weather", description: "The weather.", parameters: SCHEMA } }];
const asks = (...messages) => ({ model: MODEL, tools, messages });
const user = (content) => ({ role: "user", content });
const result = (tool_call_id, content) => ({ role: "tool", tool_call_id, content });
const uses = (...ids) => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => ({ id, type: "function", function: { name: "weather", arguments: "{}" } })),
});
const create = (body) => client.chat.completions.create(body);
const finish = (body, from = client) => from.chat.completions.stream(body).finalChatCompletion();

function isBoth(completion) {
  const [choice] = completion.choices;
  assert.equal(choice.finish_reason, "tool_calls");
  assert.equal(choice.message.content, "Looking at both.");
  const calls = choice.message.tool_calls.map((call) => [call.id, call.function.name, JSON.parse(call.function.arguments)]);
  assert.deepEqual(calls, [
    ["first", "weather", { city: "Köln 🌧", days: 2 }],
    ["second", "weather", { city: "Lyon", days: 1 }],
  ]);
  return choice.message;
}

test("a completion in one piece, its parallel calls, and their results", async () => {
  await fake.play(...two());
  const completion = await create(asks(user("Weather?")));
  assert.ok(completion.usage.total_tokens > 1);
  const message = isBoth(completion);
  const last = await create(asks(user("Weather?"), message, result("second", "sun"), result("first", "rain")));
  assert.deepEqual([last.choices[0].finish_reason, last.choices[0].message.content], ["stop", "So: sun | rain"]);
});

for (const [name, manner] of Object.entries(MANNERS)) {
  test(`the same as a stream: ${name}`, async () => {
    await fake.play(...two(manner));
    const completion = await finish({ ...asks(user("Weather?")), stream_options: { include_usage: true } });
    assert.ok(completion.usage.total_tokens > 1);
    const { role, content, tool_calls } = isBoth(completion);
    const after = asks(
      user("Weather?"),
      { role, content, tool_calls },
      result("first", "rain"),
      result("second", "sun"),
      user("And tomorrow?"),
    );
    assert.equal((await finish(after)).choices[0].message.content, "So: rain | sun");
  });
}

test("calls are told apart by their index, and only the first fragment has the id", async () => {
  await fake.play({
    say: [call("weather", { city: "A" }, { id: "a" }), call("weather", { city: "B" }, { id: "b" })],
    manner: { fragment: 4, interleave: true },
  });
  const seen = [];
  const stream = await create({ ...asks(user("x")), stream: true, stream_options: { include_usage: true } });
  let last;
  for await (const chunk of stream) {
    last = chunk;
    for (const call of chunk.choices[0]?.delta.tool_calls ?? []) seen.push([call.index, call.id, call.type]);
  }
  assert.deepEqual(seen.slice(0, 4), [
    [0, "a", "function"],
    [1, "b", "function"],
    [0, undefined, undefined],
    [1, undefined, undefined],
  ]);
  assert.deepEqual(last.choices, []);
  assert.ok(last.usage.total_tokens > 1);
});

test("no arguments are the empty object, and a call that was cut off says so", async () => {
  await fake.play({ say: [call("weather")] });
  const { message } = (await finish(asks(user("x")))).choices[0];
  assert.equal(message.tool_calls[0].function.arguments, "{}");
  await fake.play({ say: [call("weather", { city: "Lyon" }, { keep: 9 })], stop: "max_tokens" });
  const cut = await create(asks(user("x")));
  assert.equal(cut.choices[0].finish_reason, "length");
  assert.equal(cut.choices[0].message.tool_calls[0].function.arguments, '{"city":"');
});

test("thinking is told beside the text, as compatible servers do", async () => {
  await fake.play({ say: [thinking("Hm."), text("Yes.")] });
  const { message } = (await create(asks(user("x")))).choices[0];
  assert.deepEqual([message.reasoning_content, message.content], ["Hm.", "Yes."]);
});

test("what breaks the pairing is a bad request that names the call", async () => {
  await fake.play({ say: [text("never said")] });
  const calls = uses("a", "b");
  const wrong = {
    "no result": [[user("x"), calls, user("never mind")], "a, b"],
    "one of two": [[user("x"), calls, result("a", "1")], "b"],
    "not directly after": [[user("x"), calls, result("a", "1"), user("t"), result("b", "2")], "b"],
    "nothing after": [[user("x"), calls], "a, b"],
    "no call": [[user("x"), result("c", "1")], "tool_calls"],
    "a stranger": [[user("x"), calls, result("a", "1"), result("c", "3")], "'c'"],
    twice: [[user("x"), calls, result("a", "1"), result("a", "1"), result("b", "2")], "'a'"],
    "after another message": [[user("x"), uses("a"), result("a", "1"), user("t"), result("a", "1")], "tool_calls"],
  };
  for (const [name, [messages, part]] of Object.entries(wrong)) {
    const error = await fails(create(asks(...messages)), OpenAI.BadRequestError, { status: 400, type: "invalid_request_error" });
    assert.ok(error.message.includes(part), `${name}: ${error.message}`);
  }
});

test("what is missing or misnamed is a bad request", async () => {
  await fake.play({ say: [text("never said")] });
  const good = asks(user("x"));
  const wrong = [
    { ...good, messages: [] },
    { ...good, messages: [user(null)] },
    { ...good, stream_options: { include_usage: true } },
    { ...good, tools: [{ type: "function", function: { name: "shop.delete", parameters: SCHEMA } }] },
    { ...good, messages: [user("x"), { role: "assistant", content: "", tool_calls: [] }] },
  ];
  for (const body of wrong) await fails(create(body), OpenAI.BadRequestError);
});

test("a wrong key and an unknown model have classes of their own", async () => {
  await fake.play({ say: [text("x")] });
  const stranger = open({ apiKey: "wrong" });
  await fails(stranger.chat.completions.create(asks(user("x"))), OpenAI.AuthenticationError, { code: "invalid_api_key" });
  await fails(create({ ...asks(user("x")), model: "none" }), OpenAI.NotFoundError, { code: "model_not_found" });
});

test("a limit is told with the time to wait, and the client waits", async () => {
  const limited = { when: { request: 1 }, fail: { status: 429, retry_after: "1" } };
  await fake.play(limited, { say: [text("at last")] });
  const error = await fails(create(asks(user("x"))), OpenAI.RateLimitError);
  assert.equal(error.headers.get("retry-after"), "1");
  await fake.play(limited, { say: [text("at last")] });
  const completion = await finish(asks(user("x")), open({ maxRetries: 1 }));
  assert.equal(completion.choices[0].message.content, "at last");
  const [one, other] = await fake.requests();
  assert.ok(other.at_ms - one.at_ms >= 1000, `${other.at_ms - one.at_ms} ms`);
  assert.equal(one.body, other.body);
});

test("a server that fails, at once and in the middle", async () => {
  await fake.play({ fail: { status: 503 } });
  await fails(create(asks(user("x"))), OpenAI.InternalServerError, { status: 503 });
  const then = { error: { status: 500, message: "The server had an error" } };
  await fake.play({ say: [text("never whole")], manner: { after: { bytes: 300, then } } });
  const late = await fails(finish(asks(user("x"))), OpenAI.APIError);
  assert.match(late.message, /had an error/);
});

test("a stream that breaks, ends early or stalls is an error", async () => {
  for (const bytes of [0, 1, 300, 500]) {
    for (const then of ["cut", "end"]) {
      await fake.play({ say: [call("weather", { city: "Lyon" })], manner: { after: { bytes, then } } });
      await fails(finish(asks(user("x"))), Error);
      const [request] = await fake.requests();
      assert.deepEqual([request.status, request.ended], [200, "cut"]);
    }
  }
  await fake.play({ say: [text("never whole")], manner: { after: { bytes: 300, then: "stall" } } });
  const stream = client.chat.completions.stream(asks(user("x")));
  setTimeout(() => stream.abort(), 300);
  await fails(stream.finalChatCompletion(), OpenAI.APIUserAbortError);
});

test("models are listed", async () => {
  await fake.play();
  const models = [];
  for await (const model of client.models.list()) models.push(model.id);
  assert.deepEqual(models, [MODEL]);
});
