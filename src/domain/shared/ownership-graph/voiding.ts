import { type SqlBool, sql } from 'kysely';
import type { Row } from './declaration.ts';

/**
 * How a transfer voids grants: permanently, even if the thing returns to its earlier owners. The row keeps the grant, with the time in
 * `voidSince`; a new grant clears that time.
 */
export const voidOnTransfer = {
  rows: 'ended',
  at: 'voidSince',
  when: (row: Row<'voidSince'>) => sql<SqlBool>`${row('voidSince')} is null`,
  withOwner: true,
} as const;
