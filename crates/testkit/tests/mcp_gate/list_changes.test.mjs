// Real servers of each era say that one of their lists changed, and clients of each era hear it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { ResourceListChangedNotificationSchema, ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { legacy, modern } from "./clients.mjs";
import { legacyHttp, modernHttp } from "./door.mjs";
import { MCP_PYTHON, world } from "./world.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const EVERYTHING = [process.execPath, here("node_modules/@modelcontextprotocol/server-everything/dist/index.js")];
const WRITER = (room) => [process.execPath, here("modern_only.mjs"), MCP_PYTHON, "-B", here("upstream.py"), room];
const PINNED = { versionNegotiation: { mode: { pin: "2026-07-28" } } };

const toml = (name, argv) => `\n[mcp.upstreams.${name}]\nargv = ${JSON.stringify(argv)}\n`;
const fronted = (room) => toml("all", EVERYTHING) + toml("writer", WRITER(room));
const proxied = (name, command) => ["proxy", "--name", name, "--", ...command];

const wires = {
  stdio: { modern, legacy, more: () => "", args: (name, command) => proxied(name, command) },
  http: { modern: modernHttp, legacy: legacyHttp, more: fronted, args: (name) => `/mcp/${name}` },
};

async function until(isSo) {
  while (!isSo()) await new Promise((done) => setTimeout(done, 10));
}

/** A real server of each era, the call after which one of its lists is another, and how a client hears and sees it. */
const changing = {
  "the everything server": {
    name: "all",
    command: () => EVERYTHING,
    call: ["gzip-file-as-resource", { name: "new.gz", data: "data:text/plain,hello" }],
    filter: { resourcesListChanged: true },
    method: "notifications/resources/list_changed",
    schema: ResourceListChangedNotificationSchema,
    listed: async (client) => (await client.listResources()).resources.map(({ name }) => name),
    fresh: "new.gz",
  },
  "a server without a handshake": {
    name: "writer",
    command: WRITER,
    call: ["grow", { name: "new_tool" }],
    filter: { toolsListChanged: true },
    method: "notifications/tools/list_changed",
    schema: ToolListChangedNotificationSchema,
    listed: async (client) => (await client.listTools()).tools.map(({ name }) => name),
    fresh: "new_tool",
  },
};

for (const [wire, { modern, legacy, more, args }] of Object.entries(wires)) {
  for (const [whose, { name, command, call, filter, method, schema, listed, fresh }] of Object.entries(changing)) {
    test(`${wire}: ${whose} says that a list changed, and a client with a handshake hears it`, async (t) => {
      const w = await world(t, more);
      const heard = [];
      const client = await legacy.connect(t, w, args(name, command(w.room)), {
        prepare: (client) => client.setNotificationHandler(schema, ({ method }) => heard.push(method)),
      });
      assert.ok(!(await listed(client)).includes(fresh));
      heard.length = 0;
      const calling = legacy.call(client, ...call);
      await w.hold();
      assert.deepEqual(heard, [], "nothing has changed before the call is approved");
      await w.approve();
      assert.ok(!(await calling).isError);
      await until(() => heard.length > 0);
      assert.deepEqual(heard, [method]);
      assert.ok((await listed(client)).includes(fresh));
    });

    test(`${wire}: ${whose} says that a list changed, and a client without a handshake hears it where it listens`, async (t) => {
      const w = await world(t, more);
      const heard = [];
      const client = await modern.connect(t, w, args(name, command(w.room)), {
        more: PINNED,
        prepare: (client) => client.setNotificationHandler(method, (notification) => heard.push(notification.method)),
      });
      assert.ok(!(await listed(client)).includes(fresh));
      const subscription = await client.listen(filter);
      heard.length = 0;
      const calling = modern.call(client, ...call);
      await w.approve();
      assert.ok(!(await calling).isError);
      await until(() => heard.length > 0);
      assert.deepEqual(heard, [method]);
      assert.ok((await listed(client)).includes(fresh));
      await subscription.close();
    });
  }
}
