// The second step before a critical call: typing a word that is on the card, so that no slip of a finger approves one.

import { Chip } from "../foreign";
import { t } from "../i18n";
import type { Hold } from "../wire";
import { wordToType } from "./headline";

export function needsWord(hold: Hold): boolean {
  // A risk that this page does not know is taken as a critical one.
  return hold.risk !== "low" && hold.risk !== "medium" && hold.risk !== "high";
}

export function wordMatches(hold: Hold, typed: string): boolean {
  return !needsWord(hold) || typed.trim().toLowerCase() === wordToType(hold).toLowerCase();
}

interface Props {
  hold: Hold;
  typed: string;
  setTyped: (typed: string) => void;
  off: boolean;
}

export function Confirm({ hold, typed, setTyped, off }: Props) {
  if (!needsWord(hold)) return null;
  const word = wordToType(hold);
  const [before = "", after = ""] = t("approve.word", { word: "\u0000" }).split("\u0000");
  const wrong = typed.trim().length >= word.length && !wordMatches(hold, typed);
  return (
    <label class="confirm">
      <span>
        {before}
        <Chip text={word} />
        {after}
      </span>
      <input name="word" class="code" autocomplete="off" autocapitalize="off" spellcheck={false} value={typed} disabled={off} aria-invalid={wrong} onInput={(event) => setTyped(event.currentTarget.value)} />
      {wrong ? (
        <span class="field-error" role="alert">
          {t("approve.word.wrong", { word })}
        </span>
      ) : null}
    </label>
  );
}
