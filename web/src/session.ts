// One session, followed live: its messages as the server has them, and text that is still being written.

import { useEffect, useRef, useState } from "preact/hooks";
import * as api from "./api";
import { follow, type ServerEvent } from "./events";
import { holdOf, live } from "./live";
import type { Hold, Message, Session } from "./wire";

const GATHER_MS = 40;

export interface Followed {
  session: Session | "loading" | "gone";
  /** Messages that are not complete yet, as far as they were streamed. */
  drafts: Message[];
}

export function useSession(id: string): Followed {
  const [followed, setFollowed] = useState<Followed>({ session: "loading", drafts: [] });
  const state = useRef(followed);
  const set = (next: Followed) => {
    state.current = next;
    setFollowed(next);
  };

  useEffect(() => {
    set({ session: "loading", drafts: [] });
    let over = false;
    let reading = false;
    let again = false;
    let gather: ReturnType<typeof setTimeout> | undefined;
    let stop: (() => void) | undefined;

    // Reads never overlap, so an older reply cannot overwrite a newer one.
    const read = async () => {
      if (reading) {
        again = true;
        return;
      }
      reading = true;
      do {
        again = false;
        try {
          const session = await api.session(id);
          if (over) return;
          for (const hold of session.pending ?? []) if (isWhole(hold)) live.put(hold);
          const complete = new Set(session.messages.map((message) => message.id));
          set({ session, drafts: state.current.drafts.filter((draft) => !complete.has(draft.id)) });
        } catch (problem) {
          if (over) return;
          if (problem instanceof api.Refused && problem.status === 404) set({ session: "gone", drafts: [] });
        }
      } while (again);
      reading = false;
    };
    const soon = () => {
      gather ??= setTimeout(() => {
        gather = undefined;
        void read();
      }, GATHER_MS);
    };
    const onEvent = (event: ServerEvent) => {
      if (event.type === "message.delta") return set({ ...state.current, drafts: grown(state.current.drafts, event) });
      if (event.type === "message.discarded") {
        const drafts = state.current.drafts.filter((draft) => draft.id !== event.data["message"]);
        return set({ ...state.current, drafts });
      }
      const hold = holdOf(event);
      if (hold !== null) live.changed(hold);
      soon();
    };
    const attend = () => {
      if (document.hidden) {
        stop?.();
        stop = undefined;
        return;
      }
      stop ??= follow(`/v1/sessions/${encodeURIComponent(id)}/events`, {
        // A follower that joins gets the text so far as one delta, so what we had of it is dropped.
        opened: () => {
          set({ ...state.current, drafts: [] });
          void read();
        },
        event: onEvent,
        lost: () => {},
        refused: () => void read(),
      });
    };
    document.addEventListener("visibilitychange", attend);
    attend();
    return () => {
      over = true;
      clearTimeout(gather);
      stop?.();
      document.removeEventListener("visibilitychange", attend);
    };
  }, [id]);

  return followed;
}

function isWhole(hold: string | { id: string }): hold is Hold {
  return typeof hold === "object" && "version" in hold && "digest" in hold;
}

function grown(drafts: Message[], event: ServerEvent): Message[] {
  const { message, text, kind } = event.data;
  if (typeof message !== "string" || typeof text !== "string") return drafts;
  const type = kind === "reasoning" ? "reasoning" : "text";
  // A follower that fell behind gets the whole text so far: it stands in place of what we had.
  const known = event.data["so_far"] === true ? undefined : drafts.find((one) => one.id === message);
  const draft = known ?? { id: message, role: "assistant" as const, parts: [], at: "" };
  const last = draft.parts.at(-1);
  const parts =
    last && last.type === type ? [...draft.parts.slice(0, -1), { type, text: last.text + text } as const] : [...draft.parts, { type, text } as const];
  return [...drafts.filter((one) => one.id !== message), { ...draft, parts }];
}
