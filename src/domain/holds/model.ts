import { z } from 'zod';
import { type Principal, referenceTo } from '#domain/shared/access/principal.ts';
import { invalidField } from '#domain/shared/errors.ts';
import { TimeInput } from '#domain/shared/values/times.ts';
import type { StoredHold } from '#domain/shared/vocabulary/holds.ts';

/**
 * Holds keep applies from starting: the lock of an environment, its freeze windows, and a pause of the whole installation. Runs are still
 * admitted, planned and reviewed.
 */

/** A new lock or pause. */
export const NewHold = z.strictObject({
  reason: z.string().trim().min(1).max(1000).describe('Runs that wait show it.'),
  until: TimeInput.nullable().optional().describe('When it ends by itself.'),
});
export type NewHold = z.output<typeof NewHold>;

/** @throws Invalid if it would end in the past */
export function toHold({ reason, until = null }: NewHold, by: Principal, now = new Date()): StoredHold {
  const end = until === null ? null : new Date(until);
  if (end && end <= now) throw invalidField('until', 'expected a time in the future, or none');
  return { reason, since: now.toISOString(), until: end?.toISOString() ?? null, by: referenceTo(by) };
}

/** The hold, unless its time is over. */
export function activeHold(hold: StoredHold | null, now: Date): StoredHold | null {
  return hold && (hold.until === null || Date.parse(hold.until) > now.getTime()) ? hold : null;
}
