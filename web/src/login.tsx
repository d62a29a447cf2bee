// Shown to someone the server does not know: how to get in, and nothing else.

import { t } from "./i18n";

export function Login() {
  return (
    <main class="login">
      <h1>{t("login.title")}</h1>
      <p>{t("login.why")}</p>
      <p>{t("login.link")}</p>
      <p>{t("login.again")}</p>
      <pre class="text">holdpoint token login PERSON</pre>
      <p>{t("login.then")}</p>
      <button type="button" onClick={() => location.reload()}>
        {t("login.reload")}
      </button>
    </main>
  );
}
