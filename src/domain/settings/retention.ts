import type { Em } from '#database/database.ts';
import type { RetentionKind } from './document.ts';
import { readSettings } from './store.ts';

/**
 * The days for which something is kept; null: for good.
 * @param otherwise what the configuration of the installation says, which holds unless the settings say something else
 */
export async function readRetentionDays(em: Em, kind: RetentionKind, otherwise: number | null): Promise<number | null> {
  const set = (await readSettings(em)).document.retention?.[kind];
  if (set === undefined) return otherwise;
  return set === 'forever' ? null : set;
}
