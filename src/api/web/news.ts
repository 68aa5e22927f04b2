import { joinLists } from './declarations/page-lists.ts';

/** The texts about the last action, by page and then by name. The types let a form redirect only to a page that has the named text. */
const news = joinLists('news');

/** The pages that have texts about the last action. */
export type PageWithNews = keyof typeof news;

/** The names of a page's texts. */
export type NewsOf<Pattern> = Pattern extends PageWithNews ? keyof (typeof news)[Pattern] : never;

/**
 * The text about the last action; null for an unknown name. The address contains only a name, so nobody can make a page show a text of
 * their own.
 */
export function findNews(page: PageWithNews, done: string | undefined): string | null {
  const texts: Readonly<Record<string, string>> = news[page];
  return done !== undefined && Object.hasOwn(texts, done) ? (texts[done] ?? null) : null;
}
