// What the model says of its call: apart from the call, so that the one cannot pass for the other.

import { FoldedLines } from "../folding";
import { Caption } from "../foreign";
import { t } from "../i18n";
import type { Hold } from "../wire";
import { RATIONALE_FOLD, rationaleOf } from "./folds";

export function Rationale({ hold }: { hold: Hold }) {
  if (!hold.rationale) return null;
  return (
    <figure class="fx rationale" aria-label={t("hold.rationale")}>
      <Caption label={t("hold.rationale")} by="">
        {t("hold.rationale.note")}
      </Caption>
      <FoldedLines {...rationaleOf(hold)} fold={RATIONALE_FOLD} prose />
    </figure>
  );
}
