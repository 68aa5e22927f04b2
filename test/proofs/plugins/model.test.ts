import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRandom } from '#test/faults/harness/random.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { carryOutRestorations, noRoots } from '#test/support/plugins/restoring.ts';
import { readSeed } from '#test/support/seed.ts';
import { mayContinue, narrowCeiling } from './model/unexercised.ts';
import { required } from './required.ts';
import { deck } from './steps/deck.ts';
import { expectSame, type StepWorld } from './steps/step.ts';
import { makeWorld } from './world.ts';

/** 100,000 steps by `npm run test:proofs`, fewer by `npm test`. */
const count = Number(process.env['PROOFS_STEPS'] ?? (process.env['PROOFS'] === 'all' ? 100_000 : 700));
const seed = readSeed('PROOFS_SEED', 16);

let api: TestApi;
let engine: { stop(): Promise<void> };
let world: StepWorld;

beforeAll(async () => {
  api = await startApi({ COORDINATOR_REQUESTS_PER_PRINCIPAL: '0', COORDINATOR_REQUESTS_PER_ADDRESS: '0' });
  const { orm, transactions, installation } = api.services;
  engine = carryOutRestorations({ orm, transactions, bindingKey: installation.bindingKey, pluginRoots: noRoots });
  world = await makeWorld(api, seed);
});
afterAll(async () => {
  await engine?.stop();
  await api?.close();
});

/** Compares every assignment that was ever made, on all pages of the list. */
async function compareAssignments({ model, root }: StepWorld): Promise<void> {
  const expected = new Map(model.grants.map((grant) => [grant.id, grant]));
  let cursor: string | null = '';
  while (cursor !== null) {
    const page = await root.read(`/plugin-action-grants?limit=200${cursor && `&cursor=${cursor}`}`);
    for (const { id, in_force: isInForce, ended } of page.grants) {
      expectSame(`whether ${id} is in force (${ended?.message})`, isInForce, expected.get(id)?.isAlive);
      expected.delete(id);
    }
    cursor = page.next_cursor;
  }
  expect([...expected.keys()]).toEqual([]);
}

describe('the model of plugin authority', () => {
  it(`agrees with the service over ${count} steps (seed ${seed})`, { timeout: 14_400_000 }, async () => {
    for (let taken = 0; taken < count; ) {
      for (const step of world.random.shuffle(deck)) {
        await step(world).catch((error: unknown) => {
          throw new Error(`step ${taken}, ${step.name}, seed ${seed}`, { cause: error });
        });
        taken += 1;
      }
      if (taken % 5000 === 0) await compareAssignments(world);
    }
    await compareAssignments(world);
    console.log(world.tally.describe());
    // The rules both allowed and refused every kind of step, subject and place. A short run need only have met each of them.
    const isLong = count >= 5000;
    expect(world.tally.findRare(required, isLong ? count / 5000 : 1, isLong ? 'each' : 'allowed')).toEqual([]);
  });

  it('lets an admitted data operation finish after its permission was removed, and admits no new one', () => {
    expect(mayContinue({ isAdmitted: true }, false)).toBe(true);
    expect(mayContinue({ isAdmitted: false }, false)).toBe(false);
    expect(mayContinue({ isAdmitted: false }, true)).toBe(true);
  });

  it('lets a child invocation narrow the ceiling of its parent, and not widen it', () => {
    const random = openRandom(seed, 'ceilings');
    const actions = Array.from({ length: 12 }, (_, index) => `action.${index}`);
    for (let round = 0; round < 1000; round += 1) {
      const draw = () => actions.filter(() => random.whole(0, 1) === 1);
      const [parent, child, grandchild] = [draw(), draw(), draw()];
      const narrowed = narrowCeiling(parent, child);
      expect(narrowed.every((action) => parent.includes(action))).toBe(true);
      expect(narrowCeiling(narrowed, grandchild).every((action) => narrowed.includes(action))).toBe(true);
      expect(narrowCeiling(parent, parent)).toEqual(parent);
    }
  });
});
