// A client of the frontend tools door. The page that the wire comes from is in no registry, so its steps are
// written here anew, in the page's own order: `meta_final` is taken out of every item first, in the raw
// format the whole item is then searched for a prompt (inside sections, too), and only after that are
// sections and tags looked at. It reads a stream as a browser's library does, and prints what a page would
// then show, as JSON.
//
//   node client.mjs '{"url": "http://…/agent/run", "token": "…", "body": {…}, "format": "json"}'
//
// `format` is that of the conversation's first stream, for streams that begin without an opener.

const WHITELIST = new Set([
  "content-block-text", "content-block-thinking", "content-block-tool_call", "content-block-tool_result",
  "content-block-server_tool_call", "content-block-server_tool_result", "content-block-error",
  "content-block-meta_files", "meta_init", "awaiting_frontend_tools", "citations", "citation", "chart",
  "table", "text", "image",
]);

const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', "#x27": "'", "#39": "'" };
const decoded = (text) => text.replace(/&(#x27|#39|amp|lt|gt|quot);/g, (_, name) => ENTITIES[name]);

/** Events of a stream of bytes: fields end with a line, events with an empty one, comments are passed over. */
class EventReader {
  #rest = "";
  #data = null;
  /** Events without data: a client would be handed an empty message. */
  empty = 0;

  *feed(text) {
    this.#rest += text;
    let end;
    while ((end = this.#rest.search(/\r\n|\r|\n/)) >= 0) {
      const line = this.#rest.slice(0, end);
      const breaks = this.#rest.startsWith("\r\n", end) ? 2 : 1;
      this.#rest = this.#rest.slice(end + breaks);
      if (line === "") {
        if (this.#data === null) this.empty += 1;
        else yield this.#data;
        this.#data = null;
      } else if (!line.startsWith(":")) {
        const [, name, value] = /^([^:]*):? ?([\s\S]*)$/.exec(line);
        if (name !== "data") throw new Error(`a field that nobody wants: ${line}`);
        this.#data = this.#data === null ? value : `${this.#data}\n${value}`;
      }
    }
  }
}

/** Takes the tag `meta_final` out of what comes, wherever it stands, also over several items. */
class FinalWord {
  #held = "";
  value = null;

  pass(text) {
    this.#held += text;
    let out = "";
    for (;;) {
      const from = this.#held.indexOf("<meta_final");
      if (from < 0) {
        out += this.#held;
        this.#held = "";
        return out;
      }
      out += this.#held.slice(0, from);
      this.#held = this.#held.slice(from);
      const to = this.#held.indexOf("</meta_final>");
      if (to < 0) return out;
      this.value = JSON.parse(decoded(/data="([^"]*)"/.exec(this.#held)[1]));
      this.#held = this.#held.slice(to + "</meta_final>".length);
    }
  }
}

/** A prompt anywhere in a text: the tag, its data, and its end right behind it. */
function searchedPrompt(text) {
  const [tag, end] = ["<awaiting_frontend_tools", "></awaiting_frontend_tools>"];
  for (let at = text.indexOf(tag); at >= 0; at = text.indexOf(tag, at + 1)) {
    const close = text.indexOf(">", at);
    if (close < 0 || !text.startsWith(end, close)) continue;
    const data = /data="([^"]*)"/.exec(text.slice(at, close));
    if (data === null) continue;
    try {
      return JSON.parse(decoded(data[1]));
    } catch {
      return null;
    }
  }
  return null;
}

/** Joins items, takes whole sections out, reads tags in what is left, and puts the sections back as text. */
class XmlReader {
  #joined = "";

  item(text) {
    this.#joined += text;
  }

  nodes() {
    const sections = [];
    const text = this.#joined.replace(/<!\[CDATA\[([^]*?)\]\]>/g, (_, inner) => {
      sections.push(inner);
      return `__CDATA_PLACEHOLDER_${sections.length - 1}__`;
    });
    const shown = (piece) => {
      sections.forEach((inner, number) => {
        piece = piece.split(`__CDATA_PLACEHOLDER_${number}__`).join(inner);
      });
      return piece.replace(/\\n/g, "\n");
    };
    const root = { tag: "root", children: [] };
    const open = [root];
    const say = (piece) => {
      if (piece !== "") open.at(-1).children.push({ text: shown(piece) });
    };
    let last = 0;
    for (const found of text.matchAll(/<(\/?)([A-Za-z][\w:-]*)([^>]*)>/g)) {
      const [whole, slash, name, rest] = found;
      if (!WHITELIST.has(name) && !name.endsWith("_tool_result")) continue;
      say(text.slice(last, found.index));
      last = found.index + whole.length;
      if (slash === "") {
        const attributes = {};
        for (const [, key, value] of rest.matchAll(/([\w:-]+)="([^"]*)"/g)) attributes[key] = decoded(value);
        const node = { tag: name.replace(/^content-block-/, ""), attributes, children: [] };
        open.at(-1).children.push(node);
        if (!rest.trimEnd().endsWith("/")) open.push(node);
      } else {
        const tag = name.replace(/^content-block-/, "");
        const depth = open.findLastIndex((node) => node.tag === tag);
        if (depth > 0) open.length = depth;
        else say(whole);
      }
    }
    say(text.slice(last));
    return root.children.map((node) => {
      // Decoded a second time, as some attributes are.
      const args = node.attributes?.arguments;
      return args === undefined ? node : { ...node, input: JSON.parse(decoded(args)) };
    });
  }
}

/** Events of Anthropic's stream; everything that begins with a tag is read as xml. */
class RawReader {
  #blocks = [];
  #offset = 0;
  #xml = new XmlReader();

  item(text) {
    if (text.trimStart().startsWith("<")) return this.#xml.item(text);
    const event = JSON.parse(text);
    const block = this.#blocks[this.#offset + (event.index ?? 0)];
    switch (event.type) {
      case "message_start":
        this.#offset = this.#blocks.length;
        break;
      case "content_block_start": {
        const { type, id, name } = event.content_block;
        this.#blocks[this.#offset + event.index] = { type, id, name, text: "" };
        break;
      }
      case "content_block_delta":
        block.text += event.delta.text ?? event.delta.thinking ?? event.delta.partial_json ?? "";
        break;
      case "content_block_stop":
      case "message_delta":
      case "message_stop":
        break;
      default:
        throw new Error(`an event that nobody knows: ${text}`);
    }
  }

  nodes() {
    const blocks = this.#blocks.map(({ type, id, name, text }) =>
      type === "tool_use"
        ? { tag: "tool_call", attributes: { id, name }, children: [], input: JSON.parse(text) }
        : { tag: type, children: [{ text }] },
    );
    return [...blocks, ...this.#xml.nodes()];
  }
}

class JsonReader {
  #nodes = [];
  #open = null;

  item(text) {
    const { type, final, delta, id, name } = JSON.parse(text);
    if (typeof final !== "boolean" || typeof delta !== "string") throw new Error(`no envelope: ${text}`);
    if (type !== "awaiting_frontend_tools" && Buffer.byteLength(text) > 2048) throw new Error("too long");
    if (type === "meta_init" || type === "rollback") return;
    if (type === "awaiting_frontend_tools" && !final) throw new Error("a pause in pieces");
    this.#open ??= { tag: type, attributes: { id, name }, children: [{ text: "" }] };
    this.#open.children[0].text += delta;
    if (!final) return;
    const node = this.#open;
    this.#open = null;
    if (node.children[0].text === "" && (type === "text" || type === "thinking")) return;
    if (type === "tool_call") node.input = JSON.parse(node.children[0].text);
    if (type === "awaiting_frontend_tools") node.attributes = { data: node.children[0].text };
    this.#nodes.push(node);
  }

  nodes() {
    return this.#nodes;
  }
}

const READERS = { xml: XmlReader, raw: RawReader, json: JsonReader };

/** What the first item says about the stream, if it is an opener. */
function opener(item) {
  const tag = /^<meta_init\s+data="([^"]*)"[^>]*><\/meta_init>$/.exec(item);
  if (tag) return JSON.parse(decoded(tag[1]));
  try {
    const envelope = JSON.parse(item);
    return envelope.type === "meta_init" ? JSON.parse(envelope.delta) : null;
  } catch {
    return null;
  }
}

export async function follow({ url, token, body, format, origin }) {
  const headers = { "content-type": "application/json" };
  if (token) headers.authorization = `Bearer ${token}`;
  if (origin) headers.origin = origin;
  const reply = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  if (!reply.ok) return { status: "error", error: `HTTP error! status: ${reply.status}`, problem: await reply.json() };
  const state = { status: "streaming", metadata: null, format: format ?? null, pending: null, items: [] };
  let reader = format ? new READERS[format]() : null;
  const [events, finalWord, bytes] = [new EventReader(), new FinalWord(), new TextDecoder()];
  for await (const chunk of reply.body) {
    for (const item of events.feed(bytes.decode(chunk, { stream: true }))) {
      state.items.push(item);
      if (item === "[DONE]") {
        if (state.status === "streaming") state.status = "complete";
        continue;
      }
      // Until the format is known, too.
      const text = state.format === "json" ? item : finalWord.pass(item);
      const meta = reader === null || state.format === "json" ? opener(text) : null;
      if (meta !== null) {
        state.metadata = meta;
        state.format = meta.format;
        reader ??= new READERS[meta.format]();
        continue;
      }
      if (reader === null) continue; // Nothing is shown before the opener.
      const searched = state.format === "raw" ? searchedPrompt(text) : null;
      if (searched !== null) Object.assign(state, { status: "awaiting_tools", pending: searched });
      if (text.trim() !== "") reader.item(text);
    }
  }
  state.nodes = reader?.nodes() ?? [];
  // Only at the top: what stands inside of a text is text.
  const pause = state.nodes.find((node) => node.tag === "awaiting_frontend_tools");
  if (pause) {
    state.status = "awaiting_tools";
    const { data } = pause.attributes;
    state.pending = JSON.parse(state.format === "json" ? data : decoded(data));
  }
  state.finalWord = finalWord.value;
  state.emptyMessages = events.empty;
  return state;
}

if (process.argv[1] === import.meta.filename) {
  console.log(JSON.stringify(await follow(JSON.parse(process.argv[2]))));
}
