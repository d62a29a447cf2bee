// Feishu's own SDK for Node as a second judge. Speaks JSON, one object a line, over standard input and
// output. It is found in the folder that NODE_MODULES names.
//
// verify        requests to a webhook, as the SDK judges them
// listen URL    the SDK's long connection; prints the events that it hands on
// golden URL    the SDK's own requests for what a line asks for

import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";

// Whatever stands between this machine and the world has no business on loopback.
for (const name of ["http_proxy", "https_proxy", "all_proxy"]) {
  delete process.env[name];
  delete process.env[name.toUpperCase()];
}

const lark = createRequire(join(process.env.NODE_MODULES, "judge.cjs"))("@larksuiteoapi/node-sdk");

const APP = { appId: "cli_0123456789abcdef", appSecret: "app-secret" };
const quiet = () => {};
// Its own would write among our lines.
const logger = { error: quiet, warn: quiet, info: quiet, debug: quiet, trace: quiet };

const say = (what) => process.stdout.write(`${JSON.stringify(what)}\n`);

async function* asked() {
  for await (const line of createInterface({ input: process.stdin })) yield JSON.parse(line);
}

// The SDK lays header and event of an envelope side by side.
const message = (data) => ({
  kind: "message",
  text: JSON.parse(data.message.content).text,
  by: data.sender.sender_id.open_id,
});
const press = (data) => ({
  kind: "press",
  value: data.action.value,
  by: data.operator.open_id,
  message: data.context.open_message_id,
});
const toast = { toast: { type: "info", content: "judged" } };

function dispatcher(key, token, heard) {
  const keys = { encryptKey: key, verificationToken: token, logger };
  return new lark.EventDispatcher(keys).register({
    // What it returned would go into the acknowledgement.
    "im.message.receive_v1": async (data) => void heard(message(data)),
    "card.action.trigger": async (data) => {
      heard(press(data));
      return toast;
    },
  });
}

/** The SDK's handler of cards alone, which is another class. */
function cards(key, token, heard) {
  const keys = { encryptKey: key, verificationToken: token, logger };
  return new lark.CardActionHandler(keys, async (data) => {
    heard(press(data));
    return toast;
  });
}

async function verify() {
  for await (const line of asked()) {
    const heard = [];
    const take = (what) => void heard.push(what);
    const door = (line.cards ? cards : dispatcher)(line.key, line.token, take);
    const request = Readable.from([line.body]);
    request.url = "/events";
    request.headers = line.headers;
    let body = null;
    const response = { end: (text) => (body = text === undefined ? null : JSON.parse(text)) };
    try {
      await lark.adaptDefault("/events", door, { autoChallenge: true })(request, response);
    } catch {
      body = null;
    }
    say({ taken: heard.length > 0 || typeof body?.challenge === "string", body, heard });
  }
}

async function listen(url) {
  const client = new lark.WSClient({ ...APP, domain: url, logger });
  await client.start({ eventDispatcher: dispatcher("", "", say) });
}

async function golden(url) {
  const client = new lark.Client({ ...APP, domain: url, logger });
  const messages = client.im.v1.message;
  for await (const line of asked()) {
    const data = { msg_type: line.kind, content: line.content, uuid: line.uuid };
    let answer;
    if (line.what === "create") {
      const params = { receive_id_type: line.type };
      answer = await messages.create({ params, data: { ...data, receive_id: line.to } });
    } else if (line.what === "reply") {
      const path = { message_id: line.to };
      answer = await messages.reply({ path, data: { ...data, reply_in_thread: line.in_thread } });
    } else {
      const path = { message_id: line.to };
      answer = await messages.patch({ path, data: { content: line.content } });
    }
    say({ code: answer.code, message: answer.data?.message_id ?? null });
  }
}

const [job, ...words] = process.argv.slice(2);
await { verify, listen, golden }[job](...words);
