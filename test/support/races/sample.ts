import { openRandom } from '#test/faults/harness/random.ts';
import { readSeed } from '#test/support/seed.ts';
import { type Order, orders } from './race.ts';

const isAll = process.env['PROOFS'] === 'all';
/** The seed of the sample, for the titles of tests. `PROOFS_SEED` repeats it. */
export const seed = readSeed('PROOFS_SEED');
const some = 4;

/** Every rival in every order for `npm run test:proofs`, and a few random ones for `npm test`. @param use makes another sample of each */
export function raced<Rival extends string>(rivals: readonly Rival[], use: string): (readonly [Rival, Order])[] {
  const all = rivals.flatMap((rival) => orders.map((order) => [rival, order] as const));
  return isAll ? all : openRandom(seed, use).shuffle(all).slice(0, some);
}
