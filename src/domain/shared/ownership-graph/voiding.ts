import { type SqlBool, sql } from 'kysely';
import type { Ownership } from '../access/decide.ts';
import type { Row } from './declaration.ts';

/**
 * How what was granted ends with a transfer: for good, also if the thing comes back to its former owners. The row keeps what was granted, with the time in
 * `void_since`; granting it anew clears that.
 */
export const voidOnTransfer = {
  rows: 'ended',
  at: 'void_since',
  when: (row: Row<'void_since'>) => sql<SqlBool>`${row('void_since')} is null`,
  withOwner: true,
} as const;

/** For which owners of a thing something was granted, and when a transfer ended it. */
export interface Grant {
  readonly savedFor: Ownership;
  /** Null: no transfer did. */
  readonly voidSince: string | null;
}

/** Whether a grant counts while a thing has these owners. */
export function isInForce({ savedFor, voidSince }: Grant, { teamId, organizationId }: Ownership): boolean {
  return voidSince === null && savedFor.teamId === teamId && savedFor.organizationId === organizationId;
}
