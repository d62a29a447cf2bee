// "Where the time went": one lane each for the model, the tools and people.

import { t } from "../i18n";
import { useLive } from "../live";
import { clock, quickSpan, seconds, useNow } from "../time";
import { idOf, type Hold, type Session } from "../wire";
import { stretchesOf, totalOf, type Stretch } from "./timeline";

const LANES: Stretch["who"][] = ["model", "tool", "people"];
const WIDE = 1000;

export function RunTime({ session }: { session: Session }) {
  const live = useLive();
  const open = session.run?.status === "running" || session.run?.status === "paused";
  const now = useNow(open);
  const ids = new Set([...(session.pending ?? []).map(idOf), ...session.messages.flatMap((message) => message.parts.flatMap((part) => (part.type === "tool-call" && part.hold ? [idOf(part.hold)] : [])))]);
  const holds = [...ids].map((id) => live.known(id)).filter((hold): hold is Hold => typeof hold !== "string");
  const stretches = stretchesOf(session.messages, holds, open, now);
  const from = stretches[0]?.from ?? 0;
  const to = stretches.at(-1)?.to ?? 0;
  // A moment is not worth a chart.
  if (to - from < 1000) return null;
  const scale = (at: number) => ((at - from) / (to - from)) * WIDE;
  const words = t("run.time.sum", { all: quickSpan(totalOf(stretches)), people: quickSpan(totalOf(stretches, "people")) });
  return (
    <figure class="run-time" data-testid="run-time">
      <figcaption>
        <b>{t("run.time")}</b> <span class="muted">{words}</span>
      </figcaption>
      <svg viewBox={`0 0 ${WIDE} 44`} preserveAspectRatio="none" role="img" aria-label={words}>
        {stretches.map((one, at) => (
          <rect key={at} class={`run-${one.who}`} x={scale(one.from)} y={LANES.indexOf(one.who) * 15 + 1} width={Math.max(3, scale(one.to) - scale(one.from))} height="12" rx="2" />
        ))}
      </svg>
      <p class="legend">
        {LANES.map((lane) => (
          <span key={lane}>
            <svg viewBox="0 0 12 12" aria-hidden="true">
              <rect class={`run-${lane}`} width="12" height="12" rx="2" />
            </svg>
            {t(`run.time.${lane}`)} {quickSpan(totalOf(stretches, lane))}
          </span>
        ))}
        <span class="muted">
          {clock(new Date(from).toISOString())}–{clock(new Date(to).toISOString())}
        </span>
      </p>
      <details class="record">
        <summary>{t("run.time.steps")}</summary>
        <ol class="run-steps">
          {stretches.map((one, at) => (
            <li key={at} data-step={one.who}>
              <span class="num muted">{seconds(one.from)}</span>
              <span>
                <span class={`dot dot-${one.who}`} aria-hidden="true" />
                {t(`run.time.${one.who}`)}
              </span>
              <span class="num">{quickSpan(one.to - one.from)}</span>
            </li>
          ))}
        </ol>
      </details>
    </figure>
  );
}
