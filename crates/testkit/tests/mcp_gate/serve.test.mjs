// `holdpoint mcp serve`: real clients ask people.

import assert from "node:assert/strict";
import { test } from "node:test";
import { legacy, modern, text } from "./clients.mjs";
import { python } from "./python.mjs";
import { nowhere, world } from "./world.mjs";

for (const kind of [legacy, modern]) {
  test(`${kind.name}: a person approves, chooses, chooses many and fills`, async (t) => {
    const w = await world(t);
    const client = await kind.connect(t, w, ["serve"]);
    if (kind === modern) assert.equal(client.getNegotiatedProtocolVersion(), "2026-07-28");
    const names = (await client.listTools()).tools.map((tool) => tool.name);
    assert.deepEqual(names, ["ask_person", "check_answer", "ask"]);
    const asked = async (question, answer) => {
      const calling = kind.call(client, "ask_person", question);
      const hold = await w.answer(answer, (hold) => hold.title === question.question);
      const { structuredContent } = await calling;
      assert.equal(structuredContent.hold, hold.id);
      return structuredContent;
    };
    const approved = await asked({ kind: "approve", question: "May I go on?" }, { verdict: "approve" });
    assert.equal(approved.state, "approved");
    const options = ["Blue", "Green", "Red"];
    const one = await asked({ kind: "choose", question: "Which?", options }, { choose: ["2"] });
    assert.deepEqual(one.answer, ["Green"]);
    const many = await asked({ kind: "choose", question: "Which ones?", options, multiple: true }, { choose: ["1", "3"] });
    assert.deepEqual(many.answer, ["Blue", "Red"]);
    const free = await asked({ kind: "fill", question: "Why?" }, { fill: { text: "because" } });
    assert.equal(free.answer, "because");
    const form = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
    const filled = await asked({ kind: "fill", question: "How many?", form }, { fill: { n: 3 } });
    assert.deepEqual(filled.answer, { n: 3 });
    const denied = await asked({ kind: "approve", question: "Really?" }, { verdict: "deny", reason: "too soon" });
    assert.deepEqual([denied.state, denied.reason], ["denied", "too soon"]);
  });

  test(`${kind.name}: nobody answers in time, and check_answer finds the answer later`, async (t) => {
    const w = await world(t);
    const client = await kind.connect(t, w, ["serve", "--wait", "1s"]);
    const first = await kind.call(client, "ask_person", { kind: "fill", question: "Who?" });
    assert.equal(first.structuredContent.state, "pending");
    assert.match(text(first), /check_answer/);
    const again = await kind.call(client, "check_answer", { hold: first.structuredContent.hold });
    assert.equal(again.structuredContent.state, "pending");
    await w.answer({ fill: { text: "me" } });
    const found = await kind.call(client, "check_answer", { hold: first.structuredContent.hold });
    assert.equal(found.structuredContent.answer, "me");
  });

  test(`${kind.name}: a cancelled question is withdrawn`, async (t) => {
    const w = await world(t);
    const client = await kind.connect(t, w, ["serve"]);
    const stop = new AbortController();
    const calling = kind.call(client, "ask_person", { kind: "approve", question: "Still?" }, { signal: stop.signal });
    const hold = await w.hold();
    stop.abort("enough");
    await assert.rejects(calling);
    const ended = await w.settled(hold.id);
    assert.equal(ended.state, "cancelled");
  });

  test(`${kind.name}: without a server the agent hears what to do`, async (t) => {
    const w = await world(t);
    const client = await kind.connect(t, w, ["serve"], { env: { HOLDPOINT_SERVER: await nowhere() } });
    const failed = await kind.call(client, "ask_person", { kind: "approve", question: "Anyone?" });
    assert.equal(failed.isError, true);
    assert.match(text(failed), /holdpoint serve/);
    const denied = await kind.call(client, "ask", { tool_name: "Bash", input: { command: "ls" }, tool_use_id: "t1" });
    assert.equal(JSON.parse(text(denied)).behavior, "deny");
  });

  test(`${kind.name}: the permission prompt gives back what was approved`, async (t) => {
    const w = await world(t);
    const client = await kind.connect(t, w, ["serve"]);
    const prompt = (id) => kind.call(client, "ask", { tool_name: "Bash", input: { command: "rm x" }, tool_use_id: id });
    let asking = prompt("t1");
    const hold = await w.approve();
    assert.equal(hold.call.tool, "Bash");
    assert.deepEqual(JSON.parse(text(await asking)), { behavior: "allow", updatedInput: { command: "rm x" } });
    asking = prompt("t2");
    const second = await w.hold();
    const edited = { ...second.call.arguments, input: { command: "ls x" } };
    await w.api(`/v1/holds/${second.id}/answer`, { digest: second.digest, answer: { verdict: "approve", arguments: edited } });
    assert.deepEqual(JSON.parse(text(await asking)), { behavior: "allow", updatedInput: { command: "ls x" } });
    asking = prompt("t3");
    await w.answer({ verdict: "deny", reason: "not today" });
    const denied = JSON.parse(text(await asking));
    assert.equal(denied.behavior, "deny");
    assert.match(denied.message, /not today/);
  });
}

test("mcp 2.3.0: a person is asked", async (t) => {
  const w = await world(t);
  const asking = python(t, w, ["serve"], [["ask_person", { kind: "approve", question: "May I?" }]]);
  await w.approve();
  const { version, results } = await asking;
  assert.equal(version, "2026-07-28");
  assert.equal(results[0].structured.state, "approved");
});
