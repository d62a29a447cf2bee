// Reading a list once, again after a change, and saying so when it cannot be read.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import * as api from "../api";
import { Refusal } from "../holds/refusal";
import { t } from "../i18n";

export interface Reading<T> {
  value: T | null;
  problem: api.Refused | null;
  again: () => void;
}

export function useReading<T>(load: () => Promise<T>): Reading<T> {
  const [value, setValue] = useState<T | null>(null);
  const [problem, setProblem] = useState<api.Refused | null>(null);
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let over = false;
    load().then(
      (read) => {
        if (over) return;
        setValue(read);
        setProblem(null);
      },
      (error: unknown) => {
        if (!over && error instanceof api.Refused) setProblem(error);
      },
    );
    return () => {
      over = true;
    };
  }, [turn]);
  return { value, problem, again: () => setTurn((now) => now + 1) };
}

interface PanelProps {
  title: string;
  aside?: ComponentChildren;
  reading: Reading<unknown>;
  children: ComponentChildren;
}

export function AdminPanel({ title, aside, reading, children }: PanelProps) {
  return (
    <section class="admin-panel" aria-label={title}>
      <header>
        <h2>{title}</h2>
        {aside}
      </header>
      {reading.problem ? <Refusal problem={reading.problem} /> : null}
      {reading.value === null && !reading.problem ? <p class="loading late">{t("app.loading")}</p> : null}
      {children}
    </section>
  );
}
