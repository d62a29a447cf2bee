// The fake model server, for tests that talk to it with a vendor's client.

import { spawn } from "node:child_process";
import assert from "node:assert/strict";
import { once } from "node:events";
import { createInterface } from "node:readline";

export const KEY = "fake-key";
export const MODEL = "fake-model";

/** Starts one. It ends with `stop`, or with us. */
export async function start() {
  const program = process.env.FAKE_MODEL_BIN;
  assert.ok(program, "FAKE_MODEL_BIN names the server; `cargo xtask test --only sdk` sets it");
  const child = spawn(program, [], { stdio: ["ignore", "pipe", "inherit"] });
  process.on("exit", () => child.kill());
  const [url] = await once(createInterface({ input: child.stdout }), "line");
  const door = async (path, body) => {
    const init = body && { method: "POST", body: JSON.stringify(body) };
    const reply = await fetch(`${url}/fake/${path}`, init);
    const said = await reply.json();
    assert.equal(reply.status, 200, said.why);
    return said;
  };
  return {
    url,
    stop: () => child.kill(),
    /** What it says from now on. Whatever was before is forgotten. */
    play: (...turns) => door("script", { turns }),
    requests: () => door("requests"),
  };
}

export const text = (text) => ({ type: "text", text });
export const thinking = (text) => ({ type: "thinking", text });
export const call = (name, input, more = {}) => ({ type: "call", name, input, ...more });

/** Two calls at once, then a last word that repeats what came back. */
export const two = (manner = {}) => [
  {
    when: { results: 0 },
    say: [
      text("Looking at both."),
      call("weather", { city: "Köln 🌧", days: 2 }, { id: "first", escaped: true }),
      call("weather", { city: "Lyon", days: 1 }, { id: "second" }),
    ],
    manner,
  },
  { when: { results: 2 }, say: [text("So: {result}")], manner },
];

/** Ways to send the same thing. A client must read the same message from each. */
export const MANNERS = {
  plain: {},
  "many fragments": { fragment: 1 },
  "byte by byte": { fragment: 3, chunk: 1 },
  interleaved: { fragment: 2, interleave: true },
  "with signs of life": { fragment: 5, ping: true },
  "with other line ends": { fragment: 5, crlf: true },
  dripping: { fragment: 40, drip_ms: 2 },
};

export const SCHEMA = {
  type: "object",
  properties: { city: { type: "string" }, days: { type: "integer" } },
  required: ["city"],
};

/** Fails as it should: with this class, and what else is true of it. */
export async function fails(promise, wanted, also = {}) {
  const error = await promise.then(
    (value) => assert.fail(`it went well: ${JSON.stringify(value)}`),
    (error) => error,
  );
  assert.ok(error instanceof wanted, `${error?.constructor?.name}: ${error?.message}`);
  for (const [key, value] of Object.entries(also)) assert.deepEqual(error[key], value, key);
  return error;
}
