import type { Em, Orm } from '#database/database.ts';
import { readHorizon } from '../store.ts';
import { computeSeal } from './seal.ts';
import { digestRecords, findNextEnd, firstPosition, insertSeal, lockChain, readLastSeal } from './store.ts';

const maxRecords = 10_000;
/** A margin for transactions that have set the time of a record but do not have an id yet. */
const marginSeconds = 5;

/**
 * Seals all records before the time at which transactions can still add some, and returns how many. Several processes may do it at once:
 * one of them seals, and the others have nothing to do. `max` limits the records of one seal.
 */
export async function sealRecords(
  orm: Orm,
  key: Buffer,
  { max = maxRecords, margin = marginSeconds } = {},
): Promise<number> {
  let total = 0;
  for (;;) {
    const records = await orm.em.fork().transactional((em) => sealNext(em, key, max, margin));
    total += records;
    if (records === 0) return total;
  }
}

async function sealNext(em: Em, key: Buffer, max: number, margin: number): Promise<number> {
  if (!(await lockChain(em))) return 0;
  const last = await readLastSeal(em);
  const after = last?.until ?? firstPosition;
  const { settled } = await readHorizon(em, margin);
  const until = await findNextEnd(em, after, settled, max);
  if (until === undefined) return 0;
  const covered = { position: (last?.position ?? 0) + 1, until, ...(await digestRecords(em, { after, until })) };
  await insertSeal(em, { ...covered, seal: computeSeal(key, last?.seal ?? null, covered) });
  return covered.records;
}
