// What the page knows about holds, kept true by the event stream. Every view reads from here, so all of them settle together.
// An event is only a hint that something changed: the hold is then read again, and so a lost, doubled or late event does no harm.

import { useEffect, useState } from "preact/hooks";
import * as api from "./api";
import { follow, type ServerEvent } from "./events";
import { idOf, type Hold, type HoldCounts, type List } from "./wire";

// More changed holds at once than this, and reading the list again is cheaper than reading each.
const READ_SINGLY_MOST = 20;
// Events of one commit arrive together; waiting this long reads their hold once.
const GATHER_MS = 40;
// A hidden page follows nothing (browsers allow few connections per server) and only looks from time to time.
const HIDDEN_LOOK_MS = 30_000;

// Ten thousand holds. Beyond that the server counts them, and the rest is read when the list is scrolled to its end.
const PAGES_MOST = 50;
// The first page is drawn at once, the others in steps: drawing after each would cost more than reading them.
const PAGES_PER_DRAWING = 25;

export type Known = Hold | "loading" | "gone";

class Live {
  private readonly holds = new Map<string, Hold>();
  private readonly gone = new Set<string>();
  private readonly reading = new Map<string, Promise<void>>();
  private readonly again = new Set<string>();
  private readonly dirty = new Set<string>();
  private readonly watchers = new Set<() => void>();
  private readonly sessionWatchers = new Set<(event: ServerEvent) => void>();
  private readonly openWatchers = new Set<() => void>();
  private sorted: readonly Hold[] | undefined;
  private readonly prepared: ((hold: Hold) => void)[] = [];
  private listing: Promise<void> | undefined;
  private listAgain = false;
  private counting: Promise<void> | undefined;
  private countAgain = false;
  private gather: ReturnType<typeof setTimeout> | undefined;
  private stopFollowing: (() => void) | undefined;
  private looking: ReturnType<typeof setInterval> | undefined;

  /** Whether changes are told as they happen. */
  connected = true;
  /** The server cannot be reached at all. Without its events alone one can still read and decide, only later than others. */
  offline = false;
  /** When changes were last told. */
  lostAt = 0;
  /** Rises with every change, so that a view can tell whether it is up to date. */
  revision = 0;
  /** Ids seen pending in this visit, so that one that settles stays in view and says how. */
  readonly seenPending = new Set<string>();
  /** Where the list goes on, when the server has more than was read. */
  next: string | null = null;
  /** The server's own count, while it has more than was read. */
  counts: HoldCounts | null = null;
  listed = false;

  start(): void {
    document.addEventListener("visibilitychange", this.attend);
    // The system knows at once; a stream that was cut off would seem to stand for a minute.
    addEventListener("offline", this.cutOff);
    addEventListener("online", this.reconnect);
    this.attend();
  }

  stop(): void {
    document.removeEventListener("visibilitychange", this.attend);
    removeEventListener("offline", this.cutOff);
    removeEventListener("online", this.reconnect);
    this.stopFollowing?.();
    this.stopFollowing = undefined;
    clearInterval(this.looking);
  }

  private readonly cutOff = (): void => this.lose();

  private readonly reconnect = (): void => {
    this.stopFollowing?.();
    this.stopFollowing = undefined;
    this.attend();
  };

  private readonly attend = (): void => {
    clearInterval(this.looking);
    if (document.hidden) {
      this.stopFollowing?.();
      this.stopFollowing = undefined;
      this.looking = setInterval(() => void this.readList(), HIDDEN_LOOK_MS);
      return;
    }
    if (this.stopFollowing) return;
    this.stopFollowing = follow("/v1/events", {
      // The read comes after the connection stands: what changes between the two is then told by an event.
      opened: () => {
        this.setConnected(true);
        this.lookAgain();
      },
      event: (event) => this.hint(event),
      lost: () => this.lose(),
      refused: (status) => (status === 401 ? api.signedOut() : this.lose()),
    });
  };

  /** Events may have been missed. */
  private lookAgain(): void {
    void this.readList();
    for (const watcher of this.openWatchers) watcher();
  }

  private setConnected(connected: boolean, offline = false): void {
    if (this.connected === connected && this.offline === offline) return;
    if (this.connected && !connected) this.lostAt = Date.now();
    this.connected = connected;
    this.offline = offline;
    this.tell();
  }

  /** The stream broke. Whether the server can still be asked decides what a person may do meanwhile. */
  private lose(): void {
    this.setConnected(false, this.offline);
    api.freeze().then(
      () => this.connected || this.setConnected(false, false),
      (problem: unknown) => this.connected || this.setConnected(false, problem instanceof api.Refused && problem.undecided),
    );
  }

  private hint(event: ServerEvent): void {
    if (event.type === "reset") return this.lookAgain();
    const id = holdOf(event);
    if (id !== null) this.changed(id);
    for (const watcher of this.sessionWatchers) watcher(event);
  }

  changed(id: string): void {
    this.dirty.add(id);
    this.gather ??= setTimeout(() => {
      this.gather = undefined;
      const ids = [...this.dirty];
      this.dirty.clear();
      if (ids.length > READ_SINGLY_MOST) void this.readList();
      else for (const id of ids) void this.read(id);
      if (this.next !== null) void this.readCounts();
    }, GATHER_MS);
  }

  /** Reads one hold. Reads of the same hold never overlap, so an older reply cannot overwrite a newer one. */
  read(id: string): Promise<void> {
    const under_way = this.reading.get(id);
    if (under_way) {
      this.again.add(id);
      return under_way;
    }
    const read = (async () => {
      do {
        this.again.delete(id);
        try {
          this.put(await api.hold(id));
        } catch (problem) {
          if (problem instanceof api.Refused && problem.status === 404) {
            this.gone.add(id);
            this.holds.delete(id);
            this.sorted = undefined;
            this.tell();
          }
        }
      } while (this.again.has(id));
      this.reading.delete(id);
    })();
    this.reading.set(id, read);
    return read;
  }

  /** Reads the whole list. Of several wishes at once, one more reading at the end serves all. */
  readList(): Promise<void> {
    if (this.listing) {
      this.listAgain = true;
      return this.listing;
    }
    this.listing = (async () => {
      do {
        this.listAgain = false;
        await this.readPages();
      } while (this.listAgain);
      this.listing = undefined;
    })();
    return this.listing;
  }

  private async readPages(): Promise<void> {
    try {
      // All pages: a badge that counts only the first one would say that less waits than does.
      const pending = new Set<string>();
      let next: string | null = null;
      let pages = 0;
      do {
        const list: List<Hold> = await (next === null ? api.pendingHolds() : api.pendingHolds(next));
        for (const hold of list.items) {
          pending.add(hold.id);
          this.put(hold, false);
          for (const work of this.prepared) work(hold);
        }
        next = list.next;
        pages += 1;
        if (pages === 1 && next !== null) void this.readCounts();
        if (!this.listed && pages % PAGES_PER_DRAWING === 1) {
          this.next = next;
          this.tell();
        }
      } while (next !== null && pages < PAGES_MOST);
      this.setNext(next);
      this.listed = true;
      // A hold that we think is open but the list lacks was decided meanwhile (or is on a later page), and a call that we
      // think runs may have ended: look at them.
      const behind = [...this.holds.values()].filter((hold) => isUnfinished(hold) && !pending.has(hold.id));
      await Promise.all(behind.map((hold) => this.read(hold.id)));
      // Sorting and drawing thousands are a task each, so that a press in between is heard.
      this.all();
      await new Promise((done) => setTimeout(done, 0));
      this.tell();
    } catch {
      // The banner already says that the server cannot be reached; the next connection reads again.
    }
  }

  async readMore(): Promise<void> {
    if (this.next === null) return;
    const list = await api.pendingHolds(this.next);
    for (const hold of list.items) this.put(hold, false);
    this.setNext(list.next);
    this.tell();
  }

  private setNext(next: string | null): void {
    this.next = next;
    // All were read: counting them here is exact, and true at every event.
    if (next === null) this.counts = null;
  }

  /** How many there are, also of those that were not read. Of several wishes at once, one more reading at the end serves all. */
  private readCounts(): Promise<void> {
    if (this.counting) {
      this.countAgain = true;
      return this.counting;
    }
    this.counting = (async () => {
      do {
        this.countAgain = false;
        try {
          const counts = await api.holdCounts();
          // Meanwhile the rest may have been read.
          if (this.next !== null || !this.listed) this.counts = counts;
          this.tell();
        } catch {
          // What was read is still counted, with a plus behind it.
          this.counts = null;
        }
      } while (this.countAgain);
      this.counting = undefined;
    })();
    return this.counting;
  }

  put(hold: Hold, tell = true): void {
    const known = this.holds.get(hold.id);
    // A decided hold never becomes undecided, and versions only rise: such a reply was overtaken on its way.
    if (known && (known.version > hold.version || (known.state !== "pending" && hold.state === "pending"))) return;
    this.gone.delete(hold.id);
    this.holds.set(hold.id, hold);
    this.sorted = undefined;
    if (hold.state === "pending") this.seenPending.add(hold.id);
    // What is asked and said about an unknown outcome changes the hold whose outcome it is.
    if (hold.kind === "settle" && hold.parent && this.holds.has(hold.parent) && known?.state !== hold.state) this.changed(hold.parent);
    if (tell) this.tell();
  }

  known(id: string): Known {
    return this.holds.get(id) ?? (this.gone.has(id) ? "gone" : "loading");
  }

  /** Newest first. Sorted once per change: with thousands of holds a sort for every reader would be felt. */
  all(): readonly Hold[] {
    this.sorted ??= [...this.holds.values()].sort((a, b) => newer(a.opened_at, b.opened_at) || newer(a.id, b.id));
    return this.sorted;
  }

  /** Told of every hold of a list as its page is read: what a view works out for each is then not to do for thousands at once. */
  prepare(work: (hold: Hold) => void): void {
    this.prepared.push(work);
  }

  watch(watcher: () => void): () => void {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }

  /** Events of every session the caller may see, for the list of sessions. */
  watchEvents(watcher: (event: ServerEvent) => void): () => void {
    this.sessionWatchers.add(watcher);
    return () => this.sessionWatchers.delete(watcher);
  }

  /** For what is not a hold: when events may have been missed, it is to be read again. */
  watchOpened(watcher: () => void): () => void {
    this.openWatchers.add(watcher);
    return () => this.openWatchers.delete(watcher);
  }

  private tell(): void {
    this.revision += 1;
    for (const watcher of this.watchers) watcher();
  }
}

// Instants and ids are plain letters; comparing them by a language's rules would take ten times as long.
const newer = (a: string, b: string): number => (a < b ? 1 : a > b ? -1 : 0);

export const live = new Live();

/** Whether anything more can become of it. A call gated for an outside program may never be reported on, so that is not waited for. */
function isUnfinished(hold: Hold): boolean {
  if (hold.state === "pending") return true;
  return hold.state === "approved" && hold.session !== null && (!hold.outcome || hold.outcome.state === "executing" || hold.outcome.state === "unknown");
}

/** The hold that an event is about, whether it carries the id or the hold itself. */
export function holdOf(event: ServerEvent): string | null {
  const hold = event.data["hold"];
  if (typeof hold === "string") return hold;
  if (hold !== null && typeof hold === "object" && "id" in hold && typeof hold.id === "string") return idOf(hold as { id: string });
  return null;
}

/** Draws again whenever any hold changes. */
export function useLive(): Live {
  const [drawn, draw] = useState(live.revision);
  useEffect(() => {
    const look = () => draw(live.revision);
    // Effects run after the drawing; what changed in between would otherwise wait for the next change.
    if (live.revision !== drawn) look();
    return live.watch(look);
  }, []);
  return live;
}

/** One hold, read if it is not known yet. */
export function useHold(id: string): Known {
  const known = useLive().known(id);
  useEffect(() => {
    if (live.known(id) === "loading") void live.read(id);
  }, [id]);
  return known;
}
