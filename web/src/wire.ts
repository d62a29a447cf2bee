// The shapes that the server speaks, as far as this page reads them. Fields that a newer server adds are ignored;
// fields that an older one may lack are optional here, so that the compiler makes us say what happens without them.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export interface Scenario {
  name: string;
  say: string;
}

export interface Me {
  kind: "person" | "program";
  id: string;
  name: string;
  roles: string[];
  scopes: string[];
  csrf: string | null;
  demo: Scenario[] | null;
  agents: string[];
  warnings: string[];
  frozen?: boolean;
}

/** Whether everything is stopped, by whom and why. */
export interface Freeze {
  frozen: boolean;
  /** A person's id, or the name that a program has. */
  by: string | null;
  reason: string | null;
  at?: string | null;
}

/** Leave for calls that are still to come. */
export interface Grant {
  id: string;
  session: string;
  tool: string;
  covers: string;
  /** The conditions on the arguments; null for the very same call only. */
  args: Json[] | null;
  by: string;
  hold: string;
  made_at: string;
  expires_at: string;
  uses_left: number;
  revoked: boolean;
}

export interface GrantMatches {
  /** Holds about calls of its tool. */
  looked_at: number;
  count: number;
  /** The newest of them. */
  matches: { hold: string; title: string; state: HoldState; agent: string | null; opened_at: string }[];
  complete: boolean;
}

export interface Token {
  id: string;
  /** Only in the reply that made it. */
  token?: string;
  person: string | null;
  program: string | null;
  scopes: string[];
  /** A person's id, or the name that a program has. */
  minted_by: string;
  minted_at: string;
  expires_at: string | null;
  note: string | null;
}

export interface NewToken {
  program: string;
  scopes: string[];
  expires_in_s?: number;
  note?: string;
}

export interface Agent {
  id: string;
  tools: { name: string; description: string | null; effects: string | null }[];
}

/** One commit of the journal: who did what, and the hash that covers it and all before it. */
export interface AuditEntry {
  seq: number;
  hash: string;
  entry: { at?: number; stream?: string; actor?: Json; events?: Json[] } | null;
}

export interface AuditVerified {
  ok: boolean;
  entries: number;
  checkpoints: number;
  at_entry: number | null;
  why: string | null;
}

interface StateCounts {
  asked: number;
  approved: number;
  denied: number;
  answered: number;
  expired: number;
  cancelled: number;
  open: number;
}
interface Spread {
  p50: number;
  p95: number;
}
export interface DayFigures extends StateCounts {
  day: string;
  /** By a rule or a grant. */
  automatic: number;
}
export interface Figures {
  complete: boolean;
  total: StateCounts;
  by_day: DayFigures[];
  /** From the opening until people decided. */
  waiting_ms: Spread | null;
  /** From the opening until the first answer. */
  first_answer_ms: Spread | null;
  approved_within_1s: number;
  people: { person: string; name: string; decided: number; approved: number; denied: number; approved_within_1s: number; waiting_ms: Spread | null }[];
  tools: (StateCounts & { tool: string })[];
}

export interface Person {
  id: string;
  name: string;
  roles: string[];
  identities: { channel: string; account: string }[];
  tokens: number;
}

export interface ChannelState {
  name: string;
  platform: string;
  talks: boolean;
  last_errors: { hold: string; to: string; why: string; at: string }[];
}

export interface PolicyReplay {
  calls: number;
  same: number;
  changes: RulingChange[];
  complete: boolean;
}
export interface RulingChange {
  tool: string;
  from: "allow" | "ask" | "deny";
  to: "allow" | "ask" | "deny";
  rule: string | null;
  count: number;
  example: string | null;
}

/** A tool that agents are offered, with what it takes as JSON Schema. */
export interface ConfiguredTool {
  name: string;
  description: string;
  effects: string;
  agents: string[];
  two_phase: boolean;
  place: "server" | "client";
  schema: JsonObject;
}

export interface PolicyExplained {
  decision: "allow" | "ask" | "deny";
  rule: string | null;
  risk: Risk;
  why: string[];
  known_tool: boolean;
}

export type Risk = "low" | "medium" | "high" | "critical";
export type HoldKind = "approve" | "choose" | "fill" | "perform" | "settle";
export type HoldState = "pending" | "approved" | "denied" | "answered" | "expired" | "cancelled";

export interface Said {
  verdict?: "approve" | "deny" | "respond";
  choose?: string[];
  fill?: JsonObject;
  perform?: { content?: Json; is_error?: boolean };
  settle?: "succeeded" | "failed" | "retry";
  content?: Json;
  scope?: "once" | "session";
  stop?: boolean;
  by?: string | null;
  by_name?: string | null;
  at?: string;
  via?: string;
  /** How they had proved who they are. */
  auth?: { method: string; made_by?: string; through?: string; channel?: string };
  reason?: string | null;
  note?: string | null;
  arguments?: Json;
  digest?: string;
  /** On whose word, when no person was asked. */
  rule?: string | null;
  grant?: string | null;
}

/** Who withdrew a hold. */
export interface Withdrawn {
  /** A person's id, or the name that a program has. */
  by?: string | null;
  at?: string;
  reason?: string | null;
}

export interface Outcome {
  state: "executing" | "succeeded" | "failed" | "unknown";
  result?: Json;
}

export interface Option {
  id: string;
  label: string;
  description?: string | null;
}

/** A piece of a foreign line: shown as it is, or drawn as a mark. */
export type Span = string | { spaces: number } | { code: string; count: number };
export interface ForeignText {
  bytes: number;
  lines: Span[][];
}
export interface ViewField {
  depth: number;
  name: ForeignText | null;
  kind: "group" | "text" | "scalar";
  text: ForeignText | null;
}
interface FormField {
  name: ForeignText;
  title: ForeignText | null;
}
/** A phrase of the server about how a call runs or why there is no preview. */
export interface Phrase {
  code: string;
  values: ForeignText[];
}
/** What stands in the sentence of a warning. Which of these are there depends on its code. */
export interface WarningValues {
  table?: ForeignText;
  rows?: number;
  program?: ForeignText;
  word?: ForeignText;
  scripts?: string[];
  why?: ForeignText;
  phrases?: Phrase[];
  tool?: ForeignText;
  secret?: ForeignText;
  place?: ForeignText;
  field?: ForeignText;
  at?: string;
  by?: ForeignText;
  minutes_ago?: number;
  reason?: ForeignText | null;
  roles?: ForeignText[];
  people?: ForeignText[];
  quorum?: number;
  exclude_requester?: boolean;
  refuse_made_logins?: boolean;
  rule?: ForeignText | null;
  line?: number;
  in_doubt?: boolean;
}
/** What stands in a title or a summary of the server. Which of these are there depends on its code. */
export interface CaptionValues {
  rows?: number;
  more?: number;
  estimated?: boolean;
  table?: ForeignText;
  database?: ForeignText;
  sql?: ForeignText;
  command?: ForeignText;
  script?: ForeignText;
  tool?: ForeignText;
  arguments?: ForeignText | null;
  questions?: number;
  headers?: ForeignText;
  request?: ForeignText;
  budget?: string;
  used?: number;
  limit?: number;
  server?: ForeignText;
  message?: ForeignText;
  project?: ForeignText;
  target?: ForeignText;
  left_out?: number;
  /** The title of the call in question, or the title that was cut, as it was shown and as what it says. */
  to?: ForeignText;
  code?: string;
  values?: CaptionValues;
}
/** What is asked. Labels and facts are the server's words; every text has an author. */
export type ViewPart =
  | { type: "fact"; label: string; value: string }
  | { type: "quote"; label: string; by: string; text: ForeignText; code?: string; values?: CaptionValues; phrases?: (Phrase & { line: number })[] }
  | { type: "fields"; label: string; by: string; fields: ViewField[] }
  | { type: "options"; by: string; multiple: boolean; allow_other: boolean; options: { id: ForeignText; label: ForeignText; description: ForeignText | null }[] }
  | { type: "form"; by: string; fields: FormField[]; more: boolean }
  | { type: "diff"; label: string; by: string; lines: { sign: "added" | "removed" | "same"; text: ForeignText }[] }
  | { type: "warning"; by: string; text: ForeignText; code?: string; values?: WarningValues };

/** Verb, amount and target of what is asked: codes of the server, which the page words. */
export interface Headline {
  verb: string;
  amount: HeadlineAmount | null;
  targets: HeadlineTarget[];
  stage: string | null;
  effect: "measured" | "estimated" | "parsed" | "elsewhere" | "unknown";
  undo: "changes_nothing" | "cannot_be_undone" | "not_known";
  shell: string[];
  in_question: boolean;
}
export interface HeadlineAmount {
  unit: string;
  count?: number;
  limit?: number;
  more?: number;
  estimated?: boolean;
  added?: number;
  removed?: number;
  method?: string;
  /** Before an edit; only the page sets it. */
  was?: number;
}
export interface HeadlineTarget {
  role: string;
  name: ForeignText | null;
  text: ForeignText;
}

export interface AskedCounts {
  asked: number;
  approved: number;
  denied: number;
  answered: number;
  expired: number;
  cancelled: number;
  open: number;
}
/** How many there are on the server, whether or not they were read. */
export interface HoldCounts {
  open: number;
  mine: number;
  sections: { expiring_soon: number; critical: number; mine: number; others: number };
  decided_today: number;
  /** False: there are so many that the server stopped counting. */
  exact: boolean;
}

/** Until when the reader does not want to see a hold. */
export interface Snooze {
  hold: string;
  until: string;
}

/** What became of calls like this one, as far as the reader may see them. */
export interface AskedBefore {
  alike: { days_7: AskedCounts; days_30: AskedCounts };
  same: { days_7: AskedCounts; days_30: AskedCounts };
  last_denial: { hold: string; same: boolean; by: string; by_name: string | null; at: string; reason: string | null } | null;
  complete: boolean;
}

/** What an edited call would do, before anybody approves it. */
export interface EditPreview {
  verdict: "allow" | "ask";
  may_approve: boolean;
  risk: Risk;
  rule?: string | null;
  preview: { summary?: string | null; rows?: number | null; diff?: string | null; warnings?: string[] };
  view: { parts: ViewPart[]; text: string; digest: string };
  headline?: Headline;
}

/** `key`: null where the server sends no notices. */
export interface PushState {
  key: string | null;
  items: { id: string; name: string | null; language: string; at: string }[];
}

export interface SavedView {
  name: string;
  query: string;
}

export interface Comment {
  by: string;
  at: string;
  via: string;
  text: string;
  mentions: string[];
}

export interface Hold {
  id: string;
  version: number;
  kind: HoldKind;
  state: HoldState;
  risk: Risk;
  tag: string;
  title: string;
  agent: string | null;
  session: string | null;
  run: string | null;
  parent: string | null;
  requester: string | null;
  digest: string;
  /** Equal for the same call by the same agent or program. */
  group?: string | null;
  call: { id?: string; tool_use_id?: string; tool: string; arguments: Json; effects?: string } | null;
  headline?: Headline;
  view?: { parts: ViewPart[]; text: string; digest: string };
  asked_by?: { program: string | null; agent: string | null; on_behalf_of: string | null };
  two_phase?: boolean;
  preview?: { summary?: string | null; rows?: number | null; diff?: string | null; warnings?: string[] } | null;
  options?: Option[] | null;
  multiple?: boolean;
  allow_other?: boolean;
  schema?: JsonObject | null;
  context?: JsonObject | null;
  rationale?: string | null;
  audience?: { people?: string[]; roles?: string[]; quorum?: number; exclude_requester?: boolean } | null;
  rule?: string | null;
  opened_at: string;
  expires_at?: string | null;
  claimed_by?: string | null;
  answers?: Said[];
  comment_count?: number;
  /** What people said about it, oldest first: absent in lists. */
  comments?: Comment[];
  /** Who was addressed and has said nothing since. */
  mentioned?: string[];
  decision?: Said | null;
  cancelled?: Withdrawn | null;
  outcome?: Outcome | null;
  /** Where people could not be asked. */
  undelivered?: { channel: string; to: string; why: string; at: string }[];
}

export type RunStatus = "running" | "paused" | "completed" | "failed" | "cancelled";

/** What a run has used so far. */
export interface Usage {
  turns: number;
  input_tokens: number;
  output_tokens: number;
  /** A decimal number; absent if nothing was paid for. */
  money?: string;
  time_s: number;
}

export interface Run {
  id: string;
  status: RunStatus;
  error?: Json;
  /** Why it was cancelled. */
  reason?: string;
  usage?: Usage;
}

export type ToolState =
  | "input-streaming"
  | "input-available"
  | "approval-requested"
  | "approval-responded"
  | "output-available"
  | "output-error"
  | "output-denied";

export interface TextPart {
  type: "text" | "reasoning";
  text: string;
}
export interface ToolCallPart {
  type: "tool-call";
  toolCallId: string;
  toolName: string;
  state: ToolState;
  input?: Json;
  hold?: string | { id: string } | null;
}
export interface ToolResultPart {
  type: "tool-result";
  toolCallId: string;
  toolName: string;
  output?: Json;
  isError?: boolean;
}
/** A file that came with a message. A picture has a size in pixels. */
export interface FilePart {
  type: "file";
  file: string;
  name: string;
  mediaType: string;
  bytes: number;
  digest: string;
  width?: number;
  height?: number;
}
export interface UploadedFile {
  id: string;
  name: string;
  media_type: string;
  bytes: number;
  digest: string;
  width?: number;
  height?: number;
}
export type Part = TextPart | FilePart | ToolCallPart | ToolResultPart;

export interface Message {
  id: string;
  role: "user" | "assistant" | "tool";
  parts: Part[];
  at: string;
  origin?: string;
  /** Who said it, if that was not who opened the session. */
  by?: string;
}

export interface SessionSummary {
  id: string;
  agent: string;
  title?: string | null;
  /** A person's id, or the name that a program has. */
  creator: string;
  created_at?: string;
  run?: Run | null;
  pending?: (string | { id: string })[];
}

export interface Session extends SessionSummary {
  messages: Message[];
}

export interface List<T> {
  items: T[];
  next: string | null;
}

export interface ProblemBody {
  type?: string;
  title?: string;
  status?: number;
  detail?: string;
  code?: string;
  field?: string;
  faults?: FieldFault[];
  decision?: Said;
}

/** What is wrong with one field: a code and numbers, which the page words itself. */
export interface FieldFault {
  field: string;
  code: string;
  bound?: number;
  types?: string[];
  name?: string;
}

/** One secret, in the open. */
export interface Secret {
  part: "arguments" | "answer";
  at: string;
  value: Json;
}

/** Asks whether a run that used up a budget may go on: it gates no call of its session. */
export function asksToGoOn(hold: Hold): boolean {
  return hold.kind === "approve" && hold.session !== null && hold.call === null;
}

/** Both forms of a reference occur: the bare id, and the thing itself. */
export function idOf(reference: string | { id: string }): string {
  return typeof reference === "string" ? reference : reference.id;
}
