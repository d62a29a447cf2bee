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
  const all = [...document.querySelectorAll<HTMLElement>(".inbox [data-item]")].filter((item) => item.offsetParent !== null);
  // Settled ones are passed over: the next one is the next that waits.
  const items = all.filter((item) => item.dataset["waits"] === "true");
  if (items.length === 0) return;
  event.preventDefault();
  const at = all.findIndex((item) => item === document.activeElement);
  const from = at >= 0 ? at : all.findIndex((item) => item.getAttribute("aria-current") === "page");
  const beyond = (item: HTMLElement) => (step > 0 ? all.indexOf(item) > from : all.indexOf(item) < from);
  const next = step > 0 ? items.find(beyond) : items.filter(beyond).at(-1);
  // From a settled one at the end of the list, the first that waits; from nowhere, the nearest end.
  const waiting = at >= 0 && items.includes(all[at] as HTMLElement);
  (next ?? (waiting ? all[at] : step > 0 ? items[0] : items.at(-1)))?.focus();
}
