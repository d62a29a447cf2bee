// Shows notices, opens the card they are about and keeps the count on the icon of an installed page, and does nothing else. It answers
// no request of the page and keeps nothing, so nobody ever sees an old page or an old hold because of it; without a network the browser
// says so itself.

addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));

addEventListener("push", (event) => event.waitUntil(show(event.data)));

async function show(data) {
  const notice = read(data);
  if (notice === null) return;
  const { kind, hold, title, body, waiting } = notice;
  await badge(waiting);
  const shown = await registration.getNotifications({ tag: hold });
  if (kind === "settled") {
    // It was put away already: nothing is left to take back, and nobody is disturbed again.
    if (shown.length === 0) return;
    await registration.showNotification(title, options(hold, body, true));
    for (const one of await registration.getNotifications({ tag: hold })) one.close();
    return;
  }
  await registration.showNotification(title, options(hold, body, false));
}

/** What waits for the person as the server counted it when it sent this. An open page counts for itself. */
async function badge(waiting) {
  if (!Number.isSafeInteger(waiting) || waiting < 0 || !("setAppBadge" in navigator)) return;
  try {
    await (waiting > 0 ? navigator.setAppBadge(waiting) : navigator.clearAppBadge());
  } catch {
    // A system without counts shows the notice all the same.
  }
}

function options(hold, body, silent) {
  return { body, tag: hold, renotify: !silent, silent, icon: "/icon-192.png", badge: "/icon-192.png", data: { hold } };
}

function read(data) {
  try {
    const notice = data.json();
    const words = [notice.kind, notice.hold, notice.title, notice.body];
    return words.every((word) => typeof word === "string") && /^hold_[0-9a-z]+$/.test(notice.hold) ? notice : null;
  } catch {
    return null;
  }
}

addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data?.hold));
});

async function open(hold) {
  const path = hold ? `/holds/${hold}` : "/";
  const pages = await clients.matchAll({ type: "window", includeUncontrolled: true });
  const page = pages.find((one) => one.visibilityState === "visible") ?? pages[0];
  if (!page) return clients.openWindow(path);
  // The page goes there by itself, so that what is typed in it is not lost to a reload without its knowing.
  page.postMessage({ open: path });
  return page.focus();
}
