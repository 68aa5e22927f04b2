import { joinLists } from './declarations/page-lists.ts';
import type { LocalPath } from './declarations/path-patterns.ts';

/** The texts about the last action, by page and then by name. The types let a form redirect only to a page that has the named text. */
const news = joinLists('news');
const textsByPage: Readonly<Record<LocalPath, Readonly<Record<string, string>>>> = news;

/** The pages that have texts about the last action. */
export type PageWithNews = keyof typeof news;

/** The names of a page's texts. */
export type NewsOf<Pattern> = Pattern extends PageWithNews ? keyof (typeof news)[Pattern] : never;

/**
 * The text about the last action; null for an unknown name, and for a page without such texts. The address contains only a name, so nobody
 * can make a page show a text of their own.
 */
export function findNews(page: LocalPath, done: string | undefined): string | null {
  const texts = textsByPage[page] ?? {};
  return done !== undefined && Object.hasOwn(texts, done) ? (texts[done] ?? null) : null;
}
