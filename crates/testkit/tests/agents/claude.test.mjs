import { claude } from "./agents.mjs";
import { testClaude, testCommand, testGate } from "./gate.mjs";

testGate(claude);
testCommand(claude);
testClaude(claude);
