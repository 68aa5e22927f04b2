import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { listProcesses } from '#test/support/programs/start.ts';
import { readSeed } from '#test/support/seed.ts';
import { type Installation, openInstallation } from './harness/installation.ts';
import { openRandom } from './harness/random.ts';
import { examineHostileTemplate } from './hostile/examination.ts';
import { findLeaks } from './hostile/leaks.ts';
import { describeHostileTemplates, type HostileTemplate, secret } from './hostile/templates.ts';

/** How many megabytes the template that prints endlessly prints. The log limit is 100 MiB. The long run prints 200 MB. */
const flood = 120;
const flooding = 'prints endlessly';
const nowhere = { postgres: { address: 'postgres://nowhere:1' }, temporal: { address: 'nowhere:1' } };
const names = Object.keys(describeHostileTemplates({ directory: '/nowhere', ...nowhere }, flood));

/**
 * `npm run test:faults -- --only hostile` runs every template. `npm test` runs a few random ones, and all that leak a secret, of which the last
 * tests look for traces. The title of the tests contains their seed (`HOSTILE_SEED`).
 */
const seed = readSeed('HOSTILE_SEED');
const some = 5;
const [leaking, others] = [names.filter(leaks), names.filter((name) => name !== flooding && !leaks(name))];
const chosen = [...openRandom(seed, 'hostile').shuffle(others).slice(0, some), ...leaking];

function leaks(name: string): boolean {
  return name.startsWith('leaks its ');
}

let installation: Installation;
let templates: Record<string, HostileTemplate>;
beforeAll(async () => {
  installation = await openInstallation({ processes: 1, cache: join(inject('scratchDirectory'), 'cache') });
  templates = describeHostileTemplates(installation, flood);
});
afterAll(() => installation?.close(false));

async function expectHarmless(name: string): Promise<void> {
  const { violations } = await examineHostileTemplate(installation, name, templates[name] as HostileTemplate);
  expect(violations).toEqual([]);
  expect(listProcesses().filter(({ command }) => command.includes('sleep 717171'))).toEqual([]);
}

describe(`a hostile template (seed ${seed})`, () => {
  it.for(chosen)('a hostile template that %s does no harm', expectHarmless);

  it('a hostile template that leaks its secret does not get it into any table, history or log', async () => {
    expect(await findLeaks(installation, secret)).toEqual([]);
  });

  it('a hostile template that leaks its secret into a table or a history would be detected', async () => {
    const payload = JSON.stringify({ kind: 'signal', signal: `it is ${secret}` });
    const due = `now(), now() + interval '1 hour'`;
    await installation.query(`insert into outbox (target, payload, created_at, due_at) values ('x', $1, ${due})`, [
      payload,
    ]);
    await installation.askEngine(({ workflow }) =>
      workflow.start('nobody', { workflowId: 'leak', taskQueue: 'nobody', args: [{ deep: [secret] }] }),
    );
    const leaks = ['the table outbox', 'the history of leak'];
    await expect.poll(() => findLeaks(installation, secret), { timeout: 100_000, interval: 1_000 }).toEqual(leaks);
    await installation.query(`delete from outbox where target = 'x'`);
  });

  it(`a hostile template that ${flooding} does no harm`, () => expectHarmless(flooding));
});
