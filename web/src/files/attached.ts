// The files that will go with the next message: each on its way, there, or refused.

import { useEffect, useRef, useState } from "preact/hooks";
import * as api from "../api";
import type { UploadedFile } from "../wire";
import { FILE_BYTES_MOST, uploadFile } from "./upload";

export const FILES_MOST = 20;

export interface Attachment {
  key: string;
  name: string;
  bytes: number;
  state: { is: "sending"; share: number } | { is: "there"; file: UploadedFile } | { is: "refused"; why: "too_large" | api.Refused };
}

export interface Attached {
  all: Attachment[];
  /** Of those that are there, in the order in which they were chosen. */
  ids: string[];
  /** Some are still on their way, or were refused: the message waits for them. */
  waits: boolean;
  full: boolean;
  add(files: Iterable<File>): void;
  again(key: string): void;
  remove(key: string): void;
  /** They went with a message. */
  clear(): void;
}

export function useAttached(): Attached {
  const [all, setAll] = useState<Attachment[]>([]);
  const sources = useRef(new Map<string, { file: File; stop: AbortController }>());
  useEffect(() => () => sources.current.forEach(({ stop }) => stop.abort()), []);

  const change = (key: string, state: Attachment["state"]) => setAll((now) => now.map((one) => (one.key === key ? { ...one, state } : one)));
  const send = (key: string, file: File) => {
    const stop = new AbortController();
    sources.current.set(key, { file, stop });
    uploadFile(file, key, (share) => change(key, { is: "sending", share }), stop.signal).then(
      (file) => (sources.current.has(key) ? change(key, { is: "there", file }) : void api.removeFile(file.id).catch(() => {})),
      (problem: unknown) => {
        if (problem instanceof api.Refused) change(key, { is: "refused", why: problem });
      },
    );
  };
  const add = (files: Iterable<File>) => {
    const room = FILES_MOST - sources.current.size;
    const chosen = [...files].slice(0, Math.max(room, 0)).map((file) => ({ file, key: api.newKey() }));
    setAll((now) => [
      ...now,
      ...chosen.map(({ file, key }): Attachment => ({
        key,
        name: file.name,
        bytes: file.size,
        state: file.size > FILE_BYTES_MOST ? { is: "refused", why: "too_large" } : { is: "sending", share: 0 },
      })),
    ]);
    for (const { file, key } of chosen) {
      if (file.size > FILE_BYTES_MOST) sources.current.set(key, { file, stop: new AbortController() });
      else send(key, file);
    }
  };
  const again = (key: string) => {
    const source = sources.current.get(key);
    if (source === undefined) return;
    change(key, { is: "sending", share: 0 });
    send(key, source.file);
  };
  const remove = (key: string) => {
    const gone = all.find((one) => one.key === key);
    sources.current.get(key)?.stop.abort();
    sources.current.delete(key);
    setAll((now) => now.filter((one) => one.key !== key));
    // Without this the server forgets it in a day.
    if (gone?.state.is === "there") api.removeFile(gone.state.file.id).catch(() => {});
  };
  const clear = () => {
    sources.current.clear();
    setAll([]);
  };
  const ids = all.flatMap((one) => (one.state.is === "there" ? [one.state.file.id] : []));
  return { all, ids, waits: ids.length < all.length, full: all.length >= FILES_MOST, add, again, remove, clear };
}
