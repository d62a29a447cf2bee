// What a reader does not want to see for a while. It is theirs alone: the hold waits for others as before, and what is about to
// expire is shown all the same.

import { useEffect, useState } from "preact/hooks";
import * as api from "./api";
import { live } from "./live";

class Snoozes {
  private until = new Map<string, number>();
  private readonly watchers = new Set<() => void>();
  revision = 0;

  async read(): Promise<void> {
    try {
      const list = await api.snoozes();
      this.set(new Map(list.items.map((one) => [one.hold, Date.parse(one.until)])));
    } catch {
      // Without them everything is shown, which hides nothing from anyone.
    }
  }

  /** Until when, as far as that is still to come. */
  of(id: string, now: number): number | null {
    const until = this.until.get(id);
    return until !== undefined && until > now ? until : null;
  }

  /** When the next one ends; infinite if none does. */
  nextEnd(now: number): number {
    return Math.min(...[...this.until.values()].filter((until) => until > now), Number.POSITIVE_INFINITY);
  }

  async snooze(id: string, until: Date): Promise<void> {
    const made = await api.snooze(id, until.toISOString());
    this.set(new Map([...this.until, [id, Date.parse(made.until)]]));
  }

  async end(id: string): Promise<void> {
    await api.unsnooze(id);
    this.set(new Map([...this.until].filter(([other]) => other !== id)));
  }

  watch(watcher: () => void): () => void {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }

  private set(until: Map<string, number>): void {
    this.until = until;
    this.revision += 1;
    for (const watcher of this.watchers) watcher();
  }
}

export const snoozes = new Snoozes();

export const SNOOZE_MS = 3_600_000;
const MORNING = 9;

/** Nine o'clock of the next day, in the reader's time. */
export function tomorrow(now = new Date()): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1, MORNING);
}

/** Draws again when one is set or ended. */
export function useSnoozes(): Snoozes {
  const [, draw] = useState(snoozes.revision);
  useEffect(() => {
    const stop = snoozes.watch(() => draw(snoozes.revision));
    const unopened = live.watchOpened(() => void snoozes.read());
    void snoozes.read();
    return () => {
      stop();
      unopened();
    };
  }, []);
  return snoozes;
}
