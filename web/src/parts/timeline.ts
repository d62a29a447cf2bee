// Where the time of a session went: the model at work, people asked, tools running. Read from when messages came and holds were
// opened and decided, so it is as exact as those; what nobody wrote down is the model's.

import type { Hold, Message } from "../wire";

export type Stretch = { who: "model" | "people" | "tool"; from: number; to: number };

interface Interval {
  from: number;
  to: number;
}

export function stretchesOf(messages: Message[], holds: Hold[], running: boolean, now: number): Stretch[] {
  const people = holds.map((hold): Interval => ({ from: Date.parse(hold.opened_at), to: decidedAt(hold) ?? now }));
  const work = workOf(messages, running, now);
  const tools = toolsOf(messages, holds);
  const edges = [...new Set([...work, ...people, ...tools].flatMap((one) => [one.from, one.to]))].filter((at) => !Number.isNaN(at)).sort((a, b) => a - b);
  const inside = (all: Interval[], at: number) => all.some((one) => one.from <= at && at < one.to);
  const stretches: Stretch[] = [];
  edges.slice(0, -1).forEach((from, place) => {
    const to = edges[place + 1] ?? from;
    const who = inside(people, from) ? "people" : inside(tools, from) ? "tool" : inside(work, from) ? "model" : null;
    if (who === null || to <= from) return;
    const last = stretches.at(-1);
    if (last?.who === who && last.to === from) last.to = to;
    else stretches.push({ who, from, to });
  });
  return stretches;
}

/** From each message of a person to the last answer to it; the time until the next message is nobody's. */
function workOf(messages: Message[], running: boolean, now: number): Interval[] {
  const work: Interval[] = [];
  for (const message of messages) {
    const at = Date.parse(message.at);
    const last = work.at(-1);
    if (message.role === "user" && message.origin !== "runtime") work.push({ from: at, to: at });
    else if (last) last.to = Math.max(last.to, at);
  }
  const last = work.at(-1);
  if (running && last) last.to = now;
  return work;
}

/** From the moment that a call could run (its message, or its approval) until its result. */
function toolsOf(messages: Message[], holds: Hold[]): Interval[] {
  const ended = new Map<string, number>();
  for (const message of messages) for (const part of message.parts) if (part.type === "tool-result") ended.set(part.toolCallId, Date.parse(message.at));
  return messages.flatMap((message) =>
    message.parts.flatMap((part) => {
      if (part.type !== "tool-call") return [];
      const to = ended.get(part.toolCallId);
      const held = holds.find((hold) => hold.call?.tool_use_id === part.toolCallId || hold.call?.id === part.toolCallId);
      const from = (held ? decidedAt(held) : undefined) ?? Date.parse(message.at);
      return to === undefined || held?.state === "pending" ? [] : [{ from, to }];
    }),
  );
}

function decidedAt(hold: Hold): number | undefined {
  const at = hold.decision?.at ?? hold.cancelled?.at ?? (hold.state === "expired" ? hold.expires_at : undefined);
  return hold.state === "pending" || !at ? undefined : Date.parse(at);
}

export function totalOf(stretches: Stretch[], who?: Stretch["who"]): number {
  return stretches.filter((one) => who === undefined || one.who === who).reduce((sum, one) => sum + one.to - one.from, 0);
}
