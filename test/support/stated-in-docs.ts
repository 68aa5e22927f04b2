import { prose } from '../docs/markdown.ts';

const words: Readonly<Record<number, string>> = { 2: 'two', 3: 'three', 5: 'five', 10: 'ten' };

/** A number as the documentation writes it. */
export function inWords(count: number): string {
  return words[count] ?? String(count);
}

/** The text of a page in docs/ without code and line breaks, in which a sentence can be found. */
export function docsText(page: string): string {
  return prose(`docs/${page}.md`).replace(/\s+/g, ' ');
}
