// j and k move through the list, Enter opens (links do that by themselves), Ctrl+Enter sends the form that has the focus.
// There is no key that approves: an answer always takes a button or a form that was put in focus on purpose.

export function onKey(event: KeyboardEvent): void {
  const target = event.target instanceof HTMLElement ? event.target : null;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    const form = target?.closest("form");
    if (form) {
      event.preventDefault();
      form.requestSubmit();
    }
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (target?.closest("input, textarea, select, [contenteditable]")) return;
  if (event.key === "j") move(1, event);
  else if (event.key === "k") move(-1, event);
}

function move(step: 1 | -1, event: KeyboardEvent): void {
  const items = [...document.querySelectorAll<HTMLElement>(".inbox [data-item]")].filter((item) => item.offsetParent !== null);
  if (items.length === 0) return;
  event.preventDefault();
  const at = items.findIndex((item) => item === document.activeElement);
  const from = at >= 0 ? at : items.findIndex((item) => item.getAttribute("aria-current") === "page");
  const next = from < 0 ? (step > 0 ? 0 : items.length - 1) : Math.min(items.length - 1, Math.max(0, from + step));
  items[next]?.focus();
}
