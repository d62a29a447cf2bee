import { codex } from "./agents.mjs";
import { testCommand, testGate, testTimeout } from "./gate.mjs";

testGate(codex);
testCommand(codex);
testTimeout(codex, "timeout = 600", "timeout = 6");
