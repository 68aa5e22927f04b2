import type { Em } from '#database/database.ts';
import type { RetentionKind } from './document.ts';
import { readSettings } from './store.ts';

/**
 * The number of days for which something is kept; null: forever.
 * @param otherwise the value of the installation's configuration, which applies unless the settings have one
 */
export async function readRetentionDays(em: Em, kind: RetentionKind, otherwise: number | null): Promise<number | null> {
  const set = (await readSettings(em)).document.retention?.[kind];
  if (set === undefined) return otherwise;
  return set === 'forever' ? null : set;
}
