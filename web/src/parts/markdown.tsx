// Markdown of a model, drawn by us from blocks and words: never as HTML, and every letter through `Plain`. Headings are bold text and
// no headings, links show their address, pictures and HTML stay as they were written. What is too large or too deep stays plain text.

import type { ComponentChildren } from "preact";
import { Quoted } from "../foreign";
import { Plain } from "../plain";
import { blocksOf, type Block, type Word, type Words } from "./marks";

// A text of more than this is not read as Markdown: it must not hold up the page.
const CHARACTERS_MOST = 64 * 1024;

export default function Markdown({ text }: { text: string }) {
  const blocks = text.length > CHARACTERS_MOST ? null : blocksOf(text);
  // Text without any mark-up keeps its gutter and its lines, and so does one that is made to be deep.
  if (blocks === null || blocks.some(isTooDeep) || blocks.every(isPlain)) return <Quoted text={text} prose whole />;
  return <div class="md">{blocks.map(drawBlock)}</div>;
}

function isPlain(block: Block): boolean {
  return block.is === "paragraph" && block.words.every((word) => word.is === "text");
}

function isTooDeep(block: Block): boolean {
  if (block.is === "quote") return block.blocks.some(isTooDeep);
  if (block.is === "list") return block.items.some((item) => item.some(isTooDeep));
  return block.is === "plain";
}

function drawBlock(block: Block, key: number): ComponentChildren {
  switch (block.is) {
    case "heading":
      return (
        <p key={key} class="md-title">
          {drawWords(block.words)}
        </p>
      );
    case "paragraph":
      return <p key={key}>{drawWords(block.words)}</p>;
    case "code":
      return (
        <pre key={key}>
          <Plain text={block.text} />
        </pre>
      );
    case "quote":
      return <blockquote key={key}>{block.blocks.map(drawBlock)}</blockquote>;
    case "rule":
      return <hr key={key} />;
    case "list": {
      const items = block.items.map((item, at) => <li key={at}>{item.map(drawItem)}</li>);
      return block.start === null ? (
        <ul key={key}>{items}</ul>
      ) : (
        <ol key={key} start={block.start}>
          {items}
        </ol>
      );
    }
    case "table":
      return <Table key={key} table={block} />;
    case "plain":
      return <Plain key={key} text={block.text} />;
  }
}

/** The text of an item stands beside its mark. */
function drawItem(block: Block, key: number): ComponentChildren {
  return block.is === "paragraph" && key === 0 ? <span key={key}>{drawWords(block.words)}</span> : drawBlock(block, key);
}

function Table({ table }: { table: Extract<Block, { is: "table" }> }) {
  return (
    <div class="md-table">
      <table>
        <thead>
          <tr>
            {table.header.map((cell, at) => (
              <th key={at}>{drawWords(cell)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, at) => (
            <tr key={at}>
              {row.map((cell, place) => (
                <td key={place}>{drawWords(cell)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function drawWords(words: Words): ComponentChildren[] {
  return words.map(drawWord);
}

function drawWord(word: Word, key: number): ComponentChildren {
  switch (word.is) {
    case "text":
      return <Plain key={key} text={word.text} />;
    case "code":
      return (
        <code key={key}>
          <Plain text={word.text} />
        </code>
      );
    case "strong":
      return <strong key={key}>{drawWords(word.inside)}</strong>;
    case "em":
      return <em key={key}>{drawWords(word.inside)}</em>;
    case "del":
      return <del key={key}>{drawWords(word.inside)}</del>;
    case "break":
      return <br key={key} />;
    case "link":
      return <Link key={key} link={word} />;
  }
}

/** Words can say anything about where a link leads, so the address stands behind them. */
function Link({ link }: { link: Extract<Word, { is: "link" }> }) {
  const href = /^https?:\/\/[^\s]+$/i.test(link.href) && URL.canParse(link.href) ? new URL(link.href).href : null;
  if (href === null) return <Plain text={link.raw} />;
  const same = link.text === link.href;
  return (
    <>
      {same ? null : <span>{drawWords(link.inside)} </span>}
      <a class="md-address" href={href} target="_blank" rel="noopener noreferrer nofollow">
        <Plain text={same ? href : `(${href})`} />
      </a>
    </>
  );
}
