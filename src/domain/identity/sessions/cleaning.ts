import type { Em } from '#database/database.ts';
import { deleteOldConfirmations } from '../email-confirmations/store.ts';
import { deleteOldPasswordResets } from '../passwords/store.ts';
import { deleteOldSessions } from './store.ts';

/** How long expired sessions are kept: long enough to find out, after an incident, where a session was opened from. */
const retentionDays = 7;
const batchSize = 1_000;

/**
 * Deletes sessions, password reset links and tokens for addresses that expired a week ago; the audit has its own records of them. Sessions
 * are deleted in batches, so that no transaction locks many rows. Returns how many sessions were deleted.
 */
export async function removeOldSessions(em: Em): Promise<number> {
  await deleteOldPasswordResets(em, retentionDays);
  await deleteOldConfirmations(em, retentionDays);
  for (let removed = 0; ; ) {
    const count = await deleteOldSessions(em, retentionDays, batchSize);
    removed += count;
    if (count < batchSize) return removed;
  }
}
