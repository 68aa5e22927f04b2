import { renderStatus } from '../forms/fields.ts';
import type { Html } from '../html.ts';

/**
 * The result of the last action, which a redirect named by a word in the address (`done=saved`). A word that the page does not know shows
 * nothing, so an address can make a page say nothing else.
 */
export function renderNews(done: string | undefined, texts: Readonly<Record<string, string>>): Html | null {
  return done !== undefined && Object.hasOwn(texts, done) ? renderStatus(texts[done] ?? '') : null;
}
