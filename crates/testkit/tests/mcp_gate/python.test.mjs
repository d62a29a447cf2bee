// The official Python client before the gate, on pipes and over HTTP, in the era that it finds and in the older one.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fronted } from "./door.mjs";
import { files, target } from "./proxy_cases.mjs";
import { python, pythonHttp } from "./python.mjs";
import { world } from "./world.mjs";

const wires = {
  stdio: { fronting: () => () => "", call: (t, w, calls, { options = [], ...more } = {}) => python(t, w, files(w, ...options), calls, more) },
  http: { fronting: fronted, call: (t, w, calls, { options: _, ...more } = {}) => pythonHttp(t, w, "/mcp/files", calls, more) },
};

for (const [wire, { fronting, call }] of Object.entries(wires)) {
  for (const [mode, version] of [["auto", "2026-07-28"], ["legacy", "2025-11-25"]]) {
    const say = (what) => `mcp 2.3.0, ${wire}, ${mode}: ${what}`;

    test(say("a rule allows, a person approves, a person denies"), async (t) => {
      const w = await world(t, fronting());
      const calls = [["list_directory", { path: w.room }], ["write_file", target(w)], ["write_file", target(w, "denied.txt")]];
      const calling = call(t, w, calls, { mode });
      const hold = await w.hold();
      assert.ok(!w.has("proof.txt"));
      assert.deepEqual([hold.call.tool, hold.call.arguments], ["files__write_file", target(w)]);
      await w.approve();
      await w.answer({ verdict: "deny", reason: "not on a Friday" }, (open) => open.id !== hold.id);
      const { results: [listed, written, denied], ...said } = await calling;
      assert.equal(said.version, version);
      assert.ok(!listed.is_error && !written.is_error && w.has("proof.txt"), JSON.stringify(written));
      assert.ok(denied.is_error && !w.has("denied.txt"));
      assert.match(denied.text.join(), /not on a Friday/);
    });

    test(say("come back: the same call finds its approval in another session, and uses it once"), async (t) => {
      const w = await world(t, fronting('wait = "1s"'));
      const again = async () => (await call(t, w, [["write_file", target(w)]], { mode, options: ["--wait", "1s"] })).results[0];
      const told = await again();
      assert.ok(told.is_error);
      assert.match(told.text.join(), /call again with the same arguments/);
      await w.approve();
      assert.ok(!w.has("proof.txt"));
      assert.ok(!(await again()).is_error && w.has("proof.txt"));
      assert.ok((await again()).is_error, "the next one is asked about again");
    });

    test(say("a form in the client is the answer of the token's owner"), async (t) => {
      const w = await world(t, fronting("answer_in_client = true"));
      const token = w.tokens.person_token;
      const options = { mode, options: ["--answer-in-client"], env: { HOLDPOINT_TOKEN: token }, token };
      const approved = await call(t, w, [["write_file", target(w)]], { ...options, form: { decision: "approve" } });
      assert.ok(!approved.results[0].is_error && w.has("proof.txt"), JSON.stringify(approved));
      assert.match(approved.asked[0], /files__write_file[\s\S]*proof\.txt/);
      const denied = await call(t, w, [["write_file", target(w, "no.txt")]], { ...options, form: { decision: "deny", reason: "enough" } });
      assert.match(denied.results[0].text.join(), /enough/);
      assert.ok(denied.results[0].is_error && !w.has("no.txt"));
    });
  }
}
