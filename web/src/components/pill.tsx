// One or two words about how something stands. The word says it; the colour repeats it.

import type { ComponentChildren } from "preact";

export type Tone = "plain" | "ok" | "no" | "hold" | "unknown" | "brand";

export function Pill({ tone = "plain", children }: { tone?: Tone; children: ComponentChildren }) {
  return <span class={tone === "plain" ? "pill" : `pill pill-${tone}`}>{children}</span>;
}
