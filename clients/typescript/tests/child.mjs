// A program that is killed and started again: `child.mjs KEY FILE [die]`.

import { appendFileSync } from "node:fs";

import { AlreadyUsed, gate } from "holdpoint";

const [key, file, how] = process.argv.slice(2);

const append = gate(
  ({ text }) => {
    appendFileSync(file, `${text}\n`);
    if (how === "die") process.exit(9);
    return "appended";
  },
  { tool: "append", title: `append ${key}`, key },
);

try {
  console.log(await append({ text: "once" }));
} catch (error) {
  if (!(error instanceof AlreadyUsed)) throw error;
  console.log(`already used: ${error.outcome} ${error.result ?? undefined}`);
}
