import { joinLists } from './declarations/page-lists.ts';
import type { LocalPath } from './declarations/path-patterns.ts';

/** The texts about the last action, by page and then by name. The types let a form redirect only to a page that has the named text. */
const confirmations = joinLists('confirmations');
const textsByPage: Readonly<Record<LocalPath, Readonly<Record<string, string>>>> = confirmations;

/** The pages that have texts about the last action. */
export type PageWithConfirmations = keyof typeof confirmations;

/** The names of a page's texts. */
export type ConfirmationOf<Pattern> = Pattern extends PageWithConfirmations
  ? keyof (typeof confirmations)[Pattern]
  : never;

/**
 * Returns the text about the last action; null for an unknown name, and for a page without such texts. The address contains only a name,
 * so a link cannot make a page show a text that its author wrote.
 */
export function findConfirmation(page: LocalPath, done: string | undefined): string | null {
  const texts = textsByPage[page] ?? {};
  return done !== undefined && Object.hasOwn(texts, done) ? (texts[done] ?? null) : null;
}
