// The real program as a server, and its API as a person uses it: for the suites in Node. Each suite writes its own settings.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { createInterface } from "node:readline";

export const { HOLDPOINT_BIN } = process.env;

const children = new Set();
process.on("exit", () => children.forEach((child) => child.kill("SIGKILL")));
// The test runner's own time-out; by itself this would leave the children behind.
process.on("SIGTERM", () => process.exit(1));

/** A child that does not outlive the tests. */
export function start(program, args, options) {
  const child = spawn(program, args, options);
  children.add(child);
  child.on("exit", () => children.delete(child));
  return child;
}

/** A server on `home/holdpoint.toml` that listens, and where. */
export async function serve(home, args) {
  const server = start(HOLDPOINT_BIN, ["serve", "--config", "holdpoint.toml", "--json", ...args], {
    cwd: home,
    stdio: ["ignore", "pipe", "ignore"],
  });
  let url;
  for await (const line of createInterface({ input: server.stdout })) {
    url = JSON.parse(line).url ?? url;
    if (url) break;
  }
  assert.ok(url, "the server starts");
  return { server, url };
}

export async function kill(server) {
  server.kill("SIGKILL");
  await once(server, "exit");
}

/** What a person does over the API of this server. */
export function person(url, token) {
  const self = {
    async api(path, body, as = token) {
      const headers = { authorization: `Bearer ${as}`, "content-type": "application/json" };
      const init = body ? { method: "POST", headers, body: JSON.stringify(body) } : { headers };
      const reply = await fetch(`${url}${path}`, init);
      assert.ok(reply.ok, `${path}: ${reply.status} ${await reply.clone().text()}`);
      return reply.json();
    },
    /** A hold that waits for people, as soon as there is one. The event stream tells; nothing is polled. */
    async hold(fits = () => true) {
      const headers = { authorization: `Bearer ${token}`, accept: "text/event-stream" };
      const reply = await fetch(`${url}/v1/events?after=0`, { headers });
      const looked = new Set();
      let seen = "";
      for await (const chunk of reply.body) {
        seen += Buffer.from(chunk).toString();
        for (const [id] of seen.matchAll(/hold_[0-9a-z]{26}/g)) {
          if (looked.has(id)) continue;
          looked.add(id);
          const hold = await self.api(`/v1/holds/${id}`);
          if (hold.state === "pending" && fits(hold)) return hold;
        }
      }
      assert.fail("the event stream ended");
    },
    async answer(answer, fits) {
      const hold = await self.hold(fits);
      await self.api(`/v1/holds/${hold.id}/answer`, { digest: hold.digest, answer });
      return hold;
    },
  };
  return self;
}

/** An address at which no server listens. */
export async function nowhere() {
  const server = createServer();
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return `http://127.0.0.1:${port}`;
}
