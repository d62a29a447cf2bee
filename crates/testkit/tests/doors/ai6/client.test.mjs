import * as ai from "ai";
import * as react from "@ai-sdk/react";
import { suite } from "../ai_sdk.mjs";

suite(ai, react, 6);
