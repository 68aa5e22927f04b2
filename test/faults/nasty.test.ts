import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listProcesses } from '#test/support/start.ts';
import { examineNasty } from './harness/examination.ts';
import { type Installation, openInstallation } from './harness/installation.ts';
import { findLeaks } from './harness/leaks.ts';
import { describeNasties, type Nasty, secret } from './nasty.ts';

/** Megabytes that the loudest template prints, where 100 MiB are kept. The long run prints 200. */
const flood = 120;
const loudest = 'prints without end';
const nowhere = { postgres: { address: 'postgres://nowhere:1' }, temporal: { address: 'nowhere:1' } };
const names = Object.keys(describeNasties({ directory: '/nowhere', ...nowhere }, flood));

let installation: Installation;
let nasties: Record<string, Nasty>;
beforeAll(async () => {
  installation = await openInstallation();
  nasties = describeNasties(installation, flood);
});
afterAll(() => installation?.close(false));

async function expectHarmless(name: string): Promise<void> {
  const { faults } = await examineNasty(installation, name, nasties[name] as Nasty);
  expect(faults).toEqual([]);
  expect(listProcesses().filter(({ command }) => command.includes('sleep 717171'))).toEqual([]);
}

describe('a template', () => {
  it.for(names.filter((name) => name !== loudest))('that %s does no harm', expectHarmless);

  it('that betrays its secret is not believed: it is in no table, no history and no log', async () => {
    expect(await findLeaks(installation, secret)).toEqual([]);
  });

  it('would be found to have betrayed it in a table or a history', async () => {
    const payload = JSON.stringify({ kind: 'signal', signal: `it is ${secret}` });
    const due = `now(), now() + interval '1 hour'`;
    await installation.query(`insert into outbox (target, payload, created_at, due_at) values ('x', $1, ${due})`, [
      payload,
    ]);
    await installation.askEngine(({ workflow }) =>
      workflow.start('nobody', { workflowId: 'leak', taskQueue: 'nobody', args: [{ deep: [secret] }] }),
    );
    const leaks = ['the table outbox', 'the history of leak'];
    await expect.poll(() => findLeaks(installation, secret), { timeout: 20_000, interval: 1_000 }).toEqual(leaks);
    await installation.query(`delete from outbox where target = 'x'`);
  });

  it(`that ${loudest} does no harm`, () => expectHarmless(loudest));
});
