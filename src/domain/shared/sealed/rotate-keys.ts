import { setTimeout as wait } from 'node:timers/promises';
import type { Orm } from '#database/database.ts';
import type { KeyRing } from '../secrets.ts';
import type { SealedColumn } from './sealed-column.ts';
import { countOldSeals, lockOldSeals, type SealedRow, writeSeal } from './sealed-rows-store.ts';

/** The result of a rotation for one column. */
export interface RotatedColumn {
  readonly table: string;
  readonly column: string;
  /** The number of values that were sealed with the first key. */
  readonly sealed: number;
  /** The number of values that no key of the ring can open. They stay unchanged. */
  readonly unreadable: number;
  /** The number of values that still need an old key, including the unreadable ones. */
  readonly left: number;
}

const rowsAtOnce = 100;
const largeRowsAtOnce = 2;
/** The maximum number of passes. Rows that are locked at every pass are reported as left. */
const maxPasses = 20;
const pauseMs = 250;

interface Rotation {
  readonly orm: Orm;
  readonly keyRing: KeyRing;
}

/**
 * Seals every value of a column with the first key of the ring if another key has sealed it. It works in small transactions and waits for
 * no lock, so the service can keep running. It can be stopped and started again at any time.
 */
export async function rotateColumn(rotation: Rotation, declaration: SealedColumn): Promise<RotatedColumn> {
  const { table, column } = declaration;
  let sealed = 0;
  for (let pass = 1; ; pass++) {
    const done = await passOver(rotation, declaration);
    sealed += done.sealed;
    const left = await countOld(rotation, declaration);
    if (left <= done.unreadable || pass === maxPasses)
      return { table, column, sealed, unreadable: done.unreadable, left };
    await wait(pauseMs);
  }
}

/** How many values of a column need another key than the first of the ring. */
export function countOld({ orm, keyRing }: Rotation, declaration: SealedColumn): Promise<number> {
  return countOldSeals(orm.em.fork(), declaration, keyRing.header);
}

async function passOver(
  { orm, keyRing }: Rotation,
  declaration: SealedColumn,
): Promise<{ sealed: number; unreadable: number }> {
  const { header } = keyRing;
  const limit = declaration.isLarge ? largeRowsAtOnce : rowsAtOnce;
  let [sealed, unreadable] = [0, 0];
  let after: SealedRow | undefined;
  for (;;) {
    const rows = await orm.em.fork().transactional(async (em) => {
      const found = await lockOldSeals(em, declaration, { header, after, limit });
      for (const row of found) {
        const renewed = sealAnew(keyRing, declaration, row);
        if (renewed === null) unreadable += 1;
        else await writeSeal(em, declaration, row, renewed);
        if (renewed !== null) sealed += 1;
      }
      return found;
    });
    after = rows.at(-1);
    if (after === undefined) return { sealed, unreadable };
  }
}

/** The value sealed by the first key; null if no key of the ring can open it. */
function sealAnew(keyRing: KeyRing, { column, context }: SealedColumn, row: SealedRow): Buffer | null {
  const of = context(row);
  let opened: Buffer;
  try {
    opened = keyRing.open(of, row[column] as Uint8Array);
  } catch {
    // The caller counts and reports such values.
    return null;
  }
  return keyRing.seal(of, opened);
}
