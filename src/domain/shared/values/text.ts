/**
 * The control characters that change the reading direction of the following text, for a character class in a regular expression:
 * embeddings, overrides and isolates, with the characters that end them.
 */
export const directionControls = '\\u202a-\\u202e\\u2066-\\u2069';

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const unwritable = new RegExp(`[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\ufffe\\uffff${directionControls}]`, 'g');

/**
 * A text for XML or HTML, as content or in quotes. Characters that XML does not allow, and controls of the reading direction, become the
 * replacement character.
 */
export function escapeMarkup(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(unwritable, '\ufffd')
    .replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
}

/** A text of at most `maxLength` UTF-16 units. A longer one ends with `…`, and none of its characters is cut in half. */
export function cutText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const start = text.slice(0, maxLength - 1);
  return `${/[\ud800-\udbff]$/.test(start) ? start.slice(0, -1) : start}…`;
}

/**
 * Puts the lines of a text into one line. A line that ends like a sentence, or introduces the next one, needs no separator; others get a
 * semicolon.
 */
export function joinLines(text: string): string {
  const lines = text.split(/[\r\n]+/).map((line) => line.replaceAll(/\s+/g, ' ').trim());
  return lines
    .filter((line) => line !== '')
    .reduce((joined, line) => (joined === '' ? line : `${joined}${/[.!?:;,]$/.test(joined) ? '' : ';'} ${line}`), '');
}

const numbered = / \(\d+\)$/;

/**
 * Adds a number to each text that equals an earlier one, so that all texts differ. It remembers the last number of each text, so that it
 * tries no number twice.
 */
export class DistinctTexts {
  readonly #taken: Set<string>;
  readonly #numbers = new Map<string, number>();

  constructor(taken: Iterable<string> = []) {
    this.#taken = new Set(taken);
  }

  /** A text that already ends with a number keeps it, unless another text has the same. */
  add(text: string): string {
    const plain = text.replace(numbered, '');
    let distinct = text;
    let number = this.#numbers.get(plain) ?? 1;
    while (this.#taken.has(distinct)) distinct = `${plain} (${++number})`;
    this.#numbers.set(plain, number);
    this.#taken.add(distinct);
    return distinct;
  }
}
