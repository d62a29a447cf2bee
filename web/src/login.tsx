// Shown to someone the server does not know: what this is, and how to get in. It says nothing about anybody or anything else.

import { useState } from "preact/hooks";
import * as api from "./api";
import { t } from "./i18n";

type Sent = "no" | "sending" | "yes" | "failed";

export function Login({ read }: { read: () => void }) {
  const [person, setPerson] = useState("");
  const [sent, setSent] = useState<Sent>("no");
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
      <h1>{t("login.title")}</h1>
      <p>{t("login.why")}</p>
      <form class="login-ask" onSubmit={ask}>
        <label class="field">
          <span>{t("login.person")}</span>
          <input name="person" autocomplete="username" autocapitalize="none" spellcheck={false} value={person} onInput={(event) => setPerson(event.currentTarget.value)} />
        </label>
        <button type="submit" class="primary" disabled={sent === "sending"}>
          {t("login.ask")}
        </button>
        <p class="muted" role="status">
          {sent === "yes" ? t("login.sent") : sent === "failed" ? t("login.not_sent") : t("login.ask.note")}
        </p>
      </form>
      <p>{t("login.link")}</p>
      <p>{t("login.again")}</p>
      <pre class="text">holdpoint token login PERSON</pre>
      <p>{t("login.then")}</p>
      <button type="button" onClick={read}>
        {t("login.reload")}
      </button>
    </main>
  );
}
