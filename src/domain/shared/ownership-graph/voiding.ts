import { type SqlBool, sql } from 'kysely';
import type { Row } from './declaration.ts';

/**
 * How what was granted ends with a transfer: for good, also if the thing comes back to its former owners. The row keeps what was granted, with the time in
 * `voidSince`; granting it anew clears that.
 */
export const voidOnTransfer = {
  rows: 'ended',
  at: 'voidSince',
  when: (row: Row<'voidSince'>) => sql<SqlBool>`${row('voidSince')} is null`,
  withOwner: true,
} as const;
