// OpenAI's own client against the fake: Responses.

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

const tools = [{ type: "function", name: "weather", description: "The weather.", parameters: SCHEMA, strict: false }];
const asks = (...input) => ({ model: MODEL, tools, input });
const user = (content) => ({ role: "user", content });
const use = (call_id, more = {}) => ({ type: "function_call", call_id, name: "weather", arguments: "{}", ...more });
const output = (call_id, output) => ({ type: "function_call_output", call_id, output });
const create = (body) => client.responses.create(body);
const finish = (body, from = client) => from.responses.stream(body).finalResponse();

function isBoth(response) {
  assert.equal(response.status, "completed");
  assert.equal(response.output_text, "Looking at both.");
  const calls = response.output.filter((item) => item.type === "function_call");
  assert.deepEqual(
    calls.map((item) => [item.call_id, item.name, JSON.parse(item.arguments), item.status]),
    [
      ["first", "weather", { city: "Köln 🌧", days: 2 }, "completed"],
      ["second", "weather", { city: "Lyon", days: 1 }, "completed"],
    ],
  );
  assert.ok(calls.every((item) => item.id.startsWith("fc_") && item.id !== item.call_id));
}

/** Items as they go back: without what the client added. */
const back = (response) =>
  response.output.map(({ parsed_arguments, ...item }) =>
    item.type === "message" ? { ...item, content: item.content.map(({ parsed, ...part }) => part) } : item,
  );

test("a response in one piece, its parallel calls, and their outputs", async () => {
  await fake.play(...two());
  const response = await create(asks(user("Weather?")));
  isBoth(response);
  assert.ok(response.usage.total_tokens > 1);
  const last = await create(asks(user("Weather?"), ...response.output, output("second", "sun"), output("first", "rain")));
  assert.deepEqual([last.status, last.output_text], ["completed", "So: sun | rain"]);
});

test("a response that goes on from the one before needs the outputs only", async () => {
  await fake.play(...two());
  const { id } = await create({ ...asks(), input: "Weather?" });
  const go = (...input) => create({ ...asks(...input), previous_response_id: id });
  assert.equal((await go(output("first", "rain"), output("second", "sun"))).output_text, "So: rain | sun");
  await fails(go(output("first", "rain")), OpenAI.BadRequestError);
  const gone = create({ ...asks(user("x")), previous_response_id: "resp_none" });
  await fails(gone, OpenAI.BadRequestError, { code: "previous_response_not_found" });
});

for (const [name, manner] of Object.entries(MANNERS)) {
  test(`the same as a stream: ${name}`, async () => {
    await fake.play(...two(manner));
    const response = await finish(asks(user("Weather?")));
    isBoth(response);
    const after = asks(user("Weather?"), ...back(response), output("first", "rain"), output("second", "sun"), user("And?"));
    assert.equal((await finish(after)).output_text, "So: rain | sun");
  });
}

test("the events of a call come in order, with rising numbers and no [DONE]", async () => {
  await fake.play({ say: [call("weather", { city: "Lyon" })], manner: { fragment: 100 } });
  const seen = [];
  for await (const event of await create({ ...asks(user("x")), stream: true })) seen.push(event);
  assert.deepEqual(
    seen.map((event) => event.type),
    [
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.function_call_arguments.delta",
      "response.function_call_arguments.done",
      "response.output_item.done",
      "response.completed",
    ],
  );
  assert.deepEqual(seen.map((event) => event.sequence_number), seen.map((_, number) => number));
  assert.equal(seen[2].item.arguments, "");
  assert.equal(seen[4].arguments, '{"city":"Lyon"}');
});

test("no arguments are the empty object, and a call that was cut off says so", async () => {
  await fake.play({ say: [call("weather")] });
  assert.equal((await finish(asks(user("x")))).output[0].arguments, "{}");
  await fake.play({ say: [call("weather", { city: "Lyon" }, { keep: 9 })], stop: "max_tokens" });
  const cut = await create(asks(user("x")));
  assert.deepEqual([cut.status, cut.incomplete_details.reason], ["incomplete", "max_output_tokens"]);
  assert.deepEqual([cut.output[0].status, cut.output[0].arguments], ["incomplete", '{"city":"']);
});

test("reasoning comes back as it was, or not at all", async () => {
  await fake.play(
    { when: { results: 0 }, say: [thinking("They ask. Ünïcode."), call("weather", {}, { id: "one" })] },
    { when: { results: 1 }, say: [text("fine")] },
  );
  const sealed = { store: false, include: ["reasoning.encrypted_content"] };
  const whole = await create({ ...asks(user("x")), ...sealed });
  const streamed = await finish({ ...asks(user("x")), ...sealed });
  assert.equal(streamed.output[0].encrypted_content, whole.output[0].encrypted_content);
  assert.equal(streamed.output[0].summary[0].text, "They ask. Ünïcode.");
  const goOn = (...items) => create({ ...asks(user("x"), ...items, output("one", "sun")), ...sealed });
  const [reasoning, use] = back(streamed);
  assert.equal((await goOn(reasoning, use)).output_text, "fine");
  await fails(goOn(use), OpenAI.BadRequestError);
  const forged = { ...reasoning, encrypted_content: "00" + reasoning.encrypted_content };
  await fails(goOn(forged, use), OpenAI.BadRequestError, { code: "invalid_encrypted_content" });
  await fails(goOn({ ...reasoning, encrypted_content: undefined }, use), OpenAI.NotFoundError);
  await fails(create({ ...asks(user("x"), reasoning), ...sealed }), OpenAI.BadRequestError);
});

test("what breaks the pairing is a bad request that names the call", async () => {
  await fake.play({ say: [text("never said")] });
  const wrong = {
    "no output": [[user("x"), use("a"), user("never mind")], "a"],
    "one of two": [[user("x"), use("a"), use("b"), output("a", "1")], "b"],
    "no call": [[user("x"), output("c", "1")], "c"],
    "before its call": [[user("x"), output("a", "1"), use("a")], "a"],
    "a call twice": [[user("x"), use("a"), output("a", "1"), use("a")], "a"],
    "an output twice": [[user("x"), use("a"), output("a", "1"), output("a", "1")], "a"],
  };
  for (const [name, [items, id]] of Object.entries(wrong)) {
    const error = await fails(create(asks(...items)), OpenAI.BadRequestError, { status: 400, type: "invalid_request_error" });
    assert.ok(error.message.includes(id), `${name}: ${error.message}`);
  }
});

test("what is missing or misnamed is a bad request", async () => {
  await fake.play({ say: [text("never said")] });
  const good = asks(user("x"));
  const wrong = [
    { ...good, input: [] },
    { ...good, tools: [{ ...tools[0], name: "shop.delete" }] },
    { ...good, tools: [{ ...tools[0], strict: true }] },
    asks(user("x"), use("a", { id: "call_a" }), output("a", "1")),
    asks({ role: "assistant", content: [{ type: "input_text", text: "x" }] }),
  ];
  for (const body of wrong) await fails(create(body), OpenAI.BadRequestError);
});

test("a wrong key and an unknown model have classes of their own", async () => {
  await fake.play({ say: [text("x")] });
  await fails(open({ apiKey: "wrong" }).responses.create(asks(user("x"))), OpenAI.AuthenticationError);
  await fails(create({ ...asks(user("x")), model: "none" }), OpenAI.NotFoundError);
});

test("a limit is told with the time to wait, and the client waits", async () => {
  const limited = { when: { request: 1 }, fail: { status: 429, retry_after: "1" } };
  await fake.play(limited, { say: [text("at last")] });
  const error = await fails(create(asks(user("x"))), OpenAI.RateLimitError);
  assert.equal(error.headers.get("retry-after"), "1");
  await fake.play(limited, { say: [text("at last")] });
  assert.equal((await finish(asks(user("x")), open({ maxRetries: 1 }))).output_text, "at last");
  const [one, other] = await fake.requests();
  assert.ok(other.at_ms - one.at_ms >= 1000, `${other.at_ms - one.at_ms} ms`);
});

test("a server that fails, at once and in the middle", async () => {
  await fake.play({ fail: { status: 500 } });
  await fails(create(asks(user("x"))), OpenAI.InternalServerError);
  const say = [text("never whole")];
  const error = (status) => ({ bytes: 900, then: { error: { status, message: "Sorry." } } });
  await fake.play({ say, manner: { after: error(500) } });
  const failed = [];
  for await (const event of await create({ ...asks(user("x")), stream: true })) failed.push(event);
  const last = failed.at(-1);
  assert.deepEqual([last.type, last.response.status, last.response.error.message], ["response.failed", "failed", "Sorry."]);
  await fake.play({ say, manner: { after: error(429) } });
  await fails(finish(asks(user("x"))), OpenAI.APIError);
});

test("a stream that breaks, ends early or stalls is an error", async () => {
  for (const bytes of [0, 1, 300, 1900]) {
    for (const then of ["cut", "end"]) {
      await fake.play({ say: [call("weather", { city: "Lyon" })], manner: { after: { bytes, then } } });
      await fails(finish(asks(user("x"))), Error);
      const [request] = await fake.requests();
      assert.deepEqual([request.status, request.ended], [200, "cut"]);
    }
  }
  await fake.play({ say: [text("never whole")], manner: { after: { bytes: 1900, then: "stall" } } });
  const stream = client.responses.stream(asks(user("x")));
  setTimeout(() => stream.abort(), 300);
  await fails(stream.finalResponse(), OpenAI.APIUserAbortError);
});
