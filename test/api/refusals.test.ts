import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi, type TestApi } from '#test/support/in-process-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(async () => {
  await api?.close();
});

describe('a refusal', () => {
  it('leaves a row of its own, whether the decision refused or a rule of the operation', async () => {
    const user = await api.addUser('requester');
    expect((await user.get('/users')).status).toBe(403);
    expect((await user.put(`/users/${user.id}`, { role: 'admin' })).status).toBe(403);
    const rows = await api.rows(`select action, outcome from audit_records where actor_id = '${user.id}' order by at`);
    expect(rows).toMatchObject([{ outcome: 'refused' }, { action: 'user.updated', outcome: 'refused' }]);
  });

  it('never waits for a second connection while it holds one', async () => {
    const user = await api.addUser('requester');
    const attempts = Array.from({ length: 60 }, () => user.put(`/users/${user.id}`, { role: 'admin' }));
    const answers = await Promise.all(attempts);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([403]));
  });
});
