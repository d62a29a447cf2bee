// The sessions so far, newest first.

import { useEffect, useRef, useState } from "preact/hooks";
import * as api from "./api";
import { Chip } from "./foreign";
import { Moment } from "./holds/facts";
import { t, word } from "./i18n";
import { live } from "./live";
import { sessionPath } from "./route";
import type { SessionSummary } from "./wire";

// Runs change state often; the list may lag behind by this much.
const GATHER_MS = 300;

export function Sessions({ current }: { current: string | null }) {
  const [items, setItems] = useState<SessionSummary[] | null>(null);
  const [next, setNext] = useState<string | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);

  const read = async () => {
    try {
      const list = await api.sessions();
      setItems(list.items);
      setNext(list.next);
    } catch {
      // The banner says when the server cannot be reached; the next event reads again.
    }
  };
  const more = async () => {
    if (next === null) return;
    const list = await api.sessions(next);
    setItems([...(items ?? []), ...list.items]);
    setNext(list.next);
  };
  useEffect(() => {
    void read();
    const stop = live.watchEvents((event) => {
      if (!event.type.startsWith("run.") && event.type !== "hold.opened" && event.type !== "hold.decided") return;
      timer.current ??= setTimeout(() => {
        timer.current = undefined;
        void read();
      }, GATHER_MS);
    });
    return () => {
      stop();
      clearTimeout(timer.current);
      timer.current = undefined;
    };
  }, [current]);

  return (
    <nav class="sessions" aria-label={t("sessions.title")}>
      <h2>{t("sessions.title")}</h2>
      <p>
        <a href="/" class="button" aria-current={current === null && location.pathname === "/" ? "page" : undefined}>
          {t("chat.new")}
        </a>
      </p>
      {items === null ? <p class="muted">{t("app.loading")}</p> : null}
      {items?.length === 0 ? <p class="muted">{t("sessions.empty")}</p> : null}
      <ul class="items">
        {(items ?? []).map((session) => (
          <li key={session.id}>
            <a class="item" href={sessionPath(session.id)} aria-current={session.id === current ? "page" : undefined}>
              <span class="item-text">
                <span class="item-title">
                  <Chip text={session.title || session.agent} />
                </span>
                <span class="item-line">
                  {session.run ? <span>{word("run", session.run.status)}</span> : null}
                  {session.pending && session.pending.length > 0 ? <span class="waiting">{t("sessions.waiting", { n: session.pending.length })}</span> : null}
                  {session.created_at ? <Moment at={session.created_at} /> : null}
                </span>
              </span>
            </a>
          </li>
        ))}
      </ul>
      {next === null ? null : (
        <button type="button" class="quiet" onClick={() => void more()}>
          {t("sessions.more")}
        </button>
      )}
    </nav>
  );
}
