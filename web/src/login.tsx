// Shown to someone the server does not know: how to get in, and that they come back to where they wanted to be. It says nothing
// about anybody or anything else: not whether a name is known, nor whether there is such a hold.

import { useEffect, useState } from "preact/hooks";
import * as api from "./api";
import { Button, Field } from "./components";
import { t } from "./i18n";
import { routeOf } from "./route";
import { keepWanted, whenLoggedIn } from "./wanted";

type Sent = "no" | "sending" | "yes" | "failed";

export function Login({ read }: { read: () => void }) {
  const [person, setPerson] = useState("");
  const [sent, setSent] = useState<Sent>("no");
  const wanted = routeOf(location.pathname).at;
  useEffect(() => {
    keepWanted();
    return whenLoggedIn(read);
  }, []);
  const ask = (event: Event) => {
    event.preventDefault();
    if (person.trim() === "" || sent === "sending") return;
    setSent("sending");
    // The link leads back to where this page stands.
    api.askForLink(person.trim(), location.pathname).then(
      () => setSent("yes"),
      () => setSent("failed"),
    );
  };
  return (
    <main class="login">
      <svg viewBox="0 0 32 32" width="40" height="40" role="img" aria-label={t("app.name")}>
        <rect width="32" height="32" rx="8" class="brand-back" />
        <path d="M11 8v16M21 8v16" class="brand-bars" />
      </svg>
      <h1>{t(wanted === "hold" ? "login.title.hold" : "login.title")}</h1>
      {wanted === "hold" ? (
        <p class="login-wanted">
          <b>{t("login.wanted.hold")}</b>
          <span>{t("login.wanted")}</span>
        </p>
      ) : (
        <p class="muted">{t("login.why")}</p>
      )}
      <form class="login-ask" onSubmit={ask}>
        <Field label={t("login.person")}>
          <input name="person" autocomplete="username" autocapitalize="none" spellcheck={false} value={person} onInput={(event) => setPerson(event.currentTarget.value)} />
        </Field>
        <Button submit kind="primary" disabled={sent === "sending"}>
          {t("login.ask")}
        </Button>
        <p class="muted" role="status">
          {sent === "yes" ? t("login.sent") : sent === "failed" ? t("login.not_sent") : t("login.ask.note")}
        </p>
      </form>
      <details class="login-else">
        <summary>{t("login.else")}</summary>
        <p>{t("login.link")}</p>
        <p>{t("login.again")}</p>
        <pre class="text">holdpoint token login PERSON</pre>
        <p>{t("login.then")}</p>
      </details>
      <Button onClick={read}>{t("login.reload")}</Button>
    </main>
  );
}
