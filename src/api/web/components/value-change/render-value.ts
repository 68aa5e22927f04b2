import { type Effort, isSpent, parseText } from '#domain/shared/values/comparison/compare.ts';
import { cutAround } from '#domain/shared/values/comparison/cut.ts';
import type { Side } from '#domain/shared/values/comparison/marks.ts';
import type { ValueChange } from '#domain/shared/values/comparison/value-changes.ts';
import { type Html, html } from '../../html.ts';
import { compareLines, type LinePart } from './lines.ts';
import { isShort, type Printed, printValue, showUnseen, wordOf } from './print.ts';

/** How much of a value is shown, and how much work its comparison may take. */
export interface Extent {
  /** The longest value in characters. */
  readonly maxCharacters: number;
  readonly effort: Effort;
}

export type Sides = Pick<ValueChange, 'kind'> & { readonly before?: Side; readonly after?: Side };

/** One value that is set, removed, or replaced by another. */
export function renderSides({ kind, before, after }: Sides, extent: Extent): Html {
  if (kind === 'added') return renderOne('ins', after, extent);
  if (kind === 'removed') return renderOne('del', before, extent);
  if (isShort(before) && isShort(after)) {
    return html`<span class="value-sides">${renderShort('del', before)}<span class="value-becomes"> <span class="unseen">becomes</span> </span>${renderShort('ins', after)}</span>`;
  }
  if (typeof before === 'string' && typeof after === 'string') return renderTexts(before, after, extent);
  return html`${renderOne('del', before, extent)}${renderOne('ins', after, extent)}`;
}

/** An unchanged value. */
export function renderPlain(value: Side, extent: Extent): Html {
  if (isShort(value))
    return html`<span class="foreign value-text">${printValue(value, extent.maxCharacters).text}</span>`;
  return renderBlock('same', printReadable(value, extent));
}

/** The number of characters of the next value: limited by its own length and by what is left for the page. */
function roomIn({ maxCharacters, effort }: Extent): number {
  return Math.max(0, Math.min(maxCharacters, effort.characters));
}

const words = { ins: 'set to ', del: 'removed: ' };

function renderOne(kind: 'ins' | 'del', value: Side, extent: Extent): Html {
  if (isShort(value)) {
    return html`<span class="value-sides value-sides-${kind}" data-sign="${signs[kind]}"><span class="unseen">${words[kind]}</span>${renderShort(kind, value)}</span>`;
  }
  return renderBlock(kind, printReadable(value, extent));
}

function renderShort(kind: 'ins' | 'del', value: Side): Html {
  const { text } = printValue(value, 1000);
  const shown = wordOf(value) === null ? text : html`<em>${text}</em>`;
  return kind === 'ins'
    ? html`<ins class="value-text foreign">${shown}</ins>`
    : html`<del class="value-text foreign">${shown}</del>`;
}

/** Prints a text with line breaks in lines, and a text that contains JSON as indented JSON. */
function printReadable(value: Side, extent: Extent): Printed {
  const max = roomIn(extent);
  const printed = max > 0 ? print(value, max) : { text: '', isCut: true };
  extent.effort.characters -= printed.text.length;
  return printed;
}

function print(value: Side, max: number): Printed {
  if (typeof value !== 'string') return printValue(value, max);
  const parsed = parseText(value);
  if (parsed !== null) return printValue(parsed, max);
  if (!value.includes('\n')) return printValue(value, max);
  return { text: showUnseen(value.slice(0, max)), isCut: value.length > max };
}

const signs = { ins: '+', del: '−', same: '' };

function renderBlock(kind: 'ins' | 'del' | 'same', { text, isCut }: Printed): Html {
  const content = html`${text}${isCut ? html`<em>\n… cut: the value goes on</em>` : null}`;
  const said = kind === 'same' ? null : html`<span class="unseen">${words[kind]}</span>`;
  const body =
    kind === 'ins' ? html`<ins>${content}</ins>` : kind === 'del' ? html`<del>${content}</del>` : html`${content}`;
  return html`<pre class="value-block value-block-${kind} foreign" data-sign="${signs[kind]}"${scrolledByKeys(text)}>${said}${body}</pre>`;
}

/** Makes a block that may be higher than its limit focusable, so that the keyboard can scroll it. */
function scrolledByKeys(text: string): Html | null {
  return text.length > 400 || text.split('\n').length > 12 ? html` tabindex="0"` : null;
}

function renderTexts(before: string, after: string, extent: Extent): Html {
  const { effort } = extent;
  const max = roomIn(extent);
  effort.characters -= Math.min(max, before.length) + Math.min(max, after.length);
  const hasLines = before.includes('\n') || after.includes('\n');
  const parts = hasLines && !isSpent(effort) ? compareLines(before, after) : null;
  if (parts) return renderLines(parts, max);
  const cut = cutAround(before, after, max);
  const side = (text: string) => ({ text: showUnseen(text), isCut: false });
  return html`${renderBlock('del', side(cut.before))}${renderBlock('ins', side(cut.after))}`;
}

function renderLines(parts: readonly LinePart[], max: number): Html {
  let left = max;
  const shown: Html[] = [];
  for (const part of parts) {
    if (left <= 0) {
      shown.push(html`<em class="value-line">… cut: the text goes on</em>`);
      break;
    }
    const text = part.kind === 'hidden' ? '' : part.lines.join('\n');
    shown.push(renderPart(part, showUnseen(text.slice(0, left))));
    left -= text.length;
  }
  return html`<pre class="value-block value-block-lines foreign" tabindex="0">${shown}</pre>`;
}

function renderPart({ kind, lines }: LinePart, text: string): Html {
  if (kind === 'hidden') return html`<em class="value-line">${lines.length} unchanged lines</em>`;
  if (kind === 'same') return html`<span class="value-line">${text}</span>`;
  const marked = text
    .split('\n')
    .map((line) => `${kind === 'added' ? '+' : '−'} ${line}`)
    .join('\n');
  return kind === 'added'
    ? html`<ins class="value-line">${marked}</ins>`
    : html`<del class="value-line">${marked}</del>`;
}
