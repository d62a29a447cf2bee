// Above the list: search, filters and order. Each of them only changes the address.

import { useEffect, useRef, useState } from "preact/hooks";
import { Kbd } from "../components";
import { Icon } from "../icons";
import { t } from "../i18n";
import { useKey } from "../keys";
import { restate } from "../route";
import { Views } from "../views/views";
import { queryOf, SORTS, type Filter, type Sort } from "./filter";

interface Props {
  tab: "inbox" | "history";
  filter: Filter;
  /** Who asks for something now, to choose from. */
  askers: string[];
  waiting: string;
}

// Typing quickly must not draw thousands of rows at every letter.
const PAUSE_MS = 120;

export function ListHead({ tab, filter, askers, waiting }: Props) {
  const change = (part: Partial<Filter>) => restate(location.pathname + queryOf({ ...filter, ...part }));
  return (
    <header class="list-head">
      <div class="list-title">
        <h1 tabIndex={-1}>{t(tab === "inbox" ? "inbox.heading" : "nav.history")}</h1>
        {tab === "inbox" ? (
          <label class="sort">
            <span class="sr">{t("inbox.sort")}</span>
            <select name="sort" value={filter.sort} onChange={(event) => change({ sort: event.currentTarget.value as Sort })}>
              {SORTS.map((sort) => (
                <option key={sort} value={sort}>
                  {t(`inbox.sort.${sort}`)}
                </option>
              ))}
            </select>
          </label>
        ) : null}
      </div>
      <Search text={filter.text} change={(text) => change({ text })} />
      {tab === "inbox" ? (
        <div class="filters" role="group" aria-label={t("inbox.filters")}>
          <Toggle on={filter.mine} set={(mine) => change({ mine })} label={t("inbox.filter.mine")} />
          <Toggle on={filter.grave} set={(grave) => change({ grave })} label={t("inbox.filter.grave")} />
          <Toggle on={filter.kind === "approve"} set={(on) => change({ kind: on ? "approve" : null })} label={t("inbox.filter.calls")} />
          {askers.length > 1 || filter.asker !== null ? (
            <select
              class={filter.asker === null ? "filter" : "filter on"}
              name="asker"
              aria-label={t("inbox.filter.asker")}
              value={filter.asker ?? ""}
              onChange={(event) => change({ asker: event.currentTarget.value || null })}
            >
              <option value="">{t("inbox.filter.asker")}</option>
              {[...new Set([...askers, ...(filter.asker === null ? [] : [filter.asker])])].map((asker) => (
                <option key={asker} value={asker}>
                  {asker}
                </option>
              ))}
            </select>
          ) : null}
          <Views query={queryOf(filter)} />
        </div>
      ) : null}
      <nav class="tabs" aria-label={t("inbox.tabs")}>
        <a href={`/${tab === "inbox" ? queryOf(filter) : ""}`} aria-current={tab === "inbox" ? "page" : undefined}>
          {t("state.pending")} <span class="count">{waiting}</span>
        </a>
        <a href="/history" aria-current={tab === "history" ? "page" : undefined}>
          {t("nav.history")}
        </a>
      </nav>
    </header>
  );
}

function Toggle({ on, set, label }: { on: boolean; set: (on: boolean) => void; label: string }) {
  return (
    <button type="button" class="filter" aria-pressed={on} onClick={() => set(!on)}>
      {label}
    </button>
  );
}

function Search({ text, change }: { text: string; change: (text: string) => void }) {
  const [typed, setTyped] = useState(text);
  const input = useRef<HTMLInputElement>(null);
  const waiting = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  // The address may change by other means: a link, or a step back.
  useEffect(() => setTyped(text), [text]);
  useEffect(() => () => clearTimeout(waiting.current), []);
  useKey("/", () => input.current?.focus());
  return (
    <label class="search">
      <Icon name="search" />
      <span class="sr">{t("inbox.search")}</span>
      <input
        ref={input}
        type="search"
        name="q"
        autocomplete="off"
        placeholder={t("inbox.search.placeholder")}
        value={typed}
        onInput={(event) => {
          const now = event.currentTarget.value;
          setTyped(now);
          clearTimeout(waiting.current);
          waiting.current = setTimeout(() => change(now.trim()), PAUSE_MS);
        }}
      />
      <Kbd>/</Kbd>
    </label>
  );
}
