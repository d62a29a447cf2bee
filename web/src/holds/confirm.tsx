// The second step before a high or critical call: typing the hold's tag, so that no slip of a finger approves one.

import { t, word } from "../i18n";
import type { Hold } from "../wire";

export function needsTag(hold: Hold): boolean {
  // A risk that this page does not know is taken as a high one.
  return hold.risk !== "low" && hold.risk !== "medium";
}

export function tagMatches(hold: Hold, typed: string): boolean {
  return !needsTag(hold) || typed.trim().toUpperCase() === hold.tag.toUpperCase();
}

interface Props {
  hold: Hold;
  tag: string;
  setTag: (tag: string) => void;
  wrong: boolean;
}

export function Confirm({ hold, tag, setTag, wrong }: Props) {
  if (!needsTag(hold)) return null;
  const showWrong = wrong && !tagMatches(hold, tag);
  return (
    <div class={`confirm risk-${hold.risk}`}>
      <strong>{t("confirm.title", { risk: word("hold.risk", hold.risk) })}</strong>
      <label class="field">
        <span>{t("confirm.label", { tag: hold.tag })}</span>
        <input
          class="code tag-input"
          name="tag"
          autocomplete="off"
          autocapitalize="characters"
          spellcheck={false}
          value={tag}
          aria-invalid={showWrong}
          onInput={(event) => setTag(event.currentTarget.value)}
        />
      </label>
      {showWrong ? (
        <p class="field-error" role="alert">
          {t("confirm.mismatch", { tag: hold.tag })}
        </p>
      ) : null}
    </div>
  );
}
