// The Inspector's command line and a call that nobody answers while it is kept open: with a handshake it comes back, each time a process
// of its own. Without one it takes tasks, and waits as long as it takes.

import assert from "node:assert/strict";
import { test } from "node:test";
import { text } from "./clients.mjs";
import { ERAS, callTool, inspect, say } from "./inspector.mjs";
import { world } from "./world.mjs";

for (const { era, behind, tool, args } of ERAS) {
  const call = (t, w) => inspect(t, w, era, callTool(tool, args(w)), behind(w, "--wait", "1s"));
  if (era === "legacy") {
    test(say(era, "come back: the same call of the next process finds its approval, and uses it once"), async (t) => {
      const w = await world(t);
      const told = await call(t, w);
      assert.equal(told.result?.isError, true, told.said);
      assert.match(text(told.result), /call again with the same arguments/);
      await w.approve();
      assert.ok(!w.has("proof.txt"));
      const done = await call(t, w);
      assert.ok(!done.result.isError && w.has("proof.txt"), done.said);
      assert.match(text((await call(t, w)).result), /waits for a person/, "the next one is asked about again");
    });
  } else {
    test(say(era, "a task waits longer than a call is kept open, and a file is written only after approval"), async (t) => {
      const w = await world(t);
      let isOver = false;
      const calling = call(t, w).finally(() => (isOver = true));
      const hold = await w.hold();
      // A call that is no task has been sent away by then.
      const until = performance.now() + 3_000;
      while (!isOver && performance.now() < until) await new Promise((done) => setTimeout(done, 50));
      assert.ok(!isOver && !w.has("proof.txt"), "it waits");
      await w.approve();
      const { result, said } = await calling;
      assert.ok(!result.isError && w.has("proof.txt"), said);
      assert.equal((await w.settled(hold.id)).outcome.state, "succeeded");
    });
  }
}
