import type { Node } from './plan/node.ts';

/** What is entered into a part of a form, as it was typed. It may be invalid. */
export type Entry =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'many'; readonly texts: readonly string[] }
  | { readonly kind: 'object'; readonly members: Readonly<Record<string, Entry>>; readonly rows: readonly Row[] }
  | { readonly kind: 'array'; readonly items: readonly Entry[] }
  | { readonly kind: 'shapes'; readonly shape: number | null; readonly entry: Entry | null }
  | {
      readonly kind: 'json';
      readonly text: string;
      /** Why the form could not show the JSON as fields, when the visitor asked for that. */
      readonly unshown?: string;
    };

export interface Row {
  readonly key: string;
  readonly entry: Entry;
}

/** The maximum number of items or rows in a form. Longer lists are written as JSON. */
export const maxFormItems = 50;

/** The node of an item, by its index. */
export function itemNode(node: Extract<Node, { kind: 'array' }>, index: number): Node | null {
  return node.first[index] ?? node.item;
}
