import type { GraphNode } from './drawing.ts';

/** How large nodes are, in pixels. */

const height = { plain: 48, detailed: 64 };
const width = { narrowest: 148, widest: 260, letter: 7.6, beside: 52 };
const longestLabel = Math.floor((width.widest - width.beside) / width.letter);

export function widthOf({ label, detail = '' }: GraphNode): number {
  // Details are written smaller.
  const letters = Math.max(label.length, detail.length * 0.85);
  return Math.round(Math.min(width.widest, Math.max(width.narrowest, letters * width.letter + width.beside)));
}

export function heightOf({ detail }: GraphNode): number {
  return detail === undefined ? height.plain : height.detailed;
}

/** A text that fits into a node. */
export function shorten(text: string): string {
  return text.length <= longestLabel ? text : `${text.slice(0, longestLabel - 1)}…`;
}

export function round(value: number): number {
  return Math.round(value * 10) / 10;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Where the middles of the nodes lie, by their number, and along which curves the edges go; `y` grows downwards. */
export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly middles: ReadonlyMap<number, Point>;
  /** A start and then the points of curves, three each. */
  readonly edges: readonly { readonly from: number; readonly to: number; readonly points: readonly Point[] }[];
}
