// Version 7 of the AI SDK itself, with its own mock of a model; version 6 is beside this.

import { suite } from "./ai-sdk-suite.mjs";

await suite("ai", "AI SDK 7");
