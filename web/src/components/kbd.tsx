// A key of the keyboard. Where there is none (a phone) it is not drawn.

import type { ComponentChildren } from "preact";

export function Kbd({ children }: { children: ComponentChildren }) {
  return <kbd aria-hidden="true">{children}</kbd>;
}
