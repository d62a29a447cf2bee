// Version 6 of the AI SDK itself, with its own mock of a model.

import { suite } from "./ai-sdk-suite.mjs";

await suite("ai6", "AI SDK 6");
