import { gemini } from "./agents.mjs";
import { testCommand, testGate, testTimeout } from "./gate.mjs";

testGate(gemini);
testCommand(gemini);
testTimeout(gemini, '"timeout": 600000', '"timeout": 6000');
