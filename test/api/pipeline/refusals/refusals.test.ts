import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { generateApiKey } from '#domain/identity/api-keys/api-keys.ts';
import { anonymous } from '#domain/shared/access/principal.ts';
import { RefusalLog } from '#domain/shared/commands/refusals.ts';
import { newId } from '#domain/shared/ids.ts';
import { addTeam } from '#test/support/access/people.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(async () => {
  await api?.close();
});

describe('a refusal', () => {
  it('is audited, whether it comes from the authorization or from a rule of the operation', async () => {
    const user = await api.addUser('requester');
    expect((await user.get('/users')).status).toBe(403);
    expect((await user.put(`/users/${user.id}`, { role: 'admin' })).status).toBe(403);
    const rows = await api.rows(`select action, outcome from audit_records where actor_id = '${user.id}' order by at`);
    expect(rows).toMatchObject([{ outcome: 'refused' }, { action: 'user.updated', outcome: 'refused' }]);
  });

  it('does not wait for a second connection while it holds one', async () => {
    const user = await api.addUser('requester');
    const attempts = Array.from({ length: 60 }, () => user.put(`/users/${user.id}`, { role: 'admin' }));
    const answers = await Promise.all(attempts);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([403]));
  });
});

describe('the command of a caller who was refused a moment ago', () => {
  it('does not wait for locked rows of other tenants, and cannot lock them', async () => {
    const { organizationId } = await addTeam(api.services.orm);
    const stranger = await api.addUser('maintainer');
    const change = () => stranger.patch(`/organizations/${organizationId}`, { name: 'Mine' });
    expect((await change()).status).toBe(404);
    const holder = api.services.orm.em.fork();
    await holder.begin();
    try {
      await holder.execute('select id from organizations where id = ? for update', [organizationId]);
      expect((await change()).status).toBe(404);
    } finally {
      await holder.rollback();
    }
  });
});

describe('the audit record of a refusal', () => {
  const find = (condition: string, params: unknown[] = []) =>
    api.rows<{ action: string; actor_name: string; credential_type: string; address: string; after: object }>(
      `select action, actor_name, credential_type, address, after from audit_records
        where outcome = 'refused' and ${condition}`,
      params,
    );

  it('names the account and never the password after a failed sign-in', async () => {
    const user = await api.addUser('requester');
    const password = 'not the right one';
    await expect(api.signIn(user, password)).rejects.toThrow();
    const rows = await find(`after ->> 'account' = ?`, [user.email]);
    expect(rows).toMatchObject([{ action: 'session.opened', actor_name: 'anonymous', address: '127.0.0.1' }]);
    expect(JSON.stringify(rows)).not.toContain(password);
  });

  it('has the address for an invalid credential, and does not exist for a missing or malformed one', async () => {
    const before = (await find('true')).length;
    expect((await api.nobody.get('/runs')).status).toBe(401);
    const typo = { 'x-api-key': `dc_${'a'.repeat(49)}` };
    expect((await api.nobody.send('GET', '/runs', undefined, typo)).status).toBe(401);
    expect(await find('true')).toHaveLength(before);
    const key = generateApiKey();
    const answer = await api.nobody.send('GET', '/runs', undefined, { 'x-api-key': key });
    expect(answer.status).toBe(401);
    const rows = await find('request_id = ?', [answer.headers['x-request-id']]);
    expect(rows).toMatchObject([{ action: 'runs.list', actor_name: 'anonymous', credential_type: 'system' }]);
    expect(JSON.stringify(rows)).not.toContain(key);
  });
});

describe('the log of refusals', () => {
  const entry = { action: 'test.refused', resource: { type: 'tests', id: null } };
  const from = (address: string) => ({ requestId: address, address });
  // A minute of the past: a clock that runs ahead would leave ids of the future to the other tests of this process.
  const minute = Math.floor(Date.now() / 60_000) * 60_000 - 2 * 60_000;
  const kept = () =>
    api.rows<{ address: string; after: object | null }>(
      `select address, after from audit_records where action = 'test.refused' order by at, id`,
    );
  beforeEach(async () => {
    vi.useFakeTimers({ now: minute, toFake: ['Date'] });
    await api.rows(`delete from audit_records where action = 'test.refused'`);
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('records a limited number per principal and minute, and marks the last one', async () => {
    const log = new RefusalLog({ each: 3, unknown: 3 });
    const em = api.services.orm.em.fork();
    const record = (id: string) => log.record(em, { ...anonymous, kind: 'user', id }, entry, from(id));
    const [one, other] = [newId(), newId()];
    for (let attempt = 0; attempt < 5; attempt += 1) await record(one);
    await record(other);
    expect((await kept()).map(({ address, after }) => [address, after])).toEqual([
      [one, null],
      [one, null],
      [one, { last_of_this_minute: true }],
      [other, null],
    ]);
    vi.setSystemTime(minute + 60_000);
    await record(one);
    expect(await kept()).toHaveLength(5);
  });

  it('limits unauthenticated callers by network, and as one group', async () => {
    const log = new RefusalLog({ each: 3, unknown: 5 });
    const em = api.services.orm.em.fork();
    const record = (address: string) => log.record(em, anonymous, entry, from(address));
    for (let host = 0; host < 10; host += 1) await record(`2001:db8:1:1::${host}`);
    expect(await kept()).toHaveLength(3);
    for (let host = 0; host < 10; host += 1) await record(`198.51.100.${host}`);
    expect(await kept()).toHaveLength(5);
  });
});
