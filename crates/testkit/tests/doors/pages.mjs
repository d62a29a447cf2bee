// What a page does that was closed, was reloaded, or says something else than it said: for every version of
// the client.

import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "./world.mjs";

/** The tests of one version, with what its suite has. `world` gives the program that runs now. */
export function pages({ ai, version, approvals, asked, chat, tools, states, words, settled, decide, post, posted, world }) {
  test("i55: an answer given elsewhere reaches an idle page at its next resume, and a reloaded one", async () => {
    const talk = chat();
    await talk.sendMessage({ text: "send one mail" });
    const id = talk.lastMessage.id;
    const [hold] = (await world().pending()).filter((it) => it.run === id);
    await world().answer(hold.id, { verdict: "approve" });
    await until(async () => (await world().api("GET", `/v1/sessions/${hold.session}`)).run.status === "completed", "done");
    await talk.resumeStream();
    assert.deepEqual(talk.errors, []);
    assert.deepEqual([talk.messages.length, talk.lastMessage.id], [2, id]);
    assert.deepEqual(states(talk), ["output-available"]);
    assert.equal(words(talk), "One mail.|Result: sent\n", "each word once");
    // It has been told to its end now.
    const other = chat({ id: talk.id });
    await other.resumeStream();
    assert.deepEqual([other.messages.length, other.errors.length], [0, 0]);
    // A page that was closed meanwhile has the whole of it from the list.
    const loaded = chat({ id: talk.id, messages: await load(talk.id) });
    assert.deepEqual(states(loaded), ["output-available"]);
    assert.equal(words(loaded), "One mail.|Result: sent\n");
  });

  /** The messages of a chat, as a page loads them. */
  async function load(id, token = world().ana) {
    const headers = { authorization: `Bearer ${token}` };
    const reply = await fetch(`${world().url}/api/chat/${encodeURIComponent(id)}/messages?ui=${version}`, { headers });
    if (!reply.ok) return reply.status;
    const messages = await reply.json();
    return ai.validateUIMessages({ messages });
  }

  test("a page loads a chat and answers what is open in it", async () => {
    const talk = chat();
    const before = world().did().length;
    await talk.sendMessage({ text: "look and send" });
    const messages = await load(talk.id);
    assert.deepEqual(messages.map((message) => message.role), ["user", "assistant"]);
    assert.equal(messages[0].parts[0].text, "look and send");
    assert.equal(messages[1].id, talk.lastMessage.id);
    const page = chat({ id: talk.id, messages });
    assert.deepEqual(states(page), ["output-available", asked]);
    assert.deepEqual(tools(page)[0].output, { seen: 7 });
    await decide(page, tools(page)[1], true);
    await settled(page, /Result: /);
    assert.equal(world().did().length, before + 1);
    const denied = chat();
    await denied.sendMessage({ text: "send one mail" });
    await decide(denied, tools(denied)[0], false);
    await settled(denied, /Result: /);
    const [part] = (await load(denied.id))[1].parts.filter((part) => part.toolCallId);
    if (approvals) assert.equal(part.state, "output-denied");
    else assert.equal(part.output.status, "denied");
    // Nobody else's.
    assert.deepEqual([await load(talk.id, world().bob), await load("chat_nowhere")], [404, 404]);
  });

  if (approvals) test("a message typed during a pause shows the open call again, which is answered from there", async () => {
    const talk = chat();
    const before = world().did().length;
    await talk.sendMessage({ text: "send one mail" });
    const [first] = tools(talk);
    await talk.sendMessage({ text: "hello" });
    assert.deepEqual(talk.errors, []);
    assert.equal(talk.messages.length, 4);
    const [again] = tools(talk);
    assert.deepEqual([again.state, again.toolCallId, again.input], [asked, first.toolCallId, first.input]);
    if (approvals) assert.equal(again.approval.id, first.approval.id);
    // A page that loads the chat now can answer, too.
    const loaded = await load(talk.id);
    assert.deepEqual([loaded.at(-1).id, loaded.at(-1).parts.at(-1).state], [talk.lastMessage.id, asked]);
    // The client marks the first part with this approval that waits, and posts when its last message is
    // complete: a press on the last message may be the second.
    for (let press = 0; press < 2 && states(talk)[0] === asked; press += 1) await decide(talk, again, true);
    await settled(talk, /Result: sent[^]*I do not know that/);
    assert.deepEqual(states(talk), ["output-available"]);
    assert.equal(world().did().length, before + 1);
  });

  test("an edited message gets a new answer, and what followed the old words is void", async () => {
    const talk = chat({ sendAutomaticallyWhen: () => false });
    const before = world().did().length;
    await talk.sendMessage({ text: "hello" });
    await talk.sendMessage({ text: "send one mail" });
    const { session } = talk.lastMessage.metadata.holdpoint;
    await decide(talk, tools(talk)[0], true);
    const old = posted(talk);
    const edited = talk.messages[2].id;
    await talk.sendMessage({ text: "which one?", messageId: edited });
    assert.deepEqual(talk.errors, []);
    assert.deepEqual([talk.messages.length, words(talk), tools(talk).length], [4, "I do not know that.", 0]);
    assert.deepEqual((await world().pending()).filter((hold) => hold.session === session), [], "its question is void");
    // The approval of the old words is an answer to nothing.
    assert.equal((await post(old)).status, 422);
    assert.equal(world().did().length, before);
    // The model sees what was said before, and the new words; the record has all.
    const heard = (id) => world().api("GET", `/v1/sessions/${id}`);
    const now = JSON.stringify((await heard(talk.lastMessage.metadata.holdpoint.session)).messages);
    assert.ok(now.includes("hello") && now.includes("which one?") && !now.includes("send one mail"), now);
    assert.ok(JSON.stringify((await heard(session)).messages).includes("send one mail"));
    // The same words again are the same message.
    const same = { id: talk.id, trigger: "submit-message", messages: talk.messages.slice(0, 3) };
    assert.equal((await post(same)).chunks[0].messageId, talk.lastMessage.id);
  });

  test("another answer to the same message is asked for once more, and nothing is said twice", async () => {
    const talk = chat();
    await talk.sendMessage({ text: "hello" });
    const first = talk.lastMessage.id;
    await talk.regenerate();
    assert.deepEqual(talk.errors, []);
    assert.deepEqual([talk.messages.length, words(talk)], [2, "I do not know that."]);
    assert.notEqual(talk.lastMessage.id, first);
    const { session } = talk.lastMessage.metadata.holdpoint;
    const { messages } = await world().api("GET", `/v1/sessions/${session}`);
    assert.deepEqual(messages.map((message) => message.role), ["user", "assistant"]);
  });

  test("a run is stopped by its address; hanging up stops nothing", async () => {
    const talk = chat();
    await talk.sendMessage({ text: "send one mail" });
    const stop = async (token) => {
      const headers = { authorization: `Bearer ${token}` };
      const reply = await fetch(`${world().url}/api/chat/${talk.id}/run`, { method: "DELETE", headers });
      return reply.ok ? (await reply.json()).stopped : reply.status;
    };
    await talk.stop();
    const open = () => world().pending().then((holds) => holds.some((hold) => hold.run === talk.lastMessage.id));
    assert.equal(await open(), true);
    assert.equal(await stop(world().bob), 404);
    assert.equal(await stop(world().ana), true);
    assert.equal(await open(), false);
    assert.equal(await stop(world().ana), false);
  });

  if (!approvals)
    test("an old client that has the messages is not told a pause twice", async () => {
      const talk = chat();
      await talk.sendMessage({ text: "send one mail" });
      const headers = { authorization: `Bearer ${world().ana}` };
      const stream = (query) => fetch(`${world().url}/api/chat/${talk.id}/stream?${query}`, { headers }).then((it) => it.status);
      assert.deepEqual([await stream("ui=5&have=messages"), await stream("ui=5"), await stream("ui=6&have=messages")], [204, 200, 200]);
    });
}
