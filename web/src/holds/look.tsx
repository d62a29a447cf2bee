// What an edited call would do, measured anew: asked for while one edits, and shown before anybody can approve it.

import { useEffect, useState } from "preact/hooks";
import * as api from "../api";
import { FoldedLines, isLong } from "../folding";
import { foreignOf, Quoted } from "../foreign";
import { t } from "../i18n";
import type { EditPreview, ForeignText, Headline, Hold } from "../wire";
import { headlineOf, lower, verbText } from "./headline";

// Long enough that typing does not ask for every letter.
const LOOK_AFTER_MS = 500;

export type Look = { of: string; state: "busy" | "missing" } | { of: string; state: "done"; found: EditPreview } | { of: string; state: "refused"; why: string };

/** Asks what this text would do, a moment after the last change. */
export function useLook(hold: Hold, text: string, sound: boolean): Look | null {
  const [look, setLook] = useState<Look | null>(null);
  useEffect(() => {
    if (!sound) return setLook(null);
    setLook({ of: text, state: "busy" });
    let left = false;
    const timer = setTimeout(() => {
      api.previewEdit(hold.id, text).then(
        (found) => left || setLook({ of: text, state: "done", found }),
        (error: unknown) => {
          if (left || !(error instanceof api.Refused)) return;
          // Such a server cannot look; what it does with the edit is checked when it is approved.
          const missing = error.status === 404 || error.status === 405;
          setLook(missing ? { of: text, state: "missing" } : { of: text, state: "refused", why: error.message });
        },
      );
    }, LOOK_AFTER_MS);
    return () => {
      left = true;
      clearTimeout(timer);
    };
  }, [text, sound]);
  return look;
}

export function editedHeadline(hold: Hold, found: EditPreview): Headline {
  const before = headlineOf(hold);
  const now = found.headline ?? (before.amount && typeof found.preview.rows === "number" ? { ...before, amount: { ...before.amount, count: found.preview.rows } } : before);
  const [was, count] = [before.amount?.count, now.amount?.count];
  if (was === undefined || count === undefined || was === count || now.amount === null) return now;
  return { ...now, amount: { ...now.amount, was } };
}

/** The tool's own words that are drawn. A count says more than a summary. */
function toldBy(hold: Hold, found: EditPreview): { summary: ForeignText | null; warnings: ForeignText[] } {
  const { summary, warnings = [] } = found.preview;
  const counted = editedHeadline(hold, found).amount?.count !== undefined;
  return { summary: summary && !counted ? foreignOf(summary) : null, warnings: warnings.map(foreignOf) };
}

/** What of them is folded, and must be opened before the version is approved. */
export function lookFolds(hold: Hold, look: Look): string[] {
  if (look.state !== "done") return [];
  const { summary, warnings } = toldBy(hold, look.found);
  return [...(summary !== null && isLong(summary) ? ["summary"] : []), ...warnings.flatMap((warning, at) => (isLong(warning) ? [`warning ${at}`] : []))];
}

function ToolWords({ text, fold }: { text: ForeignText; fold: string }) {
  return (
    <div class="fx">
      <FoldedLines {...text} fold={fold} prose />
    </div>
  );
}

export function LookView({ hold, look }: { hold: Hold; look: Look | null }) {
  if (look === null) return null;
  return (
    <section class="sec" aria-live="polite" data-look={look.state}>
      <h2>{t("edit.preview")}</h2>
      {look.state === "busy" ? <p class="muted">{t("edit.preview.busy")}</p> : null}
      {look.state === "missing" ? <p class="note">{t("edit.preview.missing")}</p> : null}
      {look.state === "refused" ? (
        <div class="refusal-block" role="alert">
          <Quoted text={look.why} prose />
        </div>
      ) : null}
      {look.state === "done" ? <Found hold={hold} found={look.found} /> : null}
    </section>
  );
}

function Found({ hold, found }: { hold: Hold; found: EditPreview }) {
  const [before, now] = [headlineOf(hold), editedHeadline(hold, found)];
  const counted = now.amount?.count !== undefined;
  const told = toldBy(hold, found);
  return (
    <>
      {counted ? (
        <p class="note found">
          <b>{verbText({ ...now, amount: now.amount ? ({ ...now.amount, was: undefined } as never) : null })}</b> <span class="muted">{before.amount?.count === now.amount?.count ? "" : t("edit.preview.was", { before: lower(verbText(before)) })}</span>
        </p>
      ) : null}
      {told.summary === null ? null : <ToolWords text={told.summary} fold="summary" />}
      {!found.preview.summary && !counted ? <p class="note">{t("edit.preview.none")}</p> : null}
      {told.warnings.map((warning, at) => (
        <div class="warning" key={at}>
          <ToolWords text={warning} fold={`warning ${at}`} />
        </div>
      ))}
      {found.may_approve ? null : <p class="note unread">{t("edit.preview.others")}</p>}
      {found.verdict === "allow" ? <p class="muted">{t("edit.preview.allowed")}</p> : null}
    </>
  );
}
