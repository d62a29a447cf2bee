// Every request of the page goes through here: cookie, CSRF header, idempotency key, and errors as `Refused`.

import type { Agent, AskedBefore, AuditEntry, AuditVerified, ChannelState, ConfiguredTool, EditPreview, Figures, Freeze, Grant, GrantMatches, Hold, HoldCounts, Json, List, Me, NewToken, Person, PolicyExplained, PolicyReplay, ProblemBody, PushState, Run, SavedView, Secret, Session, SessionSummary, Snooze, Token, UploadedFile } from "./wire";

/** The server said no, and why. `status` 0 means that no reply came: whether it acted is not known. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly body: ProblemBody,
  ) {
    super(body.detail ?? body.title ?? `status ${status}`);
  }
  get code(): string {
    return this.body.code ?? "";
  }
  /** Nobody can say from this reply whether the request took effect, so the same request must keep its key. */
  get undecided(): boolean {
    return this.status === 0 || this.status >= 500;
  }
}

let csrf: string | null = null;
let onSignedOut: () => void = () => {};
let onAnswered: (hold: Hold) => void = () => {};
let onFrozen: (detail: string | null) => void = () => {};

export function whenSignedOut(tell: () => void): void {
  onSignedOut = tell;
}
/** For the event stream, which finds out first when a login ends while the page stands open. */
export function signedOut(): void {
  onSignedOut();
}
/** Told of every hold that this page answered, after the server took it. */
export function whenAnswered(tell: (hold: Hold) => void): void {
  onAnswered = tell;
}
/** Told why when the server refuses new work, and null when it took some again. */
export function whenFrozen(tell: (detail: string | null) => void): void {
  onFrozen = tell;
}

// Browsers let this much of a request outlive its page.
const KEPT_ALIVE_BYTES = 60_000;

async function send<T>(method: string, path: string, body?: string, key?: string): Promise<T> {
  const reply = await request(method, path, body, key);
  return (reply.status === 204 ? undefined : await reply.json()) as T;
}

async function request(method: string, path: string, body?: string, key?: string): Promise<Response> {
  const headers: Record<string, string> = { Accept: "application/json" };
  if (method !== "GET") {
    headers["X-Holdpoint-CSRF"] = csrf ?? "";
    headers["Idempotency-Key"] = key ?? newKey();
  }
  if (body !== undefined) headers["Content-Type"] = "application/json";

  let reply: Response;
  try {
    reply = await fetch(path, {
      method,
      headers,
      credentials: "same-origin",
      cache: "no-store",
      // Who presses a button and closes the page at once still meant it: the request goes on without the page.
      keepalive: method !== "GET" && new TextEncoder().encode(body ?? "").length < KEPT_ALIVE_BYTES,
      ...(body === undefined ? {} : { body }),
    });
  } catch {
    throw new Refused(0, { code: "unreachable" });
  }
  if (reply.ok) return reply;

  const problem = new Refused(reply.status, await problemOf(reply));
  if (reply.status === 401) onSignedOut();
  if (reply.status === 423) onFrozen(problem.message);
  throw problem;
}

async function problemOf(reply: Response): Promise<ProblemBody> {
  try {
    const body: unknown = await reply.json();
    if (body !== null && typeof body === "object") return body as ProblemBody;
  } catch {
    // A proxy's error page is not JSON; the status alone has to do.
  }
  return { status: reply.status, title: reply.statusText };
}

/** `crypto.randomUUID` exists only on https and loopback, and the page must also work on a plain-http test set-up. */
export function newKey(): string {
  if (typeof crypto.randomUUID === "function") return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const at = encodeURIComponent;

export async function me(): Promise<Me> {
  const who = await send<Me>("GET", "/v1/me");
  csrf = who.csrf;
  return who;
}

export function pendingHolds(cursor?: string): Promise<List<Hold>> {
  return send("GET", `/v1/holds?state=pending&limit=200${cursor ? `&cursor=${at(cursor)}` : ""}`);
}

export function holdCounts(): Promise<HoldCounts> {
  return send("GET", "/v1/holds/counts");
}

export function hold(id: string): Promise<Hold> {
  return send("GET", `/v1/holds/${at(id)}`);
}

/** The same as text: a parse would change how its numbers are written. */
export async function holdText(id: string): Promise<string> {
  return (await request("GET", `/v1/holds/${at(id)}`)).text();
}

/** `answer` is JSON text and not a value, so that edited arguments arrive as typed: a parse here would round large numbers. */
export async function answerHold(id: string, digest: string, answer: string, key: string): Promise<Hold> {
  const hold = await answerOneOfMany(id, digest, answer, key);
  // After the caller has taken the reply in.
  setTimeout(() => onAnswered(hold), 0);
  return hold;
}

/** The same, for a sheet that shows the result itself. */
export function answerOneOfMany(id: string, digest: string, answer: string, key: string): Promise<Hold> {
  return send("POST", `/v1/holds/${at(id)}/answer`, `{"digest":${JSON.stringify(digest)},"answer":${answer}}`, key);
}

/** What was decided, newest first. */
export function pastHolds(text: string, cursor: string | null): Promise<List<Hold>> {
  const q = text === "" ? "" : `&q=${at(text)}`;
  return send("GET", `/v1/holds?state=decided&limit=100${q}${cursor === null ? "" : `&cursor=${at(cursor)}`}`);
}

export function freeze(): Promise<Freeze> {
  return send("GET", "/v1/freeze");
}

export function startFreeze(reason: string): Promise<Freeze> {
  return send("POST", "/v1/freeze", JSON.stringify({ reason }));
}

export function grants(): Promise<List<Grant>> {
  return send("GET", "/v1/grants");
}

/** Which of the last month's holds a grant would have made unnecessary. */
export function grantMatches(id: string): Promise<GrantMatches> {
  return send("GET", `/v1/grants/${at(id)}/matches`);
}

export function revokeGrant(id: string): Promise<void> {
  return send("DELETE", `/v1/grants/${at(id)}`);
}

export function tokens(cursor: string | null): Promise<List<Token>> {
  return send("GET", `/v1/tokens?limit=100${cursor === null ? "" : `&cursor=${at(cursor)}`}`);
}

export function mintToken(token: NewToken): Promise<Token> {
  return send("POST", "/v1/tokens", JSON.stringify(token));
}

export function revokeToken(id: string): Promise<void> {
  return send("DELETE", `/v1/tokens/${at(id)}`);
}

export function openLogin(person: string): Promise<{ url: string; expires_at: string }> {
  return send("POST", "/v1/logins", JSON.stringify({ person }));
}

export function agents(): Promise<List<Agent>> {
  return send("GET", "/v1/agents");
}

/** Newest first; with words to look for, a page may be empty and still have a next one. */
export function audit(text: string, cursor: string | null): Promise<List<AuditEntry>> {
  const q = text === "" ? "" : `&q=${at(text)}`;
  return send("GET", `/v1/audit?sort=newest&limit=100${q}${cursor === null ? "" : `&cursor=${at(cursor)}`}`);
}

export function verifyAudit(): Promise<AuditVerified> {
  return send("POST", "/v1/audit/verify", "{}");
}

export function figures(days: number): Promise<Figures> {
  return send("GET", `/v1/figures?days=${days}`);
}

export function people(): Promise<List<Person>> {
  return send("GET", "/v1/people");
}

export function channels(): Promise<List<ChannelState>> {
  return send("GET", "/v1/channels");
}

export function testChannel(channel: string): Promise<{ sent: boolean; to: string }> {
  return send("POST", "/v1/channels/test", JSON.stringify({ channel }));
}

/** `question` is JSON text, so that arguments arrive as typed. */
export function explainPolicy(question: string): Promise<PolicyExplained> {
  return send("POST", "/v1/policy/explain", question);
}

/** What the rules in force would have done with the calls of the last days. */
export function replayPolicy(days: number): Promise<PolicyReplay> {
  return send("GET", `/v1/policy/replay?days=${days}`);
}

export function tools(): Promise<List<ConfiguredTool>> {
  return send("GET", "/v1/tools");
}

export function thaw(): Promise<Freeze> {
  return send("DELETE", "/v1/freeze");
}

/** Says to others that one is on it, or no longer. It gives no right and takes none. */
export function claim(id: string, on: boolean): Promise<Hold> {
  return on ? send("POST", `/v1/holds/${at(id)}/claim`, "{}") : send("DELETE", `/v1/holds/${at(id)}/claim`);
}

/** The caller's own, and nobody else's business. */
export function snoozes(): Promise<List<Snooze>> {
  return send("GET", "/v1/snoozes");
}

export function snooze(id: string, until: string): Promise<Snooze> {
  return send("POST", `/v1/holds/${at(id)}/snooze`, JSON.stringify({ until }));
}

export function unsnooze(id: string): Promise<void> {
  return send("DELETE", `/v1/holds/${at(id)}/snooze`);
}

/** Says something to others about it, which decides nothing. */
export function comment(id: string, text: string, key: string): Promise<Hold> {
  return send("POST", `/v1/holds/${at(id)}/comments`, JSON.stringify({ text }), key);
}

/** Which browsers of this person are told, and what they subscribe with. */
export function pushState(): Promise<PushState> {
  return send("GET", "/v1/me/push");
}

export function subscribePush(subscription: object, key: string): Promise<{ id: string }> {
  return send("POST", "/v1/me/push", JSON.stringify(subscription), key);
}

export function removePush(id: string): Promise<void> {
  return send("DELETE", `/v1/me/push?id=${at(id)}`);
}

/** Views of the inbox that this person keeps. */
export function views(): Promise<List<SavedView>> {
  return send("GET", "/v1/me/views");
}

export function saveView(name: string, query: string, was?: string): Promise<SavedView> {
  return send("POST", "/v1/me/views", JSON.stringify({ name, query, was }));
}

export function forgetView(name: string): Promise<void> {
  return send("DELETE", `/v1/me/views?name=${at(name)}`);
}

/** What became of calls like the one of this hold. */
export function askedBefore(id: string): Promise<AskedBefore> {
  return send("GET", `/v1/holds/${at(id)}/asked_before`);
}

/** The tool that a held call is for, and what it takes. */
export function heldTool(id: string): Promise<{ tool: ConfiguredTool | null }> {
  return send("GET", `/v1/holds/${at(id)}/tool`);
}

/** What an edited call would do. `args` is JSON text, as in an answer. It has no effect. */
export function previewEdit(id: string, args: string): Promise<EditPreview> {
  return send("POST", `/v1/holds/${at(id)}/preview`, `{"arguments":${args}}`);
}

/** The server writes down who looked. */
export function reveal(id: string): Promise<{ secrets: Secret[] }> {
  return send("POST", `/v1/holds/${at(id)}/reveal`, "{}");
}

export function sessions(cursor?: string): Promise<List<SessionSummary>> {
  return send("GET", `/v1/sessions?limit=20${cursor ? `&cursor=${at(cursor)}` : ""}`);
}

export function session(id: string): Promise<Session> {
  return send("GET", `/v1/sessions/${at(id)}`);
}

export function openSession(agent: string, title: string, key: string): Promise<SessionSummary> {
  return send("POST", "/v1/sessions", JSON.stringify({ agent, title }), key);
}

export async function say(
  id: string,
  text: string,
  whilePending: "queue" | "supersede",
  key: string,
  files: string[] = [],
): Promise<{ run: string; message: string }> {
  const body: Json = { text, while_pending: whilePending, ...(files.length > 0 ? { files } : {}) };
  const taken = await send<{ run: string; message: string }>("POST", `/v1/sessions/${at(id)}/messages`, JSON.stringify(body), key);
  onFrozen(null);
  return taken;
}

/** What a file is. Its bytes are at `/v1/files/{id}`. */
export function fileAbout(id: string): Promise<UploadedFile> {
  return send("GET", `/v1/files/${at(id)}/about`);
}

export function removeFile(id: string): Promise<void> {
  return send("DELETE", `/v1/files/${at(id)}`);
}

/** What a request needs that does not go through here: an upload, whose progress is shown. */
export function changeHeaders(key: string): Record<string, string> {
  return { "X-Holdpoint-CSRF": csrf ?? "", "Idempotency-Key": key };
}

export function cancelRun(id: string): Promise<Run> {
  return send("POST", `/v1/runs/${at(id)}/cancel`, "{}");
}

export function retryRun(id: string): Promise<Run> {
  return send("POST", `/v1/runs/${at(id)}/retry`, "{}");
}

/** Always answered with the same words: whether somebody is known here is not for strangers to learn. */
export async function askForLink(person: string, next: string): Promise<void> {
  const body = JSON.stringify({ person, next });
  const reply = await fetch("/login/link", { method: "POST", headers: { "Content-Type": "application/json" }, body, credentials: "same-origin" });
  if (!reply.ok) throw new Refused(reply.status, await problemOf(reply));
}

/** Logging out answers with a page and not with JSON, so it does not go through `send`. */
export async function logout(): Promise<void> {
  const headers = { "X-Holdpoint-CSRF": csrf ?? "" };
  await fetch("/logout", { method: "POST", headers, credentials: "same-origin", redirect: "manual" });
}
