import { cutText } from '#domain/shared/values/text.ts';
import type { GraphNode } from './drawing.ts';

/** Computes the sizes of nodes, in pixels. */

const height = { plain: 48, detailed: 64 };
const width = { narrowest: 148, widest: 260, letter: 7.6, beside: 52 };
const maxLabelLength = Math.floor((width.widest - width.beside) / width.letter);

export function widthOf({ label, detail = '' }: GraphNode): number {
  const text = Math.max(label.length * width.letter, lengthOf(detail));
  return Math.round(Math.min(width.widest, Math.max(width.narrowest, text + width.beside)));
}

export function heightOf({ detail }: GraphNode): number {
  return detail === undefined ? height.plain : height.detailed;
}

/** The approximate width of a detail, which has a smaller font with letters of different widths. */
function lengthOf(detail: string): number {
  return [...detail].reduce((length, letter) => length + detailLetter(letter), 0);
}

function detailLetter(letter: string): number {
  if (/[mwMW@%]/.test(letter)) return 11;
  return /[a-z0-9\s!-/:-?[-`{-~]/.test(letter) ? 6.5 : 9;
}

/** Shortens a detail to the width of a node. */
export function shortenDetail(text: string): string {
  const room = width.widest - width.beside;
  if (lengthOf(text) <= room) return text;
  let length = detailLetter('…');
  let shown = '';
  for (const letter of text) {
    length += detailLetter(letter);
    if (length > room) break;
    shown += letter;
  }
  return `${shown}…`;
}

/** Shortens a label to the width of a node. */
export function shorten(text: string): string {
  return cutText(text, maxLabelLength);
}

export function round(value: number): number {
  return Math.round(value * 10) / 10;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** The middles of the nodes, by their numbers, and the curves of the edges; `y` grows downwards. */
export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly middles: ReadonlyMap<number, Point>;
  /** Each edge has a start point and then three points for each curve. */
  readonly edges: readonly { readonly from: number; readonly to: number; readonly points: readonly Point[] }[];
}
