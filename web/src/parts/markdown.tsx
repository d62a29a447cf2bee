// Markdown of a model, drawn by us from tokens: never as HTML, and every letter through `Plain`. Headings are bold text and no
// headings, links show their address, pictures and HTML stay as they were written. What is too large or too deep stays plain text.

import { Lexer, type Token, type Tokens } from "marked";
import type { ComponentChildren } from "preact";
import { Quoted } from "../foreign";
import { Plain } from "../plain";

// A text of more than this is not read as Markdown: the lexer must not hold up the page.
const BYTES_MOST = 64 * 1024;
// The lexer calls itself for every level of a quote; a model that writes hundreds would exhaust the stack.
const QUOTES_MOST = 16;
const DEPTH_MOST = 24;

export default function Markdown({ text }: { text: string }) {
  const tokens = tokensOf(text);
  // Text without any mark-up keeps its gutter and its lines.
  if (tokens === null || tokens.every(isPlain)) return <Quoted text={text} prose whole />;
  return <div class="md">{tokens.map((token, at) => drawBlock(token, at, 0))}</div>;
}

export function tokensOf(text: string): Token[] | null {
  if (text.length > BYTES_MOST || new RegExp(`^(\\s*>){${QUOTES_MOST}}`, "m").test(text)) return null;
  try {
    return new Lexer({ gfm: true }).lex(text);
  } catch {
    return null;
  }
}

function isPlain(token: Token): boolean {
  if (token.type === "space") return true;
  return token.type === "paragraph" && (token.tokens ?? []).every((one) => one.type === "text" || one.type === "escape");
}

function drawBlock(token: Token, key: number, depth: number): ComponentChildren {
  if (depth > DEPTH_MOST) return <Plain key={key} text={token.raw} />;
  const inside = (tokens: Token[] | undefined) => (tokens ?? []).map((one, at) => drawBlock(one, at, depth + 1));
  switch (token.type) {
    case "space":
      return null;
    case "heading":
      return (
        <p key={key} class="md-title">
          {drawInline(token.tokens, depth)}
        </p>
      );
    case "paragraph":
      return <p key={key}>{drawInline(token.tokens, depth)}</p>;
    case "text":
      return "tokens" in token && token.tokens ? <span key={key}>{drawInline(token.tokens, depth)}</span> : <Plain key={key} text={(token as Tokens.Text).text} />;
    case "code":
      return (
        <pre key={key}>
          <Plain text={(token as Tokens.Code).text} />
        </pre>
      );
    case "blockquote":
      return <blockquote key={key}>{inside(token.tokens)}</blockquote>;
    case "hr":
      return <hr key={key} />;
    case "list": {
      const list = token as Tokens.List;
      const items = list.items.map((item, at) => <li key={at}>{inside(item.tokens)}</li>);
      return list.ordered ? (
        <ol key={key} start={Number(list.start) || 1}>
          {items}
        </ol>
      ) : (
        <ul key={key}>{items}</ul>
      );
    }
    case "table":
      return <Table key={key} table={token as Tokens.Table} depth={depth} />;
    default:
      // HTML, definitions and whatever a newer lexer knows: as it was written.
      return <Plain key={key} text={token.raw} />;
  }
}

function Table({ table, depth }: { table: Tokens.Table; depth: number }) {
  return (
    <div class="md-table">
      <table>
        <thead>
          <tr>
            {table.header.map((cell, at) => (
              <th key={at}>{drawInline(cell.tokens, depth)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, at) => (
            <tr key={at}>
              {row.map((cell, place) => (
                <td key={place}>{drawInline(cell.tokens, depth)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function drawInline(tokens: Token[] | undefined, depth: number): ComponentChildren[] {
  return (tokens ?? []).map((token, at) => {
    if (depth > DEPTH_MOST) return <Plain key={at} text={token.raw} />;
    const inside = () => drawInline("tokens" in token ? token.tokens : undefined, depth + 1);
    switch (token.type) {
      case "text":
        return "tokens" in token && token.tokens ? <span key={at}>{inside()}</span> : <Plain key={at} text={(token as Tokens.Text).text} />;
      case "escape":
        return <Plain key={at} text={(token as Tokens.Escape).text} />;
      case "strong":
        return <strong key={at}>{inside()}</strong>;
      case "em":
        return <em key={at}>{inside()}</em>;
      case "del":
        return <del key={at}>{inside()}</del>;
      case "br":
        return <br key={at} />;
      case "codespan":
        return (
          <code key={at}>
            <Plain text={(token as Tokens.Codespan).text} />
          </code>
        );
      case "link":
        return <Link key={at} link={token as Tokens.Link} depth={depth} />;
      default:
        return <Plain key={at} text={token.raw} />;
    }
  });
}

/** Words can say anything about where a link leads, so the address stands behind them. */
function Link({ link, depth }: { link: Tokens.Link; depth: number }) {
  const href = /^https?:\/\/[^\s]+$/i.test(link.href) && URL.canParse(link.href) ? new URL(link.href).href : null;
  if (href === null) return <Plain text={link.raw} />;
  const same = link.text === link.href;
  return (
    <>
      {same ? null : <span>{drawInline(link.tokens, depth + 1)} </span>}
      <a class="md-address" href={href} target="_blank" rel="noopener noreferrer nofollow">
        <Plain text={same ? href : `(${href})`} />
      </a>
    </>
  );
}
