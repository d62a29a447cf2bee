// A button of the page. What it does stands on it; the key that presses it stands behind.

import type { ButtonHTMLAttributes, ComponentChildren } from "preact";
import { Kbd } from "./kbd";

export type ButtonKind = "plain" | "primary" | "danger" | "danger-solid" | "quiet" | "link";

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  kind?: ButtonKind;
  small?: boolean;
  hotkey?: string;
  submit?: boolean;
  children: ComponentChildren;
}

export function Button({ kind = "plain", small = false, hotkey, submit = false, children, class: more, ...rest }: Props) {
  const names = [kind === "plain" ? "" : kind, small ? "tiny" : "", typeof more === "string" ? more : ""].filter(Boolean).join(" ");
  return (
    <button type={submit ? "submit" : "button"} class={names === "" ? undefined : names} aria-keyshortcuts={hotkey} {...rest}>
      {children}
      {hotkey ? <Kbd>{hotkey}</Kbd> : null}
    </button>
  );
}
