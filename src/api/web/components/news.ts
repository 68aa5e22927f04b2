import type { Html } from '../html.ts';
import { findNews } from '../news.ts';
import type { LocalPath } from '../paths.ts';
import type { Visit } from '../visit/visit.ts';
import { renderStatus } from './alerts.ts';

/** The text about the last action, if the address of the page names one. */
export function renderNews(visit: Pick<Visit, 'query'>, page: LocalPath): Html | null {
  const text = findNews(page, visit.query('done'));
  return text === null ? null : renderStatus(text);
}
