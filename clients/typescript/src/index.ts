// A function runs only after a person has approved exactly that call.

export { Client, type ClientOptions, type Waiting } from "./client.js";
export type { StandardSchema } from "./decision.js";
export {
  AlreadyUsed,
  BadSignature,
  Cancelled,
  Denied,
  EditDoesNotFit,
  Expired,
  HoldpointError,
  Refused,
  Responded,
  TimedOut,
  Unreachable,
  Unreadable,
} from "./errors.js";
export { gate, type CallOptions, type GateOptions } from "./gate.js";
export type { Audience, Hold, NewHold, Risk } from "./hold.js";
export { verifyCallback, type CallbackOptions } from "./webhook.js";
export type { components, paths } from "./wire.js";
