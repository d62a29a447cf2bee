// What the web pages of both generations do with the wire. They are in no registry, so their steps are written
// here anew, in the pages' own order. The first generation names no chat in what it says, reads to the end of
// the body, and shows a dialog only for calls in an `sse` chunk between the start and the end of its message:
// a call that comes in a `message` event alone is lost in the page's state. The second generation names its
// chat in everything, and expects what follows its answer on the stream that is open. It knows nothing of the
// server but its address.

/** What the server refused, as the web shows it: `error (CODE)`. */
export class Refused extends Error {
  constructor(status, body) {
    super(body?.code ? `${body.error} (${body.code})` : `HTTP ${status}`);
    this.status = status;
    this.code = body?.code;
    this.body = body;
  }
}

export class Client {
  /** @param base such as `http://127.0.0.1:7420` */
  constructor(base, world) {
    this.base = base;
    this.world = world;
    /** The dialog of the first generation: a second one replaces the first. */
    this.dialog = null;
    /** How often a dialog was replaced before anybody had answered it. */
    this.replaced = 0;
    /** The prompts of the second generation, which queues them by `requestId`. */
    this.prompts = new Map();
    /** Messages by id, as they stand on the page. */
    this.messages = new Map();
    /** Messages that are being streamed: a chunk of any other is dropped. */
    this.streaming = new Set();
    this.events = [];
    /** Of finished tools, in milliseconds: the page prints them. */
    this.durations = [];
  }

  async request(method, path, body) {
    const headers = { "Content-Type": "application/json" };
    const init = { method, headers, body: body === undefined ? undefined : JSON.stringify(body) };
    const reply = await fetch(`${this.base}/api${path}`, init);
    if (reply.ok) return reply;
    throw new Refused(reply.status, await reply.json().catch(() => null));
  }

  async json(method, path, body) {
    return (await this.request(method, path, body)).json();
  }

  in(path) {
    return `/worlds/${encodeURIComponent(this.world)}${path}`;
  }

  async newChat() {
    return (await this.json("POST", this.in("/chats"), {})).chatId;
  }

  /** Says something as the first generation does, in the current chat, and follows until the body ends. */
  async say(message, chatId, extra = {}) {
    if (chatId) await this.json("POST", this.in(`/setChat/${chatId}`), {});
    const body = { message, sender: "HUMAN", stream: true, messages: [], ...extra };
    return this.follow(await this.request("POST", this.in("/messages"), body));
  }

  /** Says something as the second generation does. The events of the stream, once its body ends. */
  async listen(message, chatId) {
    const body = { message, sender: "human", stream: true, chatId };
    return this.follow(await this.request("POST", this.in("/messages"), body));
  }

  /** The answer of the first generation to the dialog that is open. */
  async submit(answer) {
    const dialog = this.dialog;
    this.dialog = null;
    const body = { tool_call_id: dialog.toolCallId, agentId: dialog.agentId, stream: true, ...answer };
    return this.follow(await this.request("POST", this.in("/tool-results"), body));
  }

  approve(scope = "once") {
    const { name, args, workingDirectory } = this.dialog.originalToolCall;
    const place = workingDirectory === undefined ? {} : { workingDirectory };
    return this.submit({ decision: "approve", scope, toolName: name, toolArgs: args, ...place });
  }

  deny() {
    const { name, args, workingDirectory } = this.dialog.originalToolCall;
    const place = workingDirectory === undefined ? {} : { workingDirectory };
    return this.submit({ decision: "deny", toolName: name, toolArgs: args, ...place });
  }

  choose(choice) {
    const { args } = this.dialog.originalToolCall;
    return this.submit({ choice, toolName: "human_intervention.request", toolArgs: args });
  }

  /** The answer of the second generation. */
  async respond(requestId, answer, chatId = null) {
    const told = await this.json("POST", this.in("/hitl/respond"), { requestId, ...answer, chatId });
    if (told.accepted) this.prompts.delete(requestId);
    return told;
  }

  async setChat(chatId) {
    const set = await this.json("POST", this.in(`/setChat/${chatId}`), {});
    for (const { prompt } of set.hitlPrompts) this.prompts.set(prompt.requestId, prompt);
    return set;
  }

  /** Reads a body line by line; `data: ` at the beginning of a line is an event, all else is nothing. */
  async follow(reply, limit = Infinity) {
    const reader = reply.body.getReader();
    const decoder = new TextDecoder();
    const events = [];
    let buffer = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return events;
      buffer += decoder.decode(value, { stream: true });
      const lines = buffer.split("\n");
      buffer = lines.pop();
      for (const line of lines) {
        if (!line.startsWith("data: ")) continue;
        const event = JSON.parse(line.slice(6));
        events.push(event);
        this.events.push(event);
        this.take(event);
        if (events.length >= limit) {
          await reader.cancel();
          return events;
        }
      }
    }
  }

  take({ type, data }) {
    // Goes through the page's state, which drops what a prompt in it would set.
    if (type === "message") this.messages.set(data.messageId, data.content);
    if (type !== "sse") return;
    if (data.type === "start") {
      this.messages.set(data.messageId, "");
      this.streaming.add(data.messageId);
    }
    if (data.type === "chunk" && this.streaming.has(data.messageId)) {
      const so_far = data.accumulatedContent ?? this.messages.get(data.messageId) + (data.content || "");
      this.messages.set(data.messageId, so_far);
      this.detect(data.tool_calls, data.agentName);
    }
    if (data.type === "end" && this.streaming.delete(data.messageId)) {
      this.messages.set(data.messageId, data.finalContent ?? this.messages.get(data.messageId));
    }
    if (data.type === "tool-result") this.durations.push(data.toolExecution.duration);
    const prompt = data.type === "tool-progress" && data.toolExecution?.metadata?.hitlPrompt;
    if (prompt) this.prompts.set(prompt.requestId, prompt);
  }

  detect(calls, agentId) {
    for (const call of calls ?? []) {
      const name = call?.function?.name;
      if (name !== "client.requestApproval" && name !== "client.humanIntervention") continue;
      const parsed = JSON.parse(call.function.arguments);
      if (this.dialog && this.dialog.toolCallId !== call.id) this.replaced += 1;
      this.dialog = { kind: name, toolCallId: call.id, agentId, ...parsed };
    }
  }
}

/** The last thing that an agent said in these events. */
export const said = (events) =>
  events.findLast(({ type, data }) => type === "message" && data.role === "assistant" && data.content)?.data.content;

/** The kinds of these events, in order. */
export const kinds = (events) =>
  events.map(({ type, data }) => `${type} ${type === "message" ? data.role : (data?.type ?? "")}`.trim());
