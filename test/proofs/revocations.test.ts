import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRandom } from '#test/faults/harness/random.ts';
import { type Pair, Revocations, revocations } from './revocations.ts';

/** `npm run test:proofs` runs 10,000 pairs, and `npm test` a few of each kind. */
const isAll = process.env['PROOFS'] === 'all';
const kinds = Object.entries(revocations);
const pairsOfEach = isAll ? Math.ceil(10_000 / kinds.length) : 10;
const concurrency = 6;
/** In milliseconds. About the duration of a request, so that either request may come first. */
const spread = 12;

let scene: Revocations;
beforeAll(async () => {
  scene = await Revocations.open();
});
afterAll(() => scene?.close());

describe('a revoked authority', () => {
  it.each(kinds)(
    'is refused on the next request, and no command that relies on it is committed later: %s',
    async (name, revocation) => {
      const random = openRandom(pairsOfEach, name);
      const pairs: Pair[] = [];
      const work = async () => {
        while (pairs.length < pairsOfEach) pairs.push(await scene.race(revocation, random.between(-spread, spread)));
      };
      await Promise.all(Array.from({ length: concurrency }, work));
      expect(statuses(pairs.map(({ revoked }) => revoked)).filter(isFailure)).toEqual([]);
      expect(statuses(pairs.map(({ after }) => after)).filter((status) => !isRefusal(status))).toEqual([]);
      const raced = statuses(pairs.map(({ raced: answer }) => answer));
      expect(raced.filter((status) => status !== 201 && !isRefusal(status))).toEqual([]);
      expect(await scene.countLate(pairs)).toBe(0);
      if (isAll)
        console.log(
          `${name}: ${pairs.length} pairs, ${raced.filter((each) => each === 201).length} uses came before their revocation`,
        );
    },
    isAll ? 1_800_000 : 120_000,
  );
});

const statuses = (answers: readonly { status: number }[]) => answers.map(({ status }) => status);
const isFailure = (status: number) => status >= 300;
const isRefusal = (status: number) => [401, 403, 404].includes(status);
