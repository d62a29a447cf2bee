// What should not be overlooked: two before everything else, the rest right after the facts. The sentence is the server's, and may
// quote others, so it stands on sand in a frame of ours.

import { FoldedLines } from "../folding";
import { Icon } from "../icons";
import { t, word } from "../i18n";
import type { Hold, Span } from "../wire";
import { warningLines, type WarningPart } from "./worded";

const UP_FRONT = 2;
/** Changed, misleading or doubtful: red. The rest is a word of care. */
const BAD = new Set(["look_alike", "changed_definition", "denied_before_same", "outcome_unknown", "earlier_attempt", "tool_changed", "other_call_approved"]);

export function warningsOf(hold: Hold): WarningPart[] {
  const all = (hold.view?.parts ?? []).filter((part): part is WarningPart => part.type === "warning");
  const isBad = (part: WarningPart): boolean => part.code !== undefined && BAD.has(part.code);
  return [...all.filter(isBad), ...all.filter((part) => !isBad(part))];
}

export function FrontWarnings({ hold }: { hold: Hold }) {
  const tricks = tricksIn(hold);
  const shown = warningsOf(hold).slice(0, tricks ? UP_FRONT - 1 : UP_FRONT);
  return (
    <>
      {tricks ? (
        <p class="warning warning-bad warning-ours" data-warning="misleading">
          <Icon name="warning" />
          <span>
            <b>{t("mislead.title")}</b> {tricks} {t("mislead.read")}
          </span>
        </p>
      ) : null}
      {shown.map((part, at) => (
        <WarningView key={at} part={part} hold={hold} />
      ))}
    </>
  );
}

export function MoreWarnings({ hold }: { hold: Hold }) {
  const rest = warningsOf(hold).slice(tricksIn(hold) ? UP_FRONT - 1 : UP_FRONT);
  if (rest.length === 0) return null;
  return (
    <section class="sec" aria-label={t("card.more_warnings")}>
      <h2>{t("card.more_warnings")}</h2>
      {rest.map((part, at) => (
        <WarningView key={at} part={part} hold={hold} />
      ))}
    </section>
  );
}

function WarningView({ part, hold }: { part: WarningPart; hold: Hold }) {
  const bad = part.code !== undefined && BAD.has(part.code);
  return (
    <div class={bad ? "warning warning-bad" : "warning"} data-warning={part.code ?? ""}>
      <Icon name="warning" />
      <b class="warning-lead">
        {t("hold.warning")} <small>{word("view.by", part.by)}</small>
      </b>
      <div class="fx">
        <FoldedLines lines={warningLines(part)} bytes={part.text.bytes} fold={`${(hold.view?.parts ?? []).indexOf(part)}`} prose />
      </div>
    </div>
  );
}

// A shorter run is an indent or a table.
const LONG_RUN = 20;
/** Tabs and line ends are what they are. */
const USUAL = new Set(["U+0009", "U+000A", "U+000D"]);

/** Counts what hides or pushes away text, in our words; null if there is nothing of the kind. */
function tricksIn(hold: Hold): string | null {
  let [runs, spaces, signs] = [0, 0, 0];
  const look = (value: unknown): void => {
    if (value === null || typeof value !== "object") return;
    if (Array.isArray((value as { lines?: unknown }).lines) && "bytes" in value) {
      for (const span of (value as unknown as { lines: Span[][] }).lines.flat()) {
        if (typeof span === "string") continue;
        if ("spaces" in span && span.spaces >= LONG_RUN) [runs, spaces] = [runs + 1, spaces + span.spaces];
        if ("code" in span && !USUAL.has(span.code)) signs += span.count;
      }
      return;
    }
    for (const inner of Object.values(value)) look(inner);
  };
  // Warnings quote what they warn of.
  for (const part of hold.view?.parts ?? []) if (part.type !== "warning") look(part);
  const found = [
    runs > 0 ? t(runs === 1 ? "mislead.spaces.one" : "mislead.spaces", { runs, spaces: spaces.toLocaleString() }) : "",
    signs > 0 ? t(signs === 1 ? "mislead.signs.one" : "mislead.signs", { signs: signs.toLocaleString() }) : "",
  ].filter((one) => one !== "");
  if (found.length === 0) return null;
  const sentence = found.join(t("mislead.and"));
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}${t("card.stop")}`;
}
