// `/sessions` and `/sessions/{id}`: the sessions so far, newest first, and one of them open beside the list.

import { useEffect, useRef, useState } from "preact/hooks";
import * as api from "./api";
import { Chat } from "./chat";
import { useDesk } from "./desk";
import { Chip } from "./foreign";
import { Moment } from "./holds/facts";
import { t, word } from "./i18n";
import { live } from "./live";
import { sessionPath } from "./route";
import { NewSession } from "./start";
import { Icon } from "./icons";
import { Pill } from "./components";
import type { SessionSummary } from "./wire";

// Runs change state often; the list may lag behind by this much.
const GATHER_MS = 300;

export function SessionsView({ current }: { current: string | null }) {
  const desk = useDesk();
  return (
    <div class="inbox sessions-view">
      {desk || current === null ? <Sessions current={current} /> : null}
      {current === null ? (
        desk ? (
          <section class="pane">
            <NewSession />
          </section>
        ) : null
      ) : (
        <section class="pane">
          {desk ? null : (
            <nav class="phonebar" aria-label={t("nav.label")}>
              <a href="/sessions">
                <Icon name="left" />
                {t("nav.sessions")}
              </a>
            </nav>
          )}
          <Chat key={current} id={current} />
        </section>
      )}
    </div>
  );
}

function Sessions({ current }: { current: string | null }) {
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
    <nav class="list sessions" aria-label={t("sessions.title")}>
      <header class="list-head">
        <div class="list-title">
          <h1 tabIndex={-1}>{t("sessions.title")}</h1>
          <a href="/start" class="button">
            <Icon name="plus" />
            {t("chat.new")}
          </a>
        </div>
      </header>
      <div class="list-scroll">
        {items === null ? <p class="loading late">{t("app.loading")}</p> : null}
        {items?.length === 0 ? <p class="empty-list muted">{t("sessions.empty")}</p> : null}
        <ul class="rows">
          {(items ?? []).map((session) => (
            <li key={session.id} class={session.id === current ? "row row-current" : "row"}>
              <span class="row-mark">
                <Icon name={session.pending && session.pending.length > 0 ? "pending" : session.run?.status === "running" ? "executing" : session.run?.status === "failed" ? "failed" : "sessions"} />
              </span>
              <a class="row-link" href={sessionPath(session.id)} aria-current={session.id === current ? "page" : undefined}>
                <span class="row-title">
                  <Chip text={session.title || session.agent} />
                </span>
                <span class="row-meta">
                  <span>{session.agent}</span>
                  {session.run ? <span>· {word("run", session.run.status)}</span> : null}
                </span>
              </a>
              <span class="row-end">
                {session.created_at ? <Moment at={session.created_at} /> : null}
                {session.pending && session.pending.length > 0 ? <Pill tone="hold">{t("sessions.waiting", { n: session.pending.length })}</Pill> : null}
              </span>
            </li>
          ))}
        </ul>
        {next === null ? null : (
          <button type="button" class="quiet" onClick={() => void more()}>
            {t("sessions.more")}
          </button>
        )}
      </div>
    </nav>
  );
}
