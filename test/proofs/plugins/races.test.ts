import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRandom, type Random } from '#test/faults/harness/random.ts';
import { addPerson, type Person } from '#test/support/access/people.ts';
import type { ApiProcess } from '#test/support/api/api-process.ts';
import { Caller } from '#test/support/api/caller.ts';
import { startApi, type TestApi } from '#test/support/api/http-api.ts';
import {
  PluginAdministrator,
  type PluginAnswer,
  type PluginClient,
  sendCommand,
} from '#test/support/plugins/plugin-world.ts';
import { stageFor } from '#test/support/plugins/stage.ts';
import { type MemberStage, type Transition, transitions } from '#test/support/plugins/transitions.ts';
import { readSeed } from '#test/support/seed.ts';
import { startProcess } from '../processes.ts';

/** How often each transition runs at the same time as uses and an assignment at the other process. */
const rounds = process.env['PROOFS'] === 'all' ? 100 : 2;
const seed = readSeed('PROOFS_SEED', 16);
const unlimited = { COORDINATOR_REQUESTS_PER_PRINCIPAL: '0', COORDINATOR_REQUESTS_PER_ADDRESS: '0' };

let api: TestApi;
let other: ApiProcess;
let root: Person;
beforeAll(async () => {
  api = await startApi(unlimited);
  other = await startProcess(api.config);
  root = await addPerson(api, 'admin');
});
afterAll(async () => {
  await other?.stop();
  await api?.close();
});

/** The answer to a question, and the time at which the question was sent. */
interface Asked {
  readonly sentAt: number;
  readonly isAllowed: boolean;
}

const isAllowed = ({ status, body }: PluginAnswer) => status === 200 && body.allowed === true;

/** Asks without a pause until `stop` is aborted. */
async function askOn(ask: () => Promise<PluginAnswer>, stop: AbortSignal): Promise<Asked[]> {
  const asked: Asked[] = [];
  while (!stop.aborted) {
    const sentAt = performance.now();
    asked.push({ sentAt, isAllowed: isAllowed(await ask()) });
  }
  return asked;
}

async function stageMember(owner: 'team' | 'organization'): Promise<{ stage: MemberStage; atOther: PluginClient }> {
  const staged = await stageFor(api.orm, new PluginAdministrator(root.caller), owner);
  const { team, organization, sync } = staged;
  const roles = { teams: { [team]: 'member' }, organizations: { [organization]: 'member' } } as const;
  const member = await addPerson(api, 'requester', roles);
  const selector = { type: 'team', id: team } as const;
  const grant = await staged.root.assign(sync, { type: 'user', id: member.id }, selector);
  return {
    stage: { ...staged, member, selector, grant },
    atOther: new Caller(other.url, { 'x-api-key': member.key }),
  };
}

/** Lets a transition at one process meet uses, and an assignment, at another. */
async function meet({ owner = 'organization', prepare, change, restore }: Transition, random: Random) {
  const { stage, atOther } = await stageMember(owner);
  const { sync, selector, environment, member } = stage;
  await prepare?.(stage);
  const place = { type: 'environment', id: environment };
  const body = await stage.root.assignmentOf(sync, { type: 'user', id: member.id }, place);
  const ask = (where: object) => atOther.send('POST', `/plugin-actions/${sync}/check`, { selector: where });
  const stop = new AbortController();
  // However slow the machine is, one use comes before the change.
  const first = { sentAt: performance.now(), isAllowed: isAllowed(await ask(selector)) };
  const asking = askOn(() => ask(selector), stop.signal);
  const rootAtOther = new Caller(other.url, { 'x-api-key': root.key });
  const assigning = sleep(random.between(20, 60)).then(() =>
    sendCommand(rootAtOther, ['POST', '/plugin-action-grants'], body),
  );
  await sleep(random.between(20, 60));
  await change(stage);
  const changedAt = performance.now();
  const assigned = await assigning;
  await sleep(20);
  stop.abort();
  const asked = [first, ...(await asking)];
  const uses = [selector, place];
  const after = await Promise.all(uses.map(async (where) => isAllowed(await ask(where))));
  await restore?.(stage);
  const restored = await Promise.all(uses.map(async (where) => isAllowed(await ask(where))));
  return { asked, changedAt, assigned, after, restored };
}

describe(`a change that ends an assignment (seed ${seed})`, () => {
  it.each(Object.entries(transitions))(
    'ends it at every process at once, even one that is created meanwhile, permanently: %s',
    { timeout: 600_000 },
    async (name, transition) => {
      const random = openRandom(seed, name);
      let before = 0;
      for (let round = 0; round < rounds; round += 1) {
        const { asked, changedAt, assigned, after, restored } = await meet(transition, random);
        before += asked.filter((each) => each.isAllowed).length;
        expect(asked.filter((each) => each.sentAt > changedAt && each.isAllowed)).toEqual([]);
        expect([201, 400, 401, 404, 409], assigned.text).toContain(assigned.status);
        // A revocation ends one assignment, and no other.
        const isOther = name === 'its revocation' && assigned.status === 201;
        expect([after, restored]).toEqual([
          [false, isOther],
          [false, isOther],
        ]);
      }
      expect(before).toBeGreaterThan(0);
    },
  );
});
