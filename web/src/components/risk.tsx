// Risk is a shape first, then a word, then a colour: circle, diamond, triangle, octagon.

import { word } from "../i18n";
import type { Risk } from "../wire";

const SHAPES: Record<Risk, { body: string; mark: string }> = {
  low: { body: "M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 0 0 0-11z", mark: "M5.5 8.2l1.8 1.8 3.2-3.6" },
  medium: { body: "M8 1.2L14.8 8L8 14.8L1.2 8z", mark: "M8 5v3.6M8 11v.1" },
  high: { body: "M8 1.8L15 14H1z", mark: "M8 6.2v3.6M8 12v.1" },
  critical: { body: "M5 1h6l4 4v6l-4 4H5l-4-4V5z", mark: "M5.5 5.5l5 5M10.5 5.5l-5 5" },
};

/** A risk that this page does not know is drawn as a high one. */
function known(risk: string): Risk {
  return risk in SHAPES ? (risk as Risk) : "high";
}

/** With its word for screen readers, unless the word stands beside it. */
export function RiskShape({ risk, worded = false }: { risk: Risk; worded?: boolean }) {
  const shape = SHAPES[known(risk)];
  const label = worded ? {} : { role: "img" as const, "aria-label": word("hold.risk", risk) };
  return (
    <svg class={`risk-shape r-${known(risk)}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden={worded} focusable="false" {...label}>
      <path class="risk-body" d={shape.body} />
      <path class="risk-mark" d={shape.mark} />
    </svg>
  );
}

export function RiskTag({ risk }: { risk: Risk }) {
  return (
    <span class={`risk-tag r-${known(risk)}`}>
      <RiskShape risk={risk} worded />
      {word("hold.risk", risk)}
    </span>
  );
}
