import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makePartitions } from '#database/partitions.ts';
import { auditRetention } from '#domain/audit/retention.ts';
import { Transactions } from '#domain/shared/commands/transaction.ts';
import { removeExpiredMonths } from '#domain/shared/retention/monthly-retention.ts';
import { addPerson, type Person } from '#test/support/access/people.ts';
import { startApi, type TestApi } from '#test/support/api/http-api.ts';

const retentionDays = 90;

let api: TestApi;
let auditor: Person;
beforeAll(async () => {
  api = await startApi({ AUDIT_RETENTION_DAYS: String(retentionDays) });
  auditor = await addPerson(api, 'admin');
});
afterAll(async () => {
  await api?.close();
});

const em = () => api.orm.em.fork();
const system = () => ({
  transactions: new Transactions(api.orm, { dispatch: () => undefined }),
  bindingKey: Buffer.alloc(32),
});

async function partitions(): Promise<string[]> {
  const rows = await em().execute<{ name: string }[]>(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'audit_records'::regclass order by 1`,
  );
  return rows.map(({ name }) => name);
}

async function write(action: string, at: Date): Promise<void> {
  await em().execute(
    `insert into audit_records (id, at, actor_type, actor_name, action, resource_type, outcome)
     values (gen_random_uuid(), ?, 'system', 'test', ?, 'tests', 'committed')`,
    [at, action],
  );
}

const daysAgo = (days: number) => new Date(Date.now() - days * 24 * 60 * 60 * 1000);
const partitionOf = (at: Date) => `audit_records_${at.toISOString().slice(0, 7).replace('-', '_')}`;
const partitionWith = async (action: string) => {
  const rows = await em().execute<{ name: string }[]>(
    `select tableoid::regclass::text as name from audit_records where action = ?`,
    [action],
  );
  return rows.map(({ name }) => name);
};

describe('partitions of months', () => {
  it('are created in advance by a running service, without a migration', async () => {
    const ahead = [0, 1, 2].map((months) => {
      const now = new Date();
      return partitionOf(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 1)));
    });
    await em().execute(`drop table ${ahead[2]}`);
    const other = await startAnother();
    try {
      await expect.poll(partitions).toEqual(expect.arrayContaining(ahead));
    } finally {
      await other.close();
    }
  });

  it('are created in advance as time passes, with every index of the others', async () => {
    await makePartitions(em(), new Date('2031-11-30T23:59:59Z'));
    expect(await partitions()).toEqual(
      expect.arrayContaining(['audit_records_2031_11', 'audit_records_2031_12', 'audit_records_2032_01']),
    );
    const rows = await em().execute<{ indexes: number }[]>(
      `select distinct count(*)::int as indexes from pg_inherits i join pg_index x on x.indrelid = i.inhrelid
        where i.inhparent = 'audit_records'::regclass group by i.inhrelid`,
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]?.indexes).toBeGreaterThan(8);
  });

  it('receive the records that were written before their month was created', async () => {
    const early = new Date('2035-05-05T05:05:05Z');
    await write('test.early', early);
    expect(await partitionWith('test.early')).toEqual(['audit_records_default']);
    await makePartitions(em());
    expect(await partitionWith('test.early')).toEqual(['audit_records_2035_05']);
  });

  it('are created while others write, and do not wait long for readers', async () => {
    const reader = em();
    await reader.begin();
    try {
      await reader.execute('select 1 from audit_records limit 1');
      await expect(makePartitions(em(), new Date('2040-01-01T00:00:00Z'))).rejects.toMatchObject({ code: '55P03' });
      await write('test.meanwhile', new Date());
    } finally {
      await reader.rollback();
    }
    await makePartitions(em(), new Date('2040-01-01T00:00:00Z'));
    expect(await partitions()).toContain('audit_records_2040_01');
  });
});

describe('the retention of the audit', () => {
  const old = daysAgo(200);
  const almost = daysAgo(retentionDays + 1);
  // Actions of the catalogue, since the list refuses other ones that it finds no record of. Nothing else here does them.
  const [ofOld, ofAlmost, ofKept] = ['organization.archived', 'team.archived', 'project.archived'];

  beforeAll(async () => {
    await write(ofOld, old);
    await write(ofAlmost, almost);
    await write(ofKept, daysAgo(retentionDays - 1));
    await makePartitions(em());
  });

  it('hides expired records that are not removed yet', async () => {
    for (const [action, count] of Object.entries({ [ofOld]: 0, [ofAlmost]: 0, [ofKept]: 1 })) {
      const { body } = await auditor.caller.get(`/audit?action=${action}`);
      expect(body.audit_records, action).toHaveLength(count);
      expect((await auditor.caller.get(`/audit/export?action=${action}`)).text.split('\n')).toHaveLength(count + 1);
    }
    const [hidden] = await em().execute<{ id: string }[]>(`select id from audit_records where action = '${ofOld}'`);
    expect((await auditor.caller.get(`/audit/${hidden?.id}`)).status).toBe(404);
  });

  it('removes months that are expired completely, and leaves an audit record', async () => {
    const now = new Date(Date.UTC(almost.getUTCFullYear(), almost.getUTCMonth(), 28) + retentionDays * 86_400_000);
    expect(await partitions()).toContain(partitionOf(old));
    const month = old.toISOString().slice(0, 7);
    expect(await removeExpiredMonths(em(), system(), auditRetention, retentionDays, now)).toEqual([month]);
    expect(await partitions()).not.toContain(partitionOf(old));
    expect(await partitions()).toContain(partitionOf(almost));
    const { body } = await auditor.caller.get('/audit?action=audit_records.expired');
    expect(body.audit_records).toMatchObject([
      {
        actor: { type: 'system', id: null, name: 'retention' },
        resource: { type: 'audit_records', id: month },
        after: { records: 1, retention_days: retentionDays },
      },
    ]);
    expect(await removeExpiredMonths(em(), system(), auditRetention, retentionDays, now)).toEqual([]);
  });

  it('is applied by a running service', async () => {
    await write(ofOld, old);
    await makePartitions(em());
    const other = await startAnother();
    try {
      await expect.poll(partitions).not.toContain(partitionOf(old));
    } finally {
      await other.close();
    }
  });

  it('removes a month once, even if many processes try at the same time', async () => {
    await write(ofOld, old);
    await makePartitions(em());
    const removed = await Promise.allSettled(
      [1, 2, 3, 4].map(() => removeExpiredMonths(em(), system(), auditRetention, retentionDays)),
    );
    const months = removed.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
    expect(months).toEqual([old.toISOString().slice(0, 7)]);
  });
});

/** Starts another process on the same database. At its start it does what every process does every few minutes. */
async function startAnother() {
  const { runApi } = await import('#api/main.ts');
  return runApi(api.config);
}
