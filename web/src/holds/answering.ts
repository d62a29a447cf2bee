// Sending one answer. The digest is that of what was shown, and a repeated attempt keeps its idempotency key until the server
// has said what it made of it, so that a lost reply can be asked for again without answering twice.

import { useRef, useState } from "preact/hooks";
import * as api from "../api";
import { dropDrafts } from "../drafts";
import { live } from "../live";
import type { Hold, JsonObject } from "../wire";

export interface Answering {
  busy: boolean;
  /** An answer of this reader was taken. */
  sent: boolean;
  refused: api.Refused | null;
  /** `digest`: of another version than the one that is shown; only a denial may name it. */
  send(answer: JsonObject, digest?: string): void;
  /** The answer as JSON text, for arguments that must arrive exactly as typed. */
  sendText(answer: string): void;
}

export function useAnswering(shown: Hold): Answering {
  const [busy, setBusy] = useState(false);
  const [sent, setSent] = useState(false);
  const [refused, setRefused] = useState<api.Refused | null>(null);
  const attempt = useRef<{ body: string; key: string } | null>(null);

  const sendText = (answer: string, digest = shown.digest) => {
    if (busy) return;
    const body = digest + answer;
    const key = attempt.current?.body === body ? attempt.current.key : api.newKey();
    attempt.current = { body, key };
    setBusy(true);
    setRefused(null);
    api
      .answerHold(shown.id, digest, answer, key)
      .then((hold) => {
        attempt.current = null;
        setSent(true);
        dropDrafts(hold.id);
        live.put(hold);
      })
      .catch((problem: unknown) => {
        if (!(problem instanceof api.Refused)) throw problem;
        if (!problem.undecided) attempt.current = null;
        setRefused(problem);
        // Whatever it was, the truth is on the server.
        void live.read(shown.id);
      })
      .finally(() => setBusy(false));
  };
  return { busy, sent, refused, send: (answer, digest) => sendText(JSON.stringify(answer), digest), sendText: (answer) => sendText(answer) };
}
