import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Caller } from '#test/support/api/caller.ts';
import { type System, startSystem } from '#test/support/system.ts';
import { commands, publish, runToEnd } from '#test/support/templates.ts';

let system: System;
let maintainer: Caller;
let other: Caller;
beforeAll(async () => {
  system = await startSystem();
  [maintainer, other] = await Promise.all([addMaintainer('mia'), addMaintainer('max')]);
});
afterAll(() => system.close());

async function addMaintainer(name: string): Promise<Caller> {
  const password = `a secret of ${name} alone`;
  const email = `${name}@example.com`;
  const added = await system.administrator.post('/users', { email, name, role: 'maintainer', password });
  expect(added.status, added.text).toBe(201);
  return Caller.signIn(system.url, email, password);
}

describe('a template of the whole installation', () => {
  it('can be created, changed and published only by administrators', async () => {
    const id = await publish(system.administrator, 'shared', commands({ apply: 'true' }));
    const path = `/registry/templates/${id}`;
    const version = {
      version: '1.0.1',
      spec: { executor: { kind: 'command', apply: [{ name: 'a', run: ['true'] }] } },
    };
    const requests = [
      maintainer.post('/registry/templates', { name: 'Mine for everybody' }),
      maintainer.send('PATCH', path, { name: 'Renamed' }),
      maintainer.post(`${path}/versions`, version),
      maintainer.post(`${path}/versions/1.0.0/yank`),
      maintainer.post(`${path}/archive`),
    ];
    for (const answer of await Promise.all(requests)) {
      expect([answer.status, answer.body.error]).toEqual([403, expect.stringContaining('is for administrators')]);
    }
    expect((await maintainer.get(path)).body).toMatchObject({ name: 'shared', archived_at: null });
    expect((await system.administrator.post(`${path}/versions`, version)).status).toBe(201);
  });
});

describe('the state of an instance of the whole installation', () => {
  it('can be downloaded by administrators, and by a user who is the only one to have run it', async () => {
    const template = await publish(system.administrator, 'stateful', commands({ apply: 'echo "{}" > state.json' }));
    const run = await runToEnd(maintainer, { template_id: template, instance: `mine-${randomUUID().slice(0, 8)}` });
    const path = `/instances/${run.instance_id}/state-versions/1/download`;
    expect((await maintainer.get(path)).status).toBe(200);
    expect((await system.administrator.get(path)).status).toBe(200);
    const refused = await other.get(path);
    expect([refused.status, refused.body.error]).toEqual([403, expect.stringContaining('is for administrators')]);
    await runToEnd(other, { template_id: template, instance: run.instance, operation: 'plan' });
    expect((await other.get(path)).status).toBe(403);
    expect((await other.post(`/instances/${run.instance_id}/unlock`)).status).toBe(403);
  });
});
