// Server-sent events over fetch. The browser's own EventSource hides the status of a refused connection and stops for
// good after some of them; here a 401 shows the login, and everything else is tried again after the last id seen.

export interface ServerEvent {
  type: string;
  id: string | null;
  data: Record<string, unknown>;
}

export interface Follower {
  /** A connection stands. What was missed before it is sent again by the server, or covered by a fresh read. */
  opened(): void;
  event(event: ServerEvent): void;
  /** The connection is gone and will be tried again. */
  lost(): void;
  /** The server will not have us: logged out, or the thing is not there. */
  refused(status: number): void;
}

const RETRY_FIRST_MS = 500;
const RETRY_MOST_MS = 15_000;
// The server writes a comment at least every 25 s; two missed ones mean that the connection is dead though it looks open.
const SILENCE_MOST_MS = 60_000;

/** Follows `path` until the returned function is called. */
export function follow(path: string, follower: Follower): () => void {
  const stop = new AbortController();
  let lastId: string | null = null;
  void (async () => {
    let wait = RETRY_FIRST_MS;
    while (!stop.signal.aborted) {
      const began = Date.now();
      const status = await connectOnce(path, lastId, stop.signal, follower, (id) => (lastId = id));
      if (stop.signal.aborted) return;
      if (status === 401 || status === 403 || status === 404) return follower.refused(status);
      follower.lost();
      wait = Date.now() - began > RETRY_MOST_MS ? RETRY_FIRST_MS : Math.min(wait * 2, RETRY_MOST_MS);
      await pause(wait, stop.signal);
    }
  })();
  return () => stop.abort();
}

/** One connection, until it ends. Returns the status when it was refused, and 0 when it broke. */
async function connectOnce(
  path: string,
  lastId: string | null,
  stop: AbortSignal,
  follower: Follower,
  seen: (id: string) => void,
): Promise<number> {
  const silence = new AbortController();
  const giveUp = () => silence.abort();
  stop.addEventListener("abort", giveUp);
  let timer = setTimeout(giveUp, SILENCE_MOST_MS);
  try {
    const headers: Record<string, string> = { Accept: "text/event-stream" };
    if (lastId !== null) headers["Last-Event-ID"] = lastId;
    const reply = await fetch(path, {
      headers,
      credentials: "same-origin",
      cache: "no-store",
      signal: silence.signal,
    });
    if (!reply.ok || reply.body === null) return reply.status;
    follower.opened();
    const parser = new Parser((event) => {
      if (event.id !== null) seen(event.id);
      follower.event(event);
    });
    const reader = reply.body.getReader();
    const decoder = new TextDecoder();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return 0;
      clearTimeout(timer);
      timer = setTimeout(giveUp, SILENCE_MOST_MS);
      parser.feed(decoder.decode(value, { stream: true }));
    }
  } catch {
    return 0;
  } finally {
    clearTimeout(timer);
    stop.removeEventListener("abort", giveUp);
  }
}

/** Turns the text of a stream into events, wherever the chunks are cut. */
class Parser {
  private rest = "";
  private type = "";
  private id: string | null = null;
  private data: string[] = [];

  constructor(private readonly tell: (event: ServerEvent) => void) {}

  feed(chunk: string): void {
    this.rest += chunk;
    for (;;) {
      const end = this.rest.indexOf("\n");
      if (end < 0) return;
      const line = this.rest.slice(0, end).replace(/\r$/, "");
      this.rest = this.rest.slice(end + 1);
      this.line(line);
    }
  }

  private line(line: string): void {
    if (line === "") return this.dispatch();
    if (line.startsWith(":")) return;
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.type = value;
    else if (field === "data") this.data.push(value);
    else if (field === "id") this.id = value;
  }

  private dispatch(): void {
    const { type, id, data } = this;
    this.type = "";
    this.id = null;
    this.data = [];
    if (data.length === 0) return;
    const value = parsed(data.join("\n"));
    // An event that we cannot read must not end the stream; the next full read of the state covers it.
    if (value !== null) this.tell({ type: type || "message", id, data: value });
  }
}

function parsed(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === "object" ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function pause(ms: number, stop: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const timer = setTimeout(done, ms);
    stop.addEventListener("abort", () => (clearTimeout(timer), done()), { once: true });
  });
}
