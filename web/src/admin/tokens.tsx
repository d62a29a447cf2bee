// Tokens of people and programs, without their secrets; a new one for a program; a login link for a person.

import { useState } from "preact/hooks";
import * as api from "../api";
import { Button, Field, Sheet } from "../components";
import { Chip, Quoted } from "../foreign";
import { Moment } from "../holds/facts";
import { Refusal } from "../holds/refusal";
import { t } from "../i18n";
import { Plain } from "../plain";
import { personName, useMe } from "../who";
import type { NewToken, Token } from "../wire";
import { AdminPanel, useReading } from "./read";

export function Tokens() {
  const reading = useReading(() => api.tokens(null));
  const [open, setOpen] = useState<"token" | "login" | null>(null);
  const close = () => {
    setOpen(null);
    reading.again();
  };
  return (
    <AdminPanel
      title={t("tokens.title")}
      aside={
        <span class="actions">
          <Button small onClick={() => setOpen("login")}>
            {t("tokens.login")}
          </Button>
          <Button small kind="primary" onClick={() => setOpen("token")}>
            {t("tokens.new")}
          </Button>
        </span>
      }
      reading={reading}
    >
      {reading.value ? (
        <table class="table stacks">
          <thead>
            <tr>
              <th scope="col">{t("tokens.owner")}</th>
              <th scope="col">{t("tokens.scopes")}</th>
              <th scope="col">{t("tokens.made")}</th>
              <th scope="col">{t("hold.expires")}</th>
              <th scope="col">
                <span class="sr">{t("grants.revoke")}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {reading.value.items.map((token) => (
              <TokenRow key={token.id} token={token} again={reading.again} />
            ))}
          </tbody>
        </table>
      ) : null}
      {reading.value?.next ? <p class="admin-note hint">{t("tokens.more")}</p> : null}
      {open === "token" ? <TokenSheet close={close} /> : null}
      {open === "login" ? <LoginSheet close={close} /> : null}
    </AdminPanel>
  );
}

function TokenRow({ token, again }: { token: Token; again: () => void }) {
  const me = useMe();
  const [sure, setSure] = useState(false);
  const [refused, setRefused] = useState<api.Refused | null>(null);
  const revoke = () => {
    if (!sure) return setSure(true);
    api.revokeToken(token.id).then(again, (problem: unknown) => problem instanceof api.Refused && setRefused(problem));
  };
  return (
    <tr data-token={token.id}>
      <td>
        {token.person ? <b>{personName(token.person, me)}</b> : <Chip text={token.program ?? ""} />}
        <small class="muted">{token.note ? <Chip text={token.note} /> : t(token.person ? "tokens.person" : "tokens.program")}</small>
        {refused ? <Refusal problem={refused} /> : null}
      </td>
      <td data-label={t("tokens.scopes")}>{token.scopes.join(", ")}</td>
      <td data-label={t("tokens.made")}>
        <Plain text={token.minted_by} />, <Moment at={token.minted_at} />
      </td>
      <td data-label={t("hold.expires")}>{token.expires_at ? <Moment at={token.expires_at} /> : t("tokens.never")}</td>
      <td class="table-end">
        <Button small kind={sure ? "danger-solid" : "danger"} onClick={revoke} onBlur={() => setSure(false)}>
          {t(sure ? "tokens.sure" : "grants.revoke")}
        </Button>
      </td>
    </tr>
  );
}

const SCOPES = ["ask", "run", "admin"] as const;
const DAY_S = 86_400;

function TokenSheet({ close }: { close: () => void }) {
  const [program, setProgram] = useState("");
  const [scopes, setScopes] = useState<string[]>(["ask"]);
  const [days, setDays] = useState("90");
  const [made, setMade] = useState<Token | null>(null);
  const [refused, setRefused] = useState<api.Refused | null>(null);
  const send = () => {
    const wanted: NewToken = { program: program.trim(), scopes };
    if (Number(days) > 0) wanted.expires_in_s = Math.round(Number(days) * DAY_S);
    setRefused(null);
    api.mintToken(wanted).then(setMade, (problem: unknown) => problem instanceof api.Refused && setRefused(problem));
  };
  return (
    <Sheet
      name="token"
      title={t("tokens.new")}
      close={close}
      footer={
        made ? (
          <Button kind="primary" onClick={close}>
            {t("app.close")}
          </Button>
        ) : (
          <>
            <Button kind="primary" disabled={program.trim() === "" || scopes.length === 0} onClick={send}>
              {t("tokens.make")}
            </Button>
            <Button onClick={close}>{t("answer.cancel")}</Button>
          </>
        )
      }
    >
      {made ? (
        <>
          <p>{t("tokens.once")}</p>
          <Quoted text={made.token ?? ""} />
        </>
      ) : (
        <>
          <Field label={t("tokens.for")}>
            <input name="program" autocomplete="off" value={program} onInput={(event) => setProgram(event.currentTarget.value)} />
          </Field>
          <fieldset class="token-scopes">
            <legend>{t("tokens.scopes")}</legend>
            {SCOPES.map((scope) => (
              <label key={scope} class="choice">
                <input type="checkbox" checked={scopes.includes(scope)} onChange={() => setScopes(scopes.includes(scope) ? scopes.filter((one) => one !== scope) : [...scopes, scope])} />
                <span>
                  {scope} <small>{t(`tokens.scope.${scope}`)}</small>
                </span>
              </label>
            ))}
          </fieldset>
          <Field label={t("tokens.days")} hint={t("tokens.days.note")}>
            <input name="days" inputMode="numeric" value={days} onInput={(event) => setDays(event.currentTarget.value)} />
          </Field>
        </>
      )}
      {refused ? <Refusal problem={refused} /> : null}
    </Sheet>
  );
}

function LoginSheet({ close }: { close: () => void }) {
  const [person, setPerson] = useState("");
  const [made, setMade] = useState<{ url: string; expires_at: string } | null>(null);
  const [refused, setRefused] = useState<api.Refused | null>(null);
  const send = () => {
    setRefused(null);
    api.openLogin(person.trim()).then(setMade, (problem: unknown) => problem instanceof api.Refused && setRefused(problem));
  };
  return (
    <Sheet
      name="login"
      title={t("tokens.login")}
      close={close}
      footer={
        made ? (
          <Button kind="primary" onClick={close}>
            {t("app.close")}
          </Button>
        ) : (
          <>
            <Button kind="primary" disabled={person.trim() === ""} onClick={send}>
              {t("tokens.login.make")}
            </Button>
            <Button onClick={close}>{t("answer.cancel")}</Button>
          </>
        )
      }
    >
      {made ? (
        <>
          <p>{t("tokens.login.once")}</p>
          <Quoted text={made.url} />
        </>
      ) : (
        <Field label={t("tokens.login.person")}>
          <input name="person" autocomplete="off" autocapitalize="none" value={person} onInput={(event) => setPerson(event.currentTarget.value)} />
        </Field>
      )}
      {refused ? <Refusal problem={refused} /> : null}
    </Sheet>
  );
}
