// What people say to one another about a hold, and a box to say something. Every comment is foreign text: it stands on sand, behind
// the gutter, and nothing in it can be taken for a word of ours or for an answer.

import { useEffect, useRef, useState } from "preact/hooks";
import * as api from "../api";
import { Button, Who } from "../components";
import { useCommentDraft } from "../drafts";
import { Quoted } from "../foreign";
import { Moment } from "../holds/facts";
import { Refusal } from "../holds/refusal";
import { t } from "../i18n";
import { useKey } from "../keys";
import { live } from "../live";
import { Plain } from "../plain";
import { personName, useMe } from "../who";
import type { Comment, Hold } from "../wire";

// The server takes no more.
const BYTES_MOST = 2000;

export function Comments({ hold, keys = false }: { hold: Hold; keys?: boolean }) {
  const me = useMe();
  const kept = useRef<Comment[]>([]);
  // Lists come without comments; they are only ever added to, so what was read stays true.
  if (hold.comments) kept.current = hold.comments;
  const count = hold.comment_count ?? 0;
  useEffect(() => {
    if (kept.current.length < count) void live.read(hold.id);
  }, [hold]);
  return (
    <section class="comments" aria-label={t("comments.title")} data-comments={count}>
      {/* A heading over nothing says nothing. */}
      <h2 class={count === 0 ? "sr" : undefined}>{t("comments.title")}</h2>
      <ol class="plain-list" aria-live="polite">
        {kept.current.map((comment, at) => (
          <li key={at} class="comment">
            <p class="comment-by">
              <Who name={personName(comment.by, me)} />
              <b>
                <Plain text={personName(comment.by, me)} />
              </b>
              {/* How one addresses them. */}
              {personName(comment.by, me) === comment.by ? null : <span class="muted">@{comment.by}</span>}
              <Moment at={comment.at} />
              {comment.mentions.includes(me.id) ? <span class="pill">{t("comments.you")}</span> : null}
            </p>
            <Quoted text={comment.text} prose />
          </li>
        ))}
      </ol>
      {me.kind === "person" ? <Box hold={hold} keys={keys} /> : null}
    </section>
  );
}

/** Folded until somebody wants to say something: most holds are decided without a word. */
function Box({ hold, keys }: { hold: Hold; keys: boolean }) {
  // What is being written stays when the hold is decided meanwhile, and the box moves to another place of the card.
  const [text, setText] = useCommentDraft(hold.id);
  const [open, setOpen] = useState(text !== "");
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<api.Refused | null>(null);
  const attempt = useRef<{ text: string; key: string } | null>(null);
  const form = useRef<HTMLFormElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const write = () => {
    // At once and not with the next drawing: what is typed right after the key belongs into the box, and is no key of the page.
    if (form.current) form.current.hidden = false;
    field.current?.focus();
    setOpen(true);
  };
  useKey("c", keys ? write : null);
  const bytes = new TextEncoder().encode(text.trim()).length;
  const send = () => {
    if (busy || bytes === 0 || bytes > BYTES_MOST) return;
    // The same words after a lost reply are one comment.
    const key = attempt.current?.text === text ? attempt.current.key : api.newKey();
    attempt.current = { text, key };
    setBusy(true);
    setRefused(null);
    api
      .comment(hold.id, text, key)
      .then((now) => {
        attempt.current = null;
        setText("");
        live.put(now);
      })
      .catch((problem: unknown) => {
        if (!(problem instanceof api.Refused)) throw problem;
        if (!problem.undecided) attempt.current = null;
        setRefused(problem);
      })
      .finally(() => setBusy(false));
  };
  return (
    <>
      {open ? null : (
        <Button small class="comment-open" {...(keys ? { hotkey: "c" } : {})} onClick={write}>
          {t("comments.say")}
        </Button>
      )}
      <form
        class="comment-box"
        ref={form}
        hidden={!open}
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <label class="field">
          <span>{t("comments.say")}</span>
          <textarea ref={field} rows={2} value={text} disabled={busy} onInput={(event) => setText(event.currentTarget.value)} />
          <small class="hint">{bytes > BYTES_MOST ? t("comments.long", { n: bytes - BYTES_MOST }) : t("comments.hint")}</small>
        </label>
        {refused ? <Refusal problem={refused} /> : null}
        <button type="submit" disabled={busy || bytes === 0 || bytes > BYTES_MOST}>
          {t("comments.send")}
        </button>
      </form>
    </>
  );
}
