// The audit log, entry by entry, newest first, with search and a check of the whole chain: when, who, what, and the hash that covers it and all before it.

import { useEffect, useState } from "preact/hooks";
import * as api from "../api";
import { Button, Field, Pill } from "../components";
import { Chip, Quoted } from "../foreign";
import { Moment } from "../holds/facts";
import { t, word } from "../i18n";
import { holdPath, sessionPath } from "../route";
import { isObject } from "../holds/schema";
import { Refusal } from "../holds/refusal";
import { personName, useMe } from "../who";
import type { AuditEntry, AuditVerified, Json } from "../wire";
import { AdminPanel } from "./read";

export function Audit() {
  const [text, setText] = useState("");
  const [items, setItems] = useState<AuditEntry[] | null>(null);
  const [next, setNext] = useState<string | null>(null);
  const [problem, setProblem] = useState<api.Refused | null>(null);
  const read = (cursor: string | null) => {
    api.audit(text.trim(), cursor).then(
      (list) => {
        setItems((now) => (cursor === null ? list.items : [...(now ?? []), ...list.items]));
        setNext(list.next);
        setProblem(null);
      },
      (error: unknown) => error instanceof api.Refused && setProblem(error),
    );
  };
  useEffect(() => read(null), []);
  return (
    <AdminPanel
      title={t("audit.title")}
      aside={
        <form
          class="audit-from"
          onSubmit={(event) => {
            event.preventDefault();
            read(null);
          }}
        >
          <Field label={t("inbox.search")}>
            <input type="search" name="q" value={text} onInput={(event) => setText(event.currentTarget.value)} />
          </Field>
          <Button submit small>
            {t("audit.show")}
          </Button>
          <Verify />
          <a class="button tiny" href="/v1/audit/export" download>
            {t("audit.export")}
          </a>
        </form>
      }
      reading={{ value: items, problem, again: () => read(null) }}
    >
      {items && items.length === 0 && next === null ? <p class="admin-empty muted">{t("inbox.none_match")}</p> : null}
      <ol class="audit">
        {(items ?? []).map((entry) => (
          <Entry key={entry.seq} entry={entry} />
        ))}
      </ol>
      {next === null ? null : (
        <Button kind="quiet" onClick={() => read(next)}>
          {t("inbox.more")}
        </Button>
      )}
    </AdminPanel>
  );
}

/** Reads the whole log again, and says whether an entry was changed. */
function Verify() {
  const [state, setState] = useState<"idle" | "busy" | AuditVerified>("idle");
  const [refused, setRefused] = useState<api.Refused | null>(null);
  const verify = () => {
    setState("busy");
    setRefused(null);
    api.verifyAudit().then(setState, (problem: unknown) => {
      setState("idle");
      if (problem instanceof api.Refused) setRefused(problem);
    });
  };
  return (
    <>
      <Button small disabled={state === "busy"} onClick={verify}>
        {t(state === "busy" ? "history.loading" : "audit.verify")}
      </Button>
      <span role="status" data-testid="verified">
        {typeof state === "string" ? null : state.ok ? <Pill tone="ok">{t("audit.sound", { n: state.entries })}</Pill> : <Pill tone="no">{t("audit.broken", { n: state.at_entry ?? 0 })}</Pill>}
      </span>
      {refused ? <Refusal problem={refused} /> : null}
    </>
  );
}

function Entry({ entry }: { entry: AuditEntry }) {
  const commit = entry.entry;
  const stream = commit?.stream ?? "";
  const path = stream.startsWith("hold_") ? holdPath(stream) : stream.startsWith("ses_") ? sessionPath(stream) : null;
  return (
    <li data-seq={entry.seq}>
      <details>
        <summary>
          <span class="num muted">{entry.seq}</span> {typeof commit?.at === "number" ? <Moment at={new Date(commit.at).toISOString()} /> : null}{" "}
          <b>{(commit?.events ?? []).map((event) => word("audit.event", eventName(event))).join(", ") || "–"}</b> <Actor actor={commit?.actor} />
        </summary>
        <p class="muted">
          {path ? <a href={path}>{stream}</a> : <Chip text={stream} />} · <code class="digest">{entry.hash}</code>
        </p>
        <Quoted text={JSON.stringify(commit, null, 2)} />
      </details>
    </li>
  );
}

/** `{"hold_opened": …}` is named by its key. */
function eventName(event: Json): string {
  if (typeof event === "string") return event;
  return isObject(event) ? (Object.keys(event)[0] ?? "–") : "–";
}

/** `{"person": "ana"}` is told by name, and by the id that the log has. */
function Actor({ actor }: { actor: Json | undefined }) {
  const me = useMe();
  const [kind = "", who] = typeof actor === "string" ? [actor] : (Object.entries(isObject(actor) ? actor : {})[0] ?? []);
  const told = isObject(who) ? who["name"] : who;
  const id = typeof told === "string" ? told : kind;
  const name = kind === "person" || kind === "runtime" ? personName(id, me) : id;
  return (
    <span class="muted">
      {name} {kind !== "person" || name === id ? null : <code>{id}</code>}
    </span>
  );
}
