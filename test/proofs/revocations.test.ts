import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRandom } from '#test/faults/harness/random.ts';
import { type Pair, Revocations, revocations } from './revocations.ts';

/** 10,000 pairs by `npm run test:proofs`; a few of each kind otherwise. */
const isAll = process.env['PROOFS'] === 'all';
const kinds = Object.entries(revocations);
const pairsOfEach = isAll ? Math.ceil(10_000 / kinds.length) : 15;
const atOnce = 6;
/** Milliseconds; what a request takes, so that either may come first. */
const spread = 12;

let scene: Revocations;
beforeAll(async () => {
  scene = await Revocations.open();
});
afterAll(() => scene?.close());

describe('an authority that is taken away', () => {
  it.each(kinds)(
    'holds no longer on the very next request, nor for a command that is committed later: %s',
    async (name, revocation) => {
      const random = openRandom(pairsOfEach, name);
      const pairs: Pair[] = [];
      const work = async () => {
        while (pairs.length < pairsOfEach) pairs.push(await scene.race(revocation, random.between(-spread, spread)));
      };
      await Promise.all(Array.from({ length: atOnce }, work));
      expect(statuses(pairs.map(({ revoked }) => revoked)).filter(isFailure)).toEqual([]);
      expect(statuses(pairs.map(({ after }) => after)).filter((status) => !isRefusal(status))).toEqual([]);
      const raced = statuses(pairs.map(({ raced: answer }) => answer));
      expect(raced.filter((status) => status !== 201 && !isRefusal(status))).toEqual([]);
      expect(await scene.countLate(pairs)).toBe(0);
      if (isAll)
        console.log(`${name}: ${pairs.length} pairs, ${raced.filter((each) => each === 201).length} uses came first`);
    },
    isAll ? 1_800_000 : 60_000,
  );
});

const statuses = (answers: readonly { status: number }[]) => answers.map(({ status }) => status);
const isFailure = (status: number) => status >= 300;
const isRefusal = (status: number) => [401, 403, 404].includes(status);
