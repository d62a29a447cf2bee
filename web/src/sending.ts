// Sending a message so that a lost reply can be asked for again: the same text keeps its keys until it is known to be taken.

import { useRef, useState } from "preact/hooks";
import * as api from "./api";

interface Attempt {
  about: string;
  sessionKey: string;
  messageKey: string;
  session: string | null;
}

export interface Sending {
  busy: boolean;
  refused: api.Refused | null;
  /** Opens a session and says `text` in it; resolves to its id, or to null when refused. */
  begin(agent: string, text: string, files?: string[]): Promise<string | null>;
  /** Says `text` in a session; resolves to the message's id, or to null when refused. */
  goOn(session: string, text: string, whilePending: "queue" | "supersede", files?: string[]): Promise<string | null>;
}

const TITLE_LENGTH = 80;

export function useSending(): Sending {
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<api.Refused | null>(null);
  const attempt = useRef<Attempt | null>(null);

  const attemptFor = (about: string): Attempt => {
    if (attempt.current?.about !== about) {
      attempt.current = { about, sessionKey: api.newKey(), messageKey: api.newKey(), session: null };
    }
    return attempt.current;
  };
  const run = async <T>(work: () => Promise<T>): Promise<T | null> => {
    setBusy(true);
    setRefused(null);
    try {
      const done = await work();
      attempt.current = null;
      return done;
    } catch (problem) {
      if (!(problem instanceof api.Refused)) throw problem;
      if (!problem.undecided && attempt.current) attempt.current = { ...attempt.current, messageKey: api.newKey(), sessionKey: api.newKey() };
      setRefused(problem);
      return null;
    } finally {
      setBusy(false);
    }
  };

  return {
    busy,
    refused,
    begin: (agent, text, files = []) =>
      run(async () => {
        const now = attemptFor(JSON.stringify([agent, text, files]));
        const title = text.trim().split("\n")[0]?.slice(0, TITLE_LENGTH) ?? "";
        // A session that was opened for this text before the message failed is used, and not a second one opened.
        const id = now.session ?? (await api.openSession(agent, title, now.sessionKey)).id;
        now.session = id;
        await api.say(id, text, "queue", now.messageKey, files);
        return id;
      }),
    goOn: (session, text, whilePending, files = []) =>
      run(async () => {
        const now = attemptFor(JSON.stringify([session, text, whilePending, files]));
        return (await api.say(session, text, whilePending, now.messageKey, files)).message;
      }),
  };
}
