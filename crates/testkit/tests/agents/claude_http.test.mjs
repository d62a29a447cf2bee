import { claudeHttp } from "./agents.mjs";
import { testClaude, testGate } from "./gate.mjs";

testGate(claudeHttp);
testClaude(claudeHttp);
