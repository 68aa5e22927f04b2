import { findConfirmation } from '../confirmations.ts';
import type { Html } from '../html.ts';
import type { LocalPath } from '../paths.ts';
import type { Visit } from '../visit/visit.ts';
import { renderStatus } from './alerts.ts';

/** The text about the last action, if the address of the page names one. */
export function renderConfirmation(visit: Pick<Visit, 'query'>, page: LocalPath): Html | null {
  const text = findConfirmation(page, visit.query('done'));
  return text === null ? null : renderStatus(text);
}
