// What is asked, part by part, as the server made it from the stored bytes, in the order of an approver's questions: what runs, what
// it does, what came with it, and folded at the end how it runs. What the headline says already is not said again.

import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { Caption, Chip, Foreign } from "../foreign";
import { FoldedLines, isLong } from "../folding";
import { language, t, word } from "../i18n";
import type { Hold, ViewPart } from "../wire";
import { argumentDiff, DIFF_FOLD, diffSaysAll } from "./argument_diff";
import { Difference } from "./difference";
import { Fields } from "./fields";
import { arrangedOf, foldsOfPart, isQuestion, shownTitle, TITLE_FOLD } from "./folds";
import { headlineOf } from "./headline";
import { diffRows, foreignBytes, formLines, optionLines } from "./part_lines";
import { quoted } from "./worded";

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
    else if (label === "arguments" && diffSaysAll(hold) && foldsOfPart(hold, part, index).every((fold) => fold === DIFF_FOLD)) sections.record.push(one);
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
  /** Folded at the end; null where it stands elsewhere. */
  record: ComponentChildren;
}

export function Parts({ hold, controls, title, said, record }: PartsProps) {
  const sections = placed(hold, controls);
  return (
    <div class="parts" data-testid="view">
      <TitleView hold={hold} />
      {sections.runs.length > 0 || argumentDiff(hold) !== null ? (
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
      {record}
    </div>
  );
}

/** How it runs, and what identifies it: folded, unless it has a text that must be opened before an approval. */
export function RecordView({ hold, children }: { hold: Hold; children: ComponentChildren }) {
  const { record } = placed(hold, true);
  const folds = record.some(({ part, at }) => foldsOfPart(hold, part, Number(at)).length > 0);
  return (
    <details class="record" open={folds}>
      <summary>{t("card.record")}</summary>
      <div class="record-in">
        {record.map((one) => (
          <PartView key={one.at} {...one} hold={hold} />
        ))}
        {children}
      </div>
    </details>
  );
}

/** What the asker calls it: the question itself, or a title that nobody has checked. */
function TitleView({ hold }: { hold: Hold }) {
  const part = shownTitle(hold);
  if (!part) return null;
  const question = isQuestion(hold);
  const label = question ? t("card.question") : part.by === "program" ? t("card.title.program") : t("card.title.other");
  return (
    <figure class="fx" data-title>
      <Caption label={label} by={question ? part.by : ""}>
        {question ? null : t("card.not_checked")}
      </Caption>
      <FoldedLines lines={quoted(part).lines} bytes={part.text.bytes} fold={TITLE_FOLD} prose />
    </figure>
  );
}

function ArgumentDiff({ hold }: { hold: Hold }) {
  const diff = argumentDiff(hold);
  return diff === null ? null : <Difference label={t("card.mcp_diff")} by={hold.session ? "agent" : "program"} fold={DIFF_FOLD} {...diff} />;
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
      return <Fields part={part} arranged={arrangedOf(hold, part, Number(at))} />;
    case "options":
      return (
        <figure class="fx">
          <Caption label={part.multiple ? t("choose.many") : t("choose.one")} by={part.by} />
          <FoldedLines lines={optionLines(part)} bytes={foreignBytes(part)} fold={at} marks={[]} />
        </figure>
      );
    case "form":
      return (
        <figure class="fx">
          <Caption label={word("view.label", "form")} by={part.by} />
          <FoldedLines lines={formLines(part)} bytes={foreignBytes(part)} fold={at} marks={[]} />
        </figure>
      );
    case "diff":
      return <DiffView part={part} at={at} />;
  }
}

function DiffView({ part, at }: { part: Extract<ViewPart, { type: "diff" }>; at: string }) {
  const rows = useMemo(() => diffRows(part), [part, language()]);
  return <Difference label={word("view.label", part.label)} by={part.by} rows={rows} fold={at} bytes={foreignBytes(part)} />;
}

function QuoteView({ part, at, hold }: { part: Extract<ViewPart, { type: "quote" }>; at: string; hold: Hold }) {
  if (part.label === "tool" && !isLong(part.text)) {
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
        <FoldedLines lines={part.text.lines} bytes={part.text.bytes} fold={at} prose />
      </figure>
    );
  }
  const request = headlineOf(hold).verb === "send_request";
  return <Foreign label={request && part.label === "runs" ? t("code.http") : word("view.label", part.label)} by={part.by} text={quoted(part)} fold={at} prose={part.label === "preview"} code={request && part.label === "runs" ? "http" : null} />;
}

export { titleOf, titleText } from "./worded";
