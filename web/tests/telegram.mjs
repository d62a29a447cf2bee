// As much of Telegram as one person's bot needs: it takes what is sent, or refuses it in the words that the test gives, and
// passes on what people write in a group.

import { once } from "node:events";
import { createServer } from "node:http";

const POLL_MS = 1000;

export class FakeTelegram {
  /** What arrived in somebody's chat. */
  sent = [];
  /** With which words messages are refused; null lets them through. */
  refusal = null;
  #updates = [];

  static async start() {
    const one = new FakeTelegram();
    one.server = createServer((request, reply) => one.#reply(request, reply)).listen(0, "127.0.0.1");
    await once(one.server, "listening");
    one.url = `http://127.0.0.1:${one.server.address().port}`;
    return one;
  }

  async #reply(request, reply) {
    const parts = [];
    for await (const part of request) parts.push(part);
    const body = parts.length === 0 ? {} : JSON.parse(Buffer.concat(parts).toString());
    const tell = (status, value) => reply.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(value));
    const method = request.url.split("/").at(-1);
    if (method === "getMe") return tell(200, { ok: true, result: { id: 1, is_bot: true, first_name: "Hold", username: "hold_bot" } });
    if (method === "getUpdates") return this.#poll(body.offset ?? 0, (result) => tell(200, { ok: true, result }));
    if (method !== "sendMessage" && method !== "editMessageText") return tell(200, { ok: true, result: true });
    if (this.refusal !== null) return tell(403, { ok: false, error_code: 403, description: this.refusal });
    if (method === "sendMessage") this.sent.push({ chat_id: String(body.chat_id), text: body.text });
    return tell(200, { ok: true, result: { message_id: this.sent.length, date: 1, chat: { id: Number(body.chat_id), type: "private" }, text: body.text } });
  }

  /** Somebody writes to the bot in a group. */
  says(account, text) {
    const id = this.#updates.length + 1;
    const called = "@hold_bot";
    const message = { message_id: 1000 + id, date: 1, chat: { id: -7, type: "supergroup", title: "Ops" }, from: { id: Number(account), is_bot: false, first_name: "Someone" } };
    this.#updates.push({ update_id: id, message: { ...message, text: `${called} ${text}`, entities: [{ type: "mention", offset: 0, length: called.length }] } });
  }

  #poll(offset, tell) {
    const fresh = () => this.#updates.filter((update) => update.update_id >= offset);
    if (fresh().length > 0) tell(fresh());
    else setTimeout(() => tell(fresh()), POLL_MS);
  }

  close() {
    this.server.closeAllConnections();
    this.server.close();
  }
}
