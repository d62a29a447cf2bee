// How holds fared: how many were asked, how long they waited, who decided, and how many were approved too quickly to be read.

import { useState } from "preact/hooks";
import * as api from "../api";
import { Segments } from "../components";
import { Chip } from "../foreign";
import { t } from "../i18n";
import { dayOf, quickSpan } from "../time";
import type { DayFigures, Figures as FiguresReply } from "../wire";
import { AdminPanel, useReading } from "./read";

export function Figures() {
  const [days, setDays] = useState<"7" | "30">("7");
  return (
    <>
      <Segments
        name="days"
        label={t("figures.days")}
        value={days}
        options={[
          { id: "7", label: t("figures.days.7") },
          { id: "30", label: t("figures.days.30") },
        ]}
        choose={setDays}
      />
      <Shown key={days} days={Number(days)} />
    </>
  );
}

function Shown({ days }: { days: number }) {
  const reading = useReading(() => api.figures(days));
  const figures = reading.value;
  return (
    <>
      <AdminPanel title={t("admin.figures")} aside={figures && !figures.complete ? <span class="muted">{t("figures.incomplete")}</span> : undefined} reading={reading}>
        {figures ? <Numbers figures={figures} /> : null}
        {figures ? <Days days={figures.by_day} /> : null}
      </AdminPanel>
      {figures ? <People figures={figures} /> : null}
      {figures ? <Tools figures={figures} /> : null}
    </>
  );
}

function Numbers({ figures }: { figures: FiguresReply }) {
  const { total, waiting_ms } = figures;
  const shown: [string, string][] = [
    [t("figures.asked"), String(total.asked)],
    [t("state.approved"), String(total.approved)],
    [t("state.denied"), String(total.denied)],
    [t("state.expired"), String(total.expired)],
    [t("figures.first"), figures.first_answer_ms ? quickSpan(figures.first_answer_ms.p50) : "–"],
    [t("figures.waited"), waiting_ms ? quickSpan(waiting_ms.p50) : "–"],
    [t("figures.waited.95"), waiting_ms ? quickSpan(waiting_ms.p95) : "–"],
    [t("figures.quick"), String(figures.approved_within_1s)],
  ];
  return (
    <dl class="figures" data-testid="figures">
      {shown.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd class="num">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

const HIGH = 60;
const KINDS = ["ok", "no", "rest"] as const;

/** A bar for each day: approved or answered below, then denied, then what nobody decided. */
function Days({ days }: { days: DayFigures[] }) {
  const most = Math.max(1, ...days.map((day) => day.asked));
  const wide = 100 / Math.max(1, days.length);
  const words = days.map((day) => `${dayOf(day.day)}: ${day.asked}`).join(", ");
  return (
    <figure class="figures-days">
      <svg viewBox={`0 0 100 ${HIGH}`} preserveAspectRatio="none" role="img" aria-label={words}>
        {days.map((day, at) => {
          let top = HIGH;
          const counts = { ok: day.approved + day.answered, no: day.denied, rest: day.expired + day.cancelled + day.open };
          return KINDS.map((kind) => {
            const height = (counts[kind] / most) * (HIGH - 4);
            top -= height;
            return <rect key={`${day.day} ${kind}`} class={`bar-${kind}`} x={at * wide + wide * 0.2} y={top} width={wide * 0.6} height={height} />;
          });
        })}
      </svg>
      {days.length <= 10 ? (
        <div class="figures-axis" aria-hidden="true">
          {days.map((day) => (
            <span key={day.day}>{dayOf(day.day)}</span>
          ))}
        </div>
      ) : null}
      <figcaption class="muted">
        <span class="legend">
          {KINDS.map((kind) => (
            <span key={kind}>
              <svg viewBox="0 0 12 12" aria-hidden="true">
                <rect class={`bar-${kind}`} width="12" height="12" rx="2" />
              </svg>
              {t(`figures.bar.${kind}`)}
            </span>
          ))}
        </span>
        <span>{t("figures.utc", { from: dayOf(days[0]?.day), to: dayOf(days.at(-1)?.day), most })}</span>
      </figcaption>
    </figure>
  );
}

function People({ figures }: { figures: FiguresReply }) {
  if (figures.people.length === 0) return null;
  return (
    <section class="admin-panel" aria-label={t("figures.people")}>
      <header>
        <h2>{t("figures.people")}</h2>
      </header>
      <table class="table numbers stacks">
        <thead>
          <tr>
            <th scope="col">{t("figures.person")}</th>
            <th scope="col">{t("figures.decided")}</th>
            <th scope="col">{t("state.denied")}</th>
            <th scope="col">{t("figures.quick")}</th>
            <th scope="col">{t("figures.waited")}</th>
          </tr>
        </thead>
        <tbody>
          {figures.people.map((one) => (
            <tr key={one.person} data-person={one.person}>
              <td>{one.name}</td>
              <td data-label={t("figures.decided")}>{one.decided}</td>
              <td data-label={t("state.denied")}>{one.denied}</td>
              <td data-label={t("figures.quick")}>{one.approved_within_1s}</td>
              <td data-label={t("figures.waited")}>{one.waiting_ms ? quickSpan(one.waiting_ms.p50) : "–"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Tools({ figures }: { figures: FiguresReply }) {
  if (figures.tools.length === 0) return null;
  return (
    <section class="admin-panel" aria-label={t("figures.tools")}>
      <header>
        <h2>{t("figures.tools")}</h2>
      </header>
      <table class="table numbers stacks">
        <thead>
          <tr>
            <th scope="col">{t("view.label.tool")}</th>
            <th scope="col">{t("figures.asked")}</th>
            <th scope="col">{t("state.denied")}</th>
            <th scope="col">{t("state.expired")}</th>
          </tr>
        </thead>
        <tbody>
          {figures.tools.map((one) => (
            <tr key={one.tool}>
              <td>
                <Chip text={one.tool} />
              </td>
              <td data-label={t("figures.asked")}>{one.asked}</td>
              <td data-label={t("state.denied")}>{one.denied}</td>
              <td data-label={t("state.expired")}>{one.expired}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
