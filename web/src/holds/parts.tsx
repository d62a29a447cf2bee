// What is asked, part by part, as the server made it from the stored bytes, in the order of an approver's questions: what runs, what
// it does, what came with it, and folded at the end how it runs. What the headline says already is not said again.

import type { ComponentChildren } from "preact";
import { Caption, Chip, Foreign, isLong, Lines } from "../foreign";
import { language, OPENED_LINK, optionLabel, t, word } from "../i18n";
import type { Json, JsonObject, ForeignText, Hold, Span, ViewPart } from "../wire";
import { compare, Difference, type DiffRow } from "./difference";
import { Fields, longFields } from "./fields";
import { headlineOf, isKnown } from "./headline";
import { isObject } from "./schema";
import { join, quoted, titlePart } from "./worded";

/** The long texts that must be opened before an approval. */
export function longTexts(hold: Hold): string[] {
  return (hold.view?.parts ?? []).flatMap((part, at) => {
    if (part.type === "fields") return longFields(part, at);
    return "text" in part && part.type !== "warning" && isLong(part.text) ? [`${at}`] : [];
  });
}

type Placed = { part: ViewPart; at: string };

/** Every part but warnings, by where it is drawn. */
function placed(hold: Hold, controls: boolean) {
  const sections = { runs: [] as Placed[], does: [] as Placed[], context: [] as Placed[], record: [] as Placed[] };
  const request = headlineOf(hold).verb === "send_request";
  (hold.view?.parts ?? []).forEach((part, index) => {
    const one = { part, at: `${index}` };
    if (part.type === "warning" || (controls && (part.type === "options" || part.type === "form"))) return;
    const label = "label" in part ? part.label : part.type;
    if (label === "asks" || label === "title" || label === "rows" || label === "effects") return;
    // The line of a request is the first of how it runs.
    if (label === "preview") (saysMore(part) && !request ? sections.does : sections.record).push(one);
    else if (label === "context") sections.context.push(one);
    // The body of a request is part of how it runs.
    else if (label === "runs" && request) sections.runs.unshift(one);
    // What changes stands there as a diff, and nothing else is asked for.
    else if (label === "arguments" && diffSaysAll(hold) && longTexts(hold).length === 0) sections.record.push(one);
    else if (label === "tool" || label === "runs" || label === "working_directory") sections.record.push(one);
    // What changes comes before how it is called.
    else if (part.type === "diff") sections.runs.unshift(one);
    else sections.runs.push(one);
  });
  return sections;
}

/** Rows that were counted stand in the headline, but not those that change along with them. */
function saysMore(part: ViewPart): boolean {
  return part.type !== "quote" || part.code !== "rows" || (part.values?.more ?? 0) > 0;
}

interface PartsProps {
  hold: Hold;
  controls: boolean;
  title: string | null;
  /** What the model says of it, before what is folded. */
  said: ComponentChildren;
  record: ComponentChildren;
}

export function Parts({ hold, controls, title, said, record }: PartsProps) {
  const sections = placed(hold, controls);
  const folded = sections.record.some(({ part }) => "text" in part && isLong(part.text));
  return (
    <div class="parts" data-testid="view">
      <TitleView hold={hold} />
      {sections.runs.length > 0 || diffOf(hold) !== null ? (
        <section class="sec" aria-label={title ?? t("card.question")}>
          {title === null ? null : <h2>{title}</h2>}
          <ArgumentDiff hold={hold} />
          {sections.runs.map((one) => (
            <PartView key={one.at} {...one} hold={hold} />
          ))}
        </section>
      ) : null}
      {sections.does.length > 0 ? (
        <section class="sec" aria-label={t("card.does")}>
          <h2>{t("card.does")}</h2>
          {sections.does.map((one) => (
            <PartView key={one.at} {...one} hold={hold} />
          ))}
        </section>
      ) : null}
      {sections.context.map((one) => (
        <PartView key={one.at} {...one} hold={hold} />
      ))}
      {said}
      <details class="record" open={folded}>
        <summary>{t("card.record")}</summary>
        <div class="record-in">
          {sections.record.map((one) => (
            <PartView key={one.at} {...one} hold={hold} />
          ))}
          {record}
        </div>
      </details>
    </div>
  );
}

/** What whoever asks calls it: the question itself, or a title that nobody has checked. One of ours is in the headline already. */
function TitleView({ hold }: { hold: Hold }) {
  const part = titlePart(hold);
  if (!part) return null;
  const question = hold.kind === "choose" || hold.kind === "fill" || hold.kind === "perform";
  const prompted = (hold.view?.parts ?? []).some((one) => one.type === "quote" && one.label === "prompt");
  if (question && prompted) return null;
  // A tool of ours, or a code of ours: its values stand in the headline and in the call.
  if (part.code !== undefined && part.code !== "several_questions" && part.code !== "server_asks") return null;
  if (part.by === "tool" && isKnown(hold) && !question) return null;
  const label = question ? t("card.question") : part.by === "program" ? t("card.title.program") : t("card.title.other");
  return (
    <figure class="fx" data-title>
      <Caption label={label} by={question ? part.by : ""}>
        {question ? null : t("card.not_checked")}
      </Caption>
      <Lines lines={quoted(part).lines} prose />
    </figure>
  );
}

const PATHS = ["path", "file_path"];
const TEXTS = ["oldText,newText", "old_string,new_string", "old_str,new_str"];

/** Whether the arguments are one path, which the headline names, and old and new texts. Any other word beside them may be what the tool takes. */
function diffSaysAll(hold: Hold): boolean {
  const input = hold.call?.arguments;
  if (!isObject(input) || diffOf(hold) === null) return false;
  const isPair = (edit: Json) => isObject(edit) && TEXTS.includes(Object.keys(edit).join(","));
  const [path, ...rest] = Object.keys(input);
  if (path === undefined || !PATHS.includes(path) || typeof input[path] !== "string") return false;
  const edits = input["edits"];
  return rest.join(",") === "edits" ? Array.isArray(edits) && edits.every(isPair) : TEXTS.includes(rest.join(","));
}

/** An edit of a file that is in the arguments as old and new text, as MCP servers and coding agents take it. */
function diffOf(hold: Hold): DiffRow[] | null {
  const input = isObject(hold.call?.arguments) ? hookInput(hold.call.arguments) : null;
  if (input === null || headlineOf(hold).verb !== "edit_files" || hold.preview?.diff) return null;
  const listed = Array.isArray(input["edits"]) ? input["edits"].filter(isObject) : [input];
  const pairs = listed.flatMap((edit) => {
    const [before, after] = [edit["oldText"] ?? edit["old_string"] ?? edit["old_str"], edit["newText"] ?? edit["new_string"] ?? edit["new_str"]];
    return typeof before === "string" && typeof after === "string" ? [[before, after] as const] : [];
  });
  return pairs.length === 0 ? null : pairs.flatMap(([before, after]) => compare(before, after));
}

/** What an agent said, where our hooks put it: only if nothing else stands beside it. */
function hookInput(top: JsonObject): JsonObject {
  const isHook = Object.keys(top).every((key) => ["cwd", "input", "files", "files_in"].includes(key));
  return isHook && isObject(top["input"]) ? top["input"] : top;
}

function ArgumentDiff({ hold }: { hold: Hold }) {
  const rows = diffOf(hold);
  return rows === null ? null : <Difference label={t("card.mcp_diff")} by={hold.session ? "agent" : "program"} rows={rows} />;
}

function PartView({ part, at, hold }: Placed & { hold: Hold }) {
  switch (part.type) {
    case "fact":
      return (
        <p class="part-fact">
          <span>{word("view.label", part.label)}</span> <strong>{part.value}</strong>
        </p>
      );
    case "quote":
      return <QuoteView part={part} at={at} hold={hold} />;
    case "warning":
      return null;
    case "fields":
      return <Fields part={part} at={at} />;
    case "options":
      return (
        <figure class="fx">
          <Caption label={part.multiple ? t("choose.many") : t("choose.one")} by={part.by} />
          <Lines lines={part.options.flatMap((one, index) => [join(option(one, index + 1)), ...(one.description ? [join(["   ", one.description])] : [])])} marks={[]} />
        </figure>
      );
    case "form":
      return (
        <figure class="fx">
          <Caption label={word("view.label", "form")} by={part.by} />
          <Lines lines={part.fields.map((field) => join([...(field.title ? [field.title, " · "] : []), field.name]))} marks={[]} />
        </figure>
      );
    case "diff":
      return <Difference label={word("view.label", part.label)} by={part.by} rows={part.lines.map((line) => ({ sign: line.sign, line: (part.label === "edit" ? edited : join)([line.text]) }))} />;
  }
}

function QuoteView({ part, at, hold }: { part: Extract<ViewPart, { type: "quote" }>; at: string; hold: Hold }) {
  if (part.label === "tool") {
    return (
      <p class="part-fact">
        <span>{word("view.label", part.label)}</span> <Chip text={part.text} />
      </p>
    );
  }
  if (part.label === "prompt") {
    return (
      <figure class="fx" data-title>
        <Caption label={t("card.question")} by={part.by} />
        <Lines lines={part.text.lines} prose />
      </figure>
    );
  }
  const request = headlineOf(hold).verb === "send_request";
  return <Foreign label={request && part.label === "runs" ? t("code.http") : word("view.label", part.label)} by={part.by} text={quoted(part)} fold={at} prose={part.label === "preview"} code={request && part.label === "runs" ? "http" : null} />;
}

/** A line of an edit, with the words in it that are ours. No field ends in them, and a line of a text begins with a bar. */
function edited(pieces: (ForeignText | string)[]): Span[] {
  const line = join(pieces);
  const last = line.at(-1);
  if (language() !== "zh" || typeof last !== "string") return line;
  if (line.length === 1 && last === "… (more was changed than is shown here)") return ["…（更改较多，此处未全部显示）"];
  const ofText = typeof line[0] === "string" && /^\s*│/.test(line[0]);
  return ofText ? line : [...line.slice(0, -1), last.replace(/(^|[:\- ])\(text\)$/, "$1（文本）")];
}

/** Options count from 1, as in chats and terminals; the asker's own id stands behind, where it is another. */
function option(one: { id: ForeignText; label: ForeignText }, place: number): (ForeignText | string)[] {
  const id = one.id.lines.length === 1 && one.id.lines[0]?.length === 1 ? one.id.lines[0][0] : null;
  const ours = id === `${place}` || id === `opt_${place}`;
  if (id === "link_opened" && one.label.lines[0]?.[0] === OPENED_LINK.label) return [`${place}. `, optionLabel(OPENED_LINK)];
  return [`${place}. `, one.label, ...(ours ? [] : [language() === "zh" ? "（标识 " : " (id ", one.id, language() === "zh" ? "）" : ")"])];
}

export { titleOf, titleText } from "./worded";
