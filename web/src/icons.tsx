// One small drawing per state. States differ in shape first and in colour second.

const SHAPES = {
  pending: "M8 1.75a6.25 6.25 0 1 0 0 12.5a6.25 6.25 0 0 0 0-12.5M8 4.5V8l2.25 1.75",
  approved: "M2.75 8.5l3.5 3.5 7-8",
  denied: "M3.5 3.5l9 9M12.5 3.5l-9 9",
  answered: "M2 3h12v8H8l-3.5 3v-3H2z",
  expired: "M4 2h8M4 14h8M4.75 2c0 4 6.5 4 6.5 12M11.25 2c0 4-6.5 4-6.5 12",
  cancelled: "M8 1.75a6.25 6.25 0 1 0 0 12.5a6.25 6.25 0 0 0 0-12.5M3.6 12.4l8.8-8.8",
  executing: "M8 2a6 6 0 1 1-6 6",
  succeeded: "M2.75 8.5l3.5 3.5 7-8",
  failed: "M8 2.25v7M8 12.75v.5",
  unknown: "M5.5 5.75a2.5 2.5 0 1 1 3.6 2.25C8.4 8.4 8 8.8 8 9.75M8 12.9v.5",
  warning: "M8 2l6.5 11.5h-13zM8 6.25v3.5M8 11.6v.4",
  model: "M3 4.5h10v8H3zM8 4.5V2M6 8v1M10 8v1",
  send: "M2.5 8h10M8.5 3.5L13 8l-4.5 4.5",
} as const;

export type IconName = keyof typeof SHAPES;

/** Always beside a word that says the same, so it is hidden from screen readers. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class={`icon icon-${name}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      <path d={SHAPES[name]} fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" />
    </svg>
  );
}
