// A person as a round sign with initials, an agent or a program as a square one. The name always stands beside it.

import { Icon } from "../icons";

export function Who({ name, machine = false }: { name: string; machine?: boolean }) {
  return (
    <span class={machine ? "who who-machine" : "who"} aria-hidden="true">
      {machine ? <Icon name="model" /> : initials(name)}
    </span>
  );
}

function initials(name: string): string {
  const words = name.split(/[\s._-]+/).filter((one) => /^\p{L}/u.test(one));
  const letters = words.length > 1 ? [words[0], words.at(-1)] : [words[0]];
  return letters.map((one) => [...(one ?? "?")][0]?.toUpperCase()).join("");
}
