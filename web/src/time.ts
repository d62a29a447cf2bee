// Times as people say them: a clock time for today, a date before that, and a countdown that runs.

import { useEffect, useState } from "preact/hooks";
import { language } from "./i18n";

function locale(): string {
  return language() === "zh" ? "zh-CN" : "en-GB";
}

/** "14:02" today, "3 Nov, 14:02" on another day of this year, with the year otherwise. */
export function clock(iso: string | undefined, now = new Date()): string {
  const at = new Date(iso ?? "");
  if (Number.isNaN(at.getTime())) return "–";
  const time = at.toLocaleTimeString(locale(), { hour: "2-digit", minute: "2-digit", hour12: false });
  if (at.toDateString() === now.toDateString()) return time;
  const day: Intl.DateTimeFormatOptions = { day: "numeric", month: "short" };
  if (at.getFullYear() !== now.getFullYear()) day.year = "numeric";
  return `${at.toLocaleDateString(locale(), day)}, ${time}`;
}

/** "Today", "Yesterday", "12 November". */
export function dayName(iso: string, now = new Date()): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return "–";
  const midnight = (one: Date) => new Date(one.getFullYear(), one.getMonth(), one.getDate()).getTime();
  const ago = Math.round((midnight(now) - midnight(at)) / 86_400_000);
  if (ago <= 1) {
    const name = new Intl.RelativeTimeFormat(locale(), { numeric: "auto" }).format(-ago, "day");
    return name.charAt(0).toUpperCase() + name.slice(1);
  }
  return at.toLocaleDateString(locale(), { day: "numeric", month: "long", ...(at.getFullYear() === now.getFullYear() ? {} : { year: "numeric" }) });
}

/** "14:02:07": a minute is too coarse to tell the steps of a run apart. */
export function seconds(ms: number): string {
  return new Date(ms).toLocaleTimeString(locale(), { hour12: false });
}

/** "18 Nov" for a day in UTC, as the server counts them. */
export function dayOf(day: string | undefined): string {
  const at = new Date(`${day ?? ""}T00:00:00Z`);
  return Number.isNaN(at.getTime()) ? "–" : at.toLocaleDateString(locale(), { day: "numeric", month: "short", timeZone: "UTC" });
}

/** The whole instant, for a tooltip and for people who compare logs. */
export function full(iso: string): string {
  const at = new Date(iso);
  return Number.isNaN(at.getTime()) ? iso : at.toLocaleString(locale(), { dateStyle: "medium", timeStyle: "long" });
}

/** "2 d 3 h", "14 min", "42 s": the two largest units, and seconds only in the last minutes. */
export function span(ms: number): string {
  const zh = language() === "zh";
  const [d, h, m, s] = zh ? ["天", "小时", "分", "秒"] : [" d", " h", " min", " s"];
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (hours >= 24) return `${Math.floor(hours / 24)}${d} ${hours % 24}${h}`;
  if (hours >= 1) return `${hours}${h} ${minutes % 60}${m}`;
  if (minutes >= 5) return `${minutes}${m}`;
  if (minutes >= 1) return `${minutes}${m} ${seconds % 60}${s}`;
  return `${seconds}${s}`;
}

/** The same, exact for what is quicker than a second. */
export function quickSpan(ms: number): string {
  return ms > 0 && ms < 1000 ? `${Math.round(ms)} ${language() === "zh" ? "毫秒" : "ms"}` : span(ms);
}

// One clock for everything that counts down: hundreds of rows with a timer each would wake the page hundreds of times a second.
const tickers = new Set<() => void>();
let ticking: ReturnType<typeof setInterval> | undefined;

function everySecond(tick: () => void): () => void {
  tickers.add(tick);
  ticking ??= setInterval(() => {
    for (const one of tickers) one();
  }, 1000);
  return () => {
    tickers.delete(tick);
    if (tickers.size > 0) return;
    clearInterval(ticking);
    ticking = undefined;
  };
}

/** The present, renewed while the component is shown: every second, or as rarely as `every` says. */
export function useNow(running: boolean, every = 1000): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!running) return;
    setNow(Date.now());
    return everySecond(() => setNow((last) => (Date.now() - last >= every - 500 ? Date.now() : last)));
  }, [running, every]);
  return now;
}
