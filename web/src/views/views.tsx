// Views of the inbox that the reader keeps under names of their own, beside the filters. Each is an address; `g 1` to `g 9` go there.

import { useEffect, useState } from "preact/hooks";
import { forgetView, Refused, saveView, views } from "../api";
import { Button, Field, Sheet } from "../components";
import { Refusal } from "../holds/refusal";
import { t } from "../i18n";
import { Icon } from "../icons";
import { useKey } from "../keys";
import { go } from "../route";
import { useMe } from "../who";
import type { SavedView } from "../wire";

// Read once, and kept while the page stands: the list is drawn anew with every filter.
let kept: { of: string; items: SavedView[] } | null = null;

export function Views({ query }: { query: string }) {
  const me = useMe();
  const mine = kept?.of === me.id ? kept.items : null;
  const [all, setAll] = useState(mine ?? []);
  const [sheet, setSheet] = useState(false);
  const read = () =>
    views().then(
      ({ items }) => {
        kept = { of: me.id, items };
        setAll(items);
      },
      () => {},
    );
  useEffect(() => {
    if (mine === null && me.kind === "person") void read();
  }, []);
  useKey("v", () => setSheet(true));
  const known = all.some((view) => view.query === query);
  return (
    <>
      {all.map((view, at) => (
        <ViewLink key={view.name} view={view} nth={at + 1} on={view.query === query} />
      ))}
      {all.length > 0 || query !== "" ? (
        <button type="button" class="filter" data-views aria-keyshortcuts="v" onClick={() => setSheet(true)}>
          {query !== "" && !known ? <Icon name="plus" /> : null}
          {t(query !== "" && !known ? "views.keep" : "views.title")}
        </button>
      ) : null}
      {sheet ? <ViewsSheet all={all} query={known ? "" : query} changed={read} close={() => setSheet(false)} /> : null}
    </>
  );
}

function ViewLink({ view, nth, on }: { view: SavedView; nth: number; on: boolean }) {
  useKey(`g ${nth}`, nth < 10 ? () => go(`/${view.query}`) : null);
  return (
    <a class={on ? "filter on" : "filter"} href={on ? "/" : `/${view.query}`} aria-current={on ? "true" : undefined} data-view={view.name}>
      {view.name}
    </a>
  );
}

function ViewsSheet({ all, query, changed, close }: { all: SavedView[]; query: string; changed: () => Promise<unknown>; close: () => void }) {
  const [trouble, setTrouble] = useState<Refused | null>(null);
  const act = (done: Promise<unknown>) => {
    setTrouble(null);
    return done.then(changed).then(
      () => true,
      (problem: unknown) => {
        if (problem instanceof Refused) setTrouble(problem);
        return false;
      },
    );
  };
  return (
    <Sheet name="views" title={t("views.title")} close={close}>
      <div class="more-list">
        {query === "" ? null : <Named label={t("views.name")} send={t("views.save")} save={(name) => void act(saveView(name, query)).then((done) => done && close())} />}
        {trouble ? <Refusal problem={trouble} /> : null}
        {all.map((view) => (
          <Named key={view.name} label={view.query} name={view.name} send={t("views.rename")} save={(name) => void act(saveView(name, view.query, view.name))} remove={() => void act(forgetView(view.name))} />
        ))}
        <Button kind="quiet" onClick={close}>
          {t("app.close")}
        </Button>
      </div>
    </Sheet>
  );
}

function Named({ label, name = "", send, save, remove }: { label: string; name?: string; send: string; save: (name: string) => void; remove?: () => void }) {
  const [typed, setTyped] = useState(name);
  return (
    <form
      class="comment-box"
      onSubmit={(event) => {
        event.preventDefault();
        save(typed.trim());
      }}
    >
      <Field label={label}>
        <input name="view" maxLength={60} value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
      </Field>
      <div class="actions">
        <button type="submit" disabled={typed.trim() === "" || typed.trim() === name}>
          {send}
        </button>
        {remove ? (
          <Button kind="danger" onClick={remove}>
            {t("push.remove")}
          </Button>
        ) : null}
      </div>
    </form>
  );
}
