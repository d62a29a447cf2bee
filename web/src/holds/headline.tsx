// The first line of a card: verb and amount in our words, then the targets as chips and the stage as a badge. The title that
// a program gave stands elsewhere, on sand: nothing foreign is ever in the headline.

import { Pill } from "../components";
import { Chip } from "../foreign";
import { language, t, word } from "../i18n";
import * as en from "../text/headline_en";
import * as zh from "../text/headline_zh";
import type { Headline, HeadlineTarget, Hold } from "../wire";
import { titleOf } from "./worded";

const UNKNOWN: Headline = { verb: "permit", amount: null, targets: [], stage: null, effect: "unknown", undo: "not_known", shell: [], in_question: false };

/** An older server says nothing; then nothing is known. */
export function headlineOf(hold: Hold): Headline {
  return hold.headline ?? { ...UNKNOWN, verb: hold.call ? "call_tool" : "permit" };
}

/** "Delete 214 rows". */
export function verbOf(hold: Hold): string {
  return verbText(headlineOf(hold));
}

export function verbText(headline: Headline): string {
  const words = language() === "zh" ? zh.verbs : en.verbs;
  const verb = (words[headline.verb] ?? words["call_tool"])?.(headline) ?? "";
  return headline.in_question ? t("headline.in_question", { verb: lower(verb) }) : verb;
}

/** Inside a sentence. */
export function lower(verb: string): string {
  return verb.charAt(0).toLowerCase() + verb.slice(1);
}

/** Whether we can say what it does. Else the title of whoever asks is shown, on sand. */
export function isKnown(hold: Hold): boolean {
  const { effect } = headlineOf(hold);
  return effect !== "unknown";
}

/** The word to type before a critical approval: the name of the nearest target, if it can be typed. */
export function wordToType(hold: Hold): string {
  for (const target of headlineOf(hold).targets) {
    const line = target.text.lines.length === 1 ? target.text.lines[0] : undefined;
    const text = line?.length === 1 && typeof line[0] === "string" ? line[0] : "";
    if (target.role !== "argument" && /^[\x21-\x7e]{2,24}$/.test(text)) return text;
  }
  return hold.tag;
}

export function Targets({ hold }: { hold: Hold }) {
  const headline = headlineOf(hold);
  if (headline.targets.length === 0 && headline.stage === null && headline.shell.length === 0) return null;
  return (
    <p class="target" data-targets>
      {headline.targets.map((target, at) => (
        <TargetChip key={at} target={target} verb={headline.verb} />
      ))}
      {headline.stage === null ? null : <span class={headline.stage === "production" ? "env env-production" : "env"}>{word("stage", headline.stage)}</span>}
      {headline.shell.map((kind) => (
        <Pill key={kind} tone={ALARMING.has(kind) ? "hold" : "plain"}>
          {word("shell", kind)}
        </Pill>
      ))}
    </p>
  );
}

const ALARMING = new Set(["delete", "push", "secret", "uninspectable", "unknown", "install"]);

function TargetChip({ target, verb }: { target: HeadlineTarget; verb: string }) {
  const words = language() === "zh" ? zh : en;
  const before = (target.role === "table" ? words.tableWords[verb] : undefined) ?? words.roles[target.role] ?? "";
  return (
    <span class="target-one" data-role={target.role}>
      {before === "" ? null : <span>{before}</span>}
      {target.name ? <Chip text={target.name} after="=" value={target.text} /> : <Chip text={target.text} />}
    </span>
  );
}

/** How we know, where that is not plain. */
export function EffectLine({ hold }: { hold: Hold }) {
  const { effect, verb } = headlineOf(hold);
  if (hold.state !== "pending" || hold.kind === "choose" || hold.kind === "fill") return null;
  if (effect === "parsed" || verb === "carry_out" || verb === "go_on") return null;
  const key = effect === "elsewhere" ? (hold.session ? "effect.elsewhere.server" : "effect.elsewhere.program") : (`effect.${effect}` as const);
  return <p class="effect-line">{t(key)}</p>;
}

/** What a row of a list says is asked: verb and amount in our words, then where. */
export function RowHeadline({ hold }: { hold: Hold }) {
  const headline = headlineOf(hold);
  const first = headline.targets[0];
  // A row has little room, and what tells one unknown call from the next is its title.
  const verb = headline.verb === "call_tool" && !isKnown(hold) && !headline.in_question ? t("headline.unknown") : verbText(headline);
  return (
    <>
      <span class="row-verb">{verb}</span> {isKnown(hold) && first ? <Chip text={first.text} /> : <Chip text={titleOf(hold)} />}
    </>
  );
}

/** The same in plain text, for screen readers and titles: words of ours only. */
export const headlineText = verbOf;
