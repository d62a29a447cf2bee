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
  inbox: "M2 9l2-6h8l2 6v4.5H2zM2 9h3.5l1 2h3l1-2H14",
  sessions: "M2.5 3h11v7.5H7L4 13.5v-3H2.5z",
  history: "M2.5 8a5.5 5.5 0 1 0 1.8-4.1M2.5 2.5v3h3M8 5v3.2l2 1.3",
  admin: "M2 4.5h7M12 4.5h2M10.5 3v3M2 11.5h2M7 11.5h7M5.5 10v3",
  start: "M5 3l8 5-8 5z",
  people: "M6 8a2.5 2.5 0 1 0 0-5a2.5 2.5 0 0 0 0 5M1.5 13.5c.5-2.5 2.2-3.8 4.5-3.8s4 1.3 4.5 3.800M10.5 3.300a2.4 2.4 0 0 1 0 4.500M12 10c1.5.5 2.3 1.7 2.6 3.5",
  keys: "M5.5 6a2.5 2.5 0 1 1 3.6 2.250C8.4 8.6 8 9 8 10M8 12.900v.2",
  search: "M7 2.500a4.5 4.5 0 1 0 0 9a4.5 4.5 0 0 0 0-9M10.3 10.300L14 14",
  down: "M4 6l4 4 4-4",
  right: "M6 4l4 4-4 4",
  left: "M10 4L6 8l4 4",
  more: "M3.5 8h.1M8 8h.1M12.5 8h.1",
  frozen: "M8 1.500v13M2.4 4.750l11.2 6.500M13.6 4.750L2.4 11.250",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  bell: "M4 11V7a4 4 0 0 1 8 0v4l1 1.500H3zM6.8 14.200h2.4",
  plus: "M8 3v10M3 8h10",
  stop: "M4.5 4.500h7v7h-7z",
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
