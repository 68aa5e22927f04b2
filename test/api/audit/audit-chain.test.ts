import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sealingKeyOf } from '#domain/audit/chain/seal.ts';
import { sealRecords } from '#domain/audit/chain/sealing.ts';
import { auditRetention } from '#domain/audit/retention.ts';
import { Transactions } from '#domain/shared/commands/transaction.ts';
import { openInstallation } from '#domain/shared/installation/installation.ts';
import { removeExpiredMonths } from '#domain/shared/retention/monthly-retention.ts';
import { KeyRing } from '#domain/shared/secrets.ts';
import { addPerson, type Person } from '#test/support/access/people.ts';
import { startApi, type TestApi } from '#test/support/api/http-api.ts';

let api: TestApi;
let administrator: Person;
let key: Buffer;
beforeAll(async () => {
  api = await startApi();
  administrator = await addPerson(api, 'admin');
  const { bindingKey } = await openInstallation(api.orm, new KeyRing(api.config.secretKeys));
  key = sealingKeyOf(bindingKey);
});
afterAll(async () => {
  await execute('truncate audit_records');
  await api?.close();
});

const execute = <Row = unknown>(sql: string, params: unknown[] = []) => api.orm.em.fork().execute<Row[]>(sql, params);

/** A record for each action, one minute apart, the last of them an hour ago unless `until` says otherwise. */
async function write(actions: readonly string[], until = new Date(Date.now() - 3_600_000)): Promise<void> {
  for (const [index, action] of actions.entries()) {
    const at = new Date(until.getTime() - (actions.length - index) * 60_000);
    await execute(
      `insert into audit_records (id, at, actor_type, actor_name, action, resource_type, outcome, after)
       values (gen_random_uuid(), ?, 'system', 'test', ?, 'tests', 'committed', '{"size": 1}')`,
      [at, action],
    );
  }
}

const seal = (max = 3) => sealRecords(api.orm, key, { max, margin: 0 });
const verify = async (query = '') => (await administrator.caller.get(`/audit/verify${query}`)).body;
const kindsOf = async (query = '') => (await verify(query)).problems.map(({ kind }: { kind: string }) => kind);

/** The reads that an earlier release had, as its migration names them. */
const migration = readFileSync(new URL('../../../migrations/20261221_02_audit_reads.ts', import.meta.url), 'utf8');
const readsOfEarlierReleases = /const reads = `([^`]+)`/.exec(migration)?.[1]?.trim().split(/\s+/) ?? [];

beforeEach(async () => {
  await execute('truncate audit_seals, audit_records');
});

describe('the chain of the audit', () => {
  it('covers every record once, and later what was added since', async () => {
    await write(['a', 'b', 'c', 'd', 'e']);
    expect(await seal()).toBe(5);
    expect(await verify()).toMatchObject({ valid: true, seals: 2, records: 5, problems: [], head: { position: 2 } });
    // Each verification leaves a record itself.
    const sealed = await seal();
    expect(sealed).toBeGreaterThan(0);
    expect(await verify()).toMatchObject({ valid: true, seals: 3, records: 5 + sealed });
    expect(await seal()).toBeGreaterThan(0);
  });

  it('does not seal records after the start of an open transaction', async () => {
    await write(['a', 'b']);
    const em = api.orm.em.fork();
    await em.begin();
    try {
      await em.execute(
        `insert into audit_records (id, at, actor_type, actor_name, action, resource_type, outcome)
         values (gen_random_uuid(), clock_timestamp(), 'system', 'test', 'open', 'tests', 'committed')`,
      );
      await write(['late'], new Date(Date.now() + 60_000));
      expect(await seal()).toBe(2);
    } finally {
      await em.commit();
    }
    expect(await seal()).toBe(2);
    expect(await kindsOf()).toEqual([]);
  });

  it.each([
    ['a changed field', `update audit_records set actor_name = 'somebody else' where action = 'b'`, 'records_changed'],
    ['a changed value', `update audit_records set after = '{"size": 2}' where action = 'b'`, 'records_changed'],
    ['a removed record', `delete from audit_records where action = 'b'`, 'records_missing'],
    [
      'an added record',
      `insert into audit_records (id, at, actor_type, actor_name, action, resource_type, outcome)
       select gen_random_uuid(), at, actor_type, actor_name, 'forged', resource_type, outcome from audit_records where action = 'b'`,
      'records_added',
    ],
    ['a changed seal', `update audit_seals set records = records + 1 where position = 1`, 'seal_changed'],
    ['a removed seal', `delete from audit_seals where position = 2`, 'seal_missing'],
  ])('reveals %s', async (_, sql, kind) => {
    await write(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
    await seal();
    await execute(sql);
    const verification = await verify();
    expect(verification.valid).toBe(false);
    expect(verification.problems[0].kind).toBe(kind);
  });

  it('reveals a change that somebody marked as a read to hide it from the list of changes', async () => {
    await write(['a', 'b', 'c', 'd', 'e']);
    await seal();
    await execute(`update audit_records set is_read = true where action = 'b'`);
    const { valid, records, problems } = await verify();
    expect([valid, records]).toEqual([false, 4]);
    expect(problems).toMatchObject([{ kind: 'changes_hidden', position: 1, expected: 0, found: 1 }]);
  });

  it('accepts every read that this release or an earlier one marked', async () => {
    const stranger = await addPerson(api, 'requester');
    expect((await stranger.caller.get(`/projects/${crypto.randomUUID()}`)).status).toBe(404);
    await write(readsOfEarlierReleases);
    await execute(`update audit_records set is_read = true where actor_name = 'test'`);
    expect(await seal()).toBeGreaterThan(readsOfEarlierReleases.length);
    expect(await kindsOf()).toEqual([]);
  });

  it('reveals that its end was removed, to a client that has kept a seal', async () => {
    await write(['a', 'b', 'c', 'd', 'e']);
    await seal();
    const { head } = await verify();
    const kept = `?position=${head.position}&seal=${head.seal}`;
    expect(await kindsOf(kept)).toEqual([]);
    await execute(`delete from audit_records where action in ('d', 'e')`);
    await execute(`delete from audit_seals where position = 2`);
    expect(await kindsOf()).toEqual([]);
    expect(await kindsOf(kept)).toEqual(['seal_missing']);
    await seal();
    expect(await kindsOf(kept)).toEqual(['kept_seal_differs']);
  });

  it('does not accept a seal that was made without the key', async () => {
    await write(['a', 'b', 'c', 'd', 'e']);
    await seal();
    await execute(`update audit_records set actor_name = 'somebody else' where action = 'e'`);
    await execute('delete from audit_seals where position = 2');
    await sealRecords(api.orm, Buffer.alloc(32), { max: 3, margin: 0 });
    expect(await kindsOf()).toEqual(expect.arrayContaining(['seal_changed']));
  });

  it('distinguishes records that the retention removed from records that somebody else removed', async () => {
    const month = (months: number) => new Date(Date.UTC(2025, months, 15));
    await write(['a', 'b', 'c', 'd'], month(0));
    await write(['e', 'f'], month(1));
    await execute(`select make_month_partitions('audit_records', '2025-01-01'::timestamptz, 2)`);
    await seal();
    expect((await verify()).seals).toBeGreaterThanOrEqual(3);
    const system = {
      transactions: new Transactions(api.orm, { dispatch: () => undefined }),
      bindingKey: Buffer.alloc(32),
    };
    await removeExpiredMonths(api.orm.em.fork(), system, auditRetention, 30, new Date(Date.UTC(2025, 2, 5)));
    await execute('drop table audit_records_2025_02');
    const { removed, problems } = await verify();
    expect(removed).toBe(4);
    expect(problems).toMatchObject([{ kind: 'records_missing', expected: 2, found: 0 }]);
  });

  it('says how many records are not sealed yet, and since when', async () => {
    await write(['a', 'b', 'c']);
    const { head, unsealed, valid } = await verify();
    expect([head, unsealed.records, valid]).toEqual([null, 3, true]);
    expect(Date.parse(unsealed.since)).toBeLessThan(Date.now() - 3_600_000);
  });

  it('is verified in parts', async () => {
    await write(Array.from({ length: 25 }, (_, index) => `action_${index}`));
    await seal(1);
    const first = await verify();
    expect(first).toMatchObject({ valid: true, seals: 20, next_after: 20 });
    expect(await verify('?after=20')).toMatchObject({ valid: true, seals: 5, next_after: null });
    expect(await kindsOf('?after=26')).toEqual(['seal_missing']);
  });

  it('can be verified only by administrators, and each verification leaves a record', async () => {
    const operator = await addPerson(api, 'operator');
    expect((await operator.caller.get('/audit/verify')).status).toBe(403);
    expect((await administrator.caller.get('/audit/verify?position=1')).status).toBe(400);
    await verify();
    const records = await execute(
      `select id from audit_records where action = 'audit_records.verified' and outcome = 'committed'`,
    );
    expect(records).toHaveLength(1);
  });

  it('seals each record once if several processes seal at the same time', async () => {
    await write(Array.from({ length: 30 }, (_, index) => `action_${index}`));
    const sealed = await Promise.all(Array.from({ length: 5 }, () => seal()));
    expect(sealed.reduce((one, other) => one + other, 0)).toBe(30);
    expect(await kindsOf()).toEqual([]);
  });
});
