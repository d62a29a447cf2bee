// A line across the page that holds for everything on it: no connection, frozen, a warning of the server.

import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "../icons";

interface Props {
  tone?: "hold" | "no";
  icon?: IconName;
  name: string;
  urgent?: boolean;
  /** A button at the end. */
  action?: ComponentChildren;
  children: ComponentChildren;
}

export function Notice({ tone = "hold", icon = "warning", name, urgent = false, action, children }: Props) {
  return (
    <div class={`banner tone-${tone} banner-${name}`} role={urgent ? "alert" : "status"}>
      <Icon name={icon} />
      <p class="grow">{children}</p>
      {action}
    </div>
  );
}
