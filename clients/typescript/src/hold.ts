// The words of the API, by their names in our OpenAPI document.

import type { components } from "./wire.js";

type Schemas = components["schemas"];

export type Hold = Schemas["Hold"];
export type NewHold = Schemas["NewHoldBody"];
export type Audience = Schemas["AskedAudience"];
export type Risk = Hold["risk"];
export type JsonObject = { [name: string]: unknown };
