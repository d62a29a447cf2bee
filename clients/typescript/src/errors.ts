// What can go wrong. Each of these means that the gated function was not called; what the function itself throws is
// passed on as it is, and is none of these.

import type { Hold } from "./hold.js";

export class HoldpointError extends Error {
  /** The hold as far as it is known. */
  readonly hold: Hold | undefined;

  constructor(message: string, hold?: Hold) {
    super(message);
    this.name = new.target.name;
    this.hold = hold;
  }
}

/** A person or a rule said no. */
export class Denied extends HoldpointError {
  constructor(
    message: string,
    hold: Hold,
    readonly reason: string | undefined,
  ) {
    super(message, hold);
  }
}

/** A person answered in the function's place. */
export class Responded extends HoldpointError {
  constructor(
    message: string,
    hold: Hold,
    readonly content: string,
  ) {
    super(message, hold);
  }
}

/** No one answered in time. */
export class Expired extends HoldpointError {}

/** The hold was withdrawn. */
export class Cancelled extends HoldpointError {
  constructor(
    message: string,
    hold: Hold,
    readonly reason: string | undefined,
  ) {
    super(message, hold);
  }
}

/** Your own `timeoutMs` passed first. With a `key` or `run` the hold stays open and is found again. */
export class TimedOut extends HoldpointError {}

/** The server did not answer for longer than `patienceMs`. */
export class Unreachable extends HoldpointError {}

/** The server answered with something that this client does not understand. */
export class Unreadable extends HoldpointError {}

/**
 * The approval was used before: the call was started by another process, or before a restart. The outcome `executing`
 * means that the call was started and its end never reported: look at what it did before you ask again.
 */
export class AlreadyUsed extends HoldpointError {
  readonly outcome: string;
  readonly result: unknown;

  constructor(message: string, hold: Hold) {
    super(message, hold);
    this.outcome = hold.outcome?.state ?? "executing";
    this.result = hold.outcome?.result;
  }
}

/** A person edited the arguments, and the function does not take them so. */
export class EditDoesNotFit extends HoldpointError {}

/** The server refused the request: `status` and `code` are those of its problem document. */
export class Refused extends HoldpointError {
  constructor(
    message: string,
    readonly status: number,
    readonly code: string,
    readonly field?: string,
  ) {
    super(message);
  }
}

/** A callback is not from the server that has the secret, or is too old. */
export class BadSignature extends HoldpointError {}
