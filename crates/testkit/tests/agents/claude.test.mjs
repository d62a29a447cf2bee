import { claude } from "./agents.mjs";
import { testClaude, testCommand, testGate, testProject } from "./gate.mjs";

testGate(claude);
testCommand(claude);
testClaude(claude);
testProject(claude);
