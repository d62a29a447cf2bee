// One message: who wrote it, and its parts in order. Its words have a gutter: an agent can write anything, also what looks like ours.

import { Who } from "../components";
import { FileShown } from "../files/shown";
import { Quoted } from "../foreign";
import { Moment } from "../holds/facts";
import { t } from "../i18n";
import { lazy } from "../lazy";
import { Plain } from "../plain";
import { personName, useMe } from "../who";
import type { Message, Part, ToolResultPart } from "../wire";
import { ToolCall } from "./tool";

// Without the reader of Markdown the text is there all the same.
const Markdown = lazy<{ text: string }>(() => import("./markdown"), ({ text }) => <Quoted text={text} prose whole />);

interface Props {
  message: Message;
  agent: string;
  /** Who opened the session, and said all that names nobody else: people who were asked read along. */
  creator: string;
  /** All results of the session by call, since a result comes in a later message than its call. */
  results: ReadonlyMap<string, ToolResultPart>;
  draft?: boolean;
}

export function MessageView({ message, agent, creator, results, draft = false }: Props) {
  const me = useMe();
  const drawn = message.parts.filter((part) => part.type !== "tool-result");
  if (drawn.length === 0) return null;
  // A message of ours travels in the user's role, but it is not the user's word and must not look like it.
  const author = message.origin === "runtime" ? "runtime" : message.role;
  const { by = creator } = message;
  // A creator may be a program, whose name says nothing about people.
  const person = message.by || by === me.id ? personName(by, me) : by;
  const name = author === "user" ? (by === me.id ? t("chat.you") : person) : author === "runtime" ? t("chat.runtime") : agent;
  return (
    <article class={`message from-${author}`} data-message={message.id} data-author={author} aria-busy={draft}>
      <Who name={author === "user" ? person : name} machine={author !== "user"} />
      <header class="message-head">
        <strong>
          <Plain text={name} />
        </strong>
        {message.at ? <Moment at={message.at} /> : null}
      </header>
      {drawn.map((part, at) => (
        <PartView key={part.type === "tool-call" ? part.toolCallId : at} part={draft ? unfinished(part) : part} marked={author === "assistant"} results={results} />
      ))}
      {draft ? <span class="cursor" aria-hidden="true" /> : null}
    </article>
  );
}

/** The space before the next word is no space at the end of a line, and must not be marked as one. */
function unfinished(part: Part): Part {
  return part.type === "text" || part.type === "reasoning" ? { ...part, text: part.text.replace(/ +$/, "") } : part;
}

function PartView({ part, marked, results }: { part: Part; marked: boolean; results: ReadonlyMap<string, ToolResultPart> }) {
  switch (part.type) {
    case "text":
      return marked ? <Markdown text={part.text} /> : <Quoted text={part.text} prose whole />;
    case "reasoning":
      return (
        <details class="reasoning">
          <summary>{t("part.reasoning")}</summary>
          <Quoted text={part.text} prose whole />
        </details>
      );
    case "file":
      return <FileShown file={part} />;
    case "tool-call":
      return <ToolCall part={part} result={results.get(part.toolCallId)} />;
    default:
      return null;
  }
}
