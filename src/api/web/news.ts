import { joinLists } from './declarations/page-lists.ts';

/** What a page says about the last action. A form leads to a page with a word of that page, or it does not compile. */
const news = joinLists('news');

/** The pages that say something about the last action. */
export type PageWithNews = keyof typeof news;

/** The words that a page knows. */
export type NewsOf<Pattern> = Pattern extends PageWithNews ? keyof (typeof news)[Pattern] : never;

/** What a page says about the last action. A word that it does not know says nothing, so an address can make a page say nothing else. */
export function findNews(page: PageWithNews, done: string | undefined): string | null {
  const texts: Readonly<Record<string, string>> = news[page];
  return done !== undefined && Object.hasOwn(texts, done) ? (texts[done] ?? null) : null;
}
