import { type IncomingMessage, request as send } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { exportFormats } from '#api/audit/export-formats.ts';
import { BindingConnection } from '#database/connection.ts';
import type { AuditRecord } from '#domain/audit/model.ts';
import { addPerson, addTeam, type Person } from '#test/support/access/people.ts';
import { startApi, type TestApi } from '#test/support/api/http-api.ts';
import { readUntil } from '#test/support/read-until.ts';

/** With one connection, a request that holds it blocks all others. */
let api: TestApi;
let auditor: Person;
beforeAll(async () => {
  api = await startApi({ COORDINATOR_DATABASE_POOL: '1' });
  auditor = await addPerson(api, 'admin');
});
afterAll(async () => {
  await api?.close();
});

const many = 20_000;

/** Writes `count` records of an action over the last weeks, each as large as a record with a change. */
async function fill(action: string, count: number, organizationId: string | null = null): Promise<void> {
  await api.orm.em.execute(
    `insert into audit_records (id, at, actor_type, actor_name, action, resource_type, outcome, after, organization_id)
     select gen_random_uuid(), now() - n * interval '1 minute', 'system', 'test', ?, 'tests', 'committed',
            jsonb_build_object('text', repeat('x', 200), 'n', n), ?::uuid from generate_series(1, ?) n`,
    [action, organizationId, count],
  );
}

function open(query: string, method = 'GET', { key } = auditor): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options = { method, headers: { 'x-api-key': key }, agent: false };
    send(`${api.url}/api/v1/audit/export?${query}`, options, resolve).end().once('error', reject);
  });
}

/** Counts the statements about a table from now on. */
function countStatements(table: string): () => number {
  const run = vi.spyOn(BindingConnection.prototype, 'run');
  const earlier = run.mock.calls.length;
  return () => run.mock.calls.slice(earlier).filter(([text]) => text.includes(table)).length;
}

async function exported(query: string) {
  const response = await open(query);
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk;
  return { headers: response.headers, trailers: response.trailers, text, status: response.statusCode };
}

describe('an export', () => {
  it('an export as NDJSON contains every record of the filter as the API returns it, oldest first, and their number', async () => {
    await fill('test.lines', 2_500);
    const { headers, trailers, text } = await exported('action=test.lines');
    expect(headers).toMatchObject({
      'content-type': 'application/x-ndjson; charset=utf-8',
      'content-disposition': expect.stringMatching(/^attachment; filename="audit-[\dT-]+Z\.ndjson"$/),
      'cache-control': 'no-store',
    });
    const records: AuditRecord[] = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(trailers['x-audit-records']).toBe('2500');
    expect(records).toHaveLength(2_500);
    expect(records.map(({ after }) => after?.['n'])).toEqual(
      Array.from({ length: 2_500 }, (_, index) => 2_500 - index),
    );
    const { body } = await auditor.caller.get(`/audit/${records[7]?.id}`);
    expect(records[7]).toEqual(body);
  });

  it('an export as CSV has a header and a line of the same fields for each record', async () => {
    const { text, headers, trailers } = await exported('action=test.lines&format=csv');
    expect(headers['content-type']).toBe('text/csv; charset=utf-8; header=present');
    const lines = text.split('\r\n');
    expect(lines.pop()).toBe('');
    expect(lines).toHaveLength(2_501);
    expect(trailers['x-audit-records']).toBe('2500');
    expect(lines[0]).toMatch(/^id,at,action,outcome,actor_type,/);
    expect(lines[1]).toMatch(/,,"{""n"": ?2500,/);
  });

  it('contains only what the filter selects, and may be empty', async () => {
    const { text } = await exported('action=test.lines&from=2999-01-01');
    expect(text).toBe('');
    expect((await exported('format=xml')).status).toBe(400);
  });

  it('leaves an audit record of its caller and filter before the response starts', async () => {
    const { headers } = await exported('action=test.lines&to=2020-01-01&format=csv');
    const { body } = await auditor.caller.get(`/audit?request_id=${headers['x-request-id']}`);
    expect(body.audit_records).toMatchObject([
      {
        action: 'audit_records.exported',
        outcome: 'committed',
        actor: { id: auditor.id },
        after: { format: 'csv', action: 'test.lines', to: '2020-01-01' },
      },
    ]);
  });

  it('an export that is requested with HEAD is not made, and leaves no record', async () => {
    const response = await open('action=test.lines', 'HEAD');
    response.resume();
    expect([response.statusCode, response.headers['content-type']]).toEqual([200, 'application/x-ndjson']);
    const { body } = await auditor.caller.get(`/audit?request_id=${response.headers['x-request-id']}`);
    expect(body.audit_records).toEqual([]);
  });

  it('misses no record if it starts where an earlier one was complete, even if a command was running then', async () => {
    const em = api.orm.em.fork();
    await em.begin();
    const insert = `insert into audit_records (id, at, actor_type, actor_name, action, resource_type, outcome)
                    values (gen_random_uuid(), clock_timestamp(), 'system', 'test', 'test.late', 'tests', 'committed')`;
    await em.execute(insert);
    const first = await exported('action=test.late');
    await em.commit();
    expect(first.trailers['x-audit-records']).toBe('0');
    const next = await exported(`action=test.late&from=${first.headers['x-audit-complete-until']}`);
    expect(next.trailers['x-audit-records']).toBe('1');
  });
});

describe('a client', () => {
  beforeAll(() => fill('test.many', many));

  it('a client that reads an export slowly holds no connection, and gets everything', async () => {
    const response = await open('action=test.many');
    for (let request = 0; request < 5; request += 1) {
      expect((await auditor.caller.get('/audit?limit=1')).status).toBe(200);
    }
    await api.orm.em.execute(`insert into audit_records (id, at, actor_type, actor_name, action, resource_type, outcome)
      values (gen_random_uuid(), clock_timestamp(), 'system', 'test', 'test.many', 'tests', 'committed')`);
    let bytes = 0;
    for await (const chunk of response) bytes += chunk.length;
    expect(bytes).toBeGreaterThan(many * 200);
    // And nothing that was written after it began.
    expect(response.trailers['x-audit-records']).toBe(String(many));
  });

  it('a client that disconnects stops the reading of its export', async () => {
    const pages = countStatements('audit_records');
    const response = await open('action=test.many');
    await new Promise((resolve) => response.once('data', resolve));
    response.destroy();
    // Requests take turns with the export at the only connection, so it has stopped if several of them find it without another page.
    const pagesDuringRequests = async () => {
      const before = pages();
      for (let request = 0; request < 5; request += 1) await auditor.caller.get('/auth/whoami');
      return pages() - before;
    };
    await expect.poll(pagesDuringRequests).toBe(0);
    expect(pages()).toBeGreaterThan(0);
    expect(pages()).toBeLessThan(many / 1_000);
  });

  it('sees that the export is incomplete if the service could not read all of it', async () => {
    const response = await open('action=test.many');
    response.pause();
    await api.orm.em.execute('alter table audit_records rename to audit_records_away');
    try {
      const reading = (async () => {
        for await (const chunk of response) void chunk;
      })();
      await expect(reading).rejects.toThrow(/aborted/);
      expect(response.complete).toBe(false);
      expect(response.trailers).toEqual({});
    } finally {
      await api.orm.em.execute('alter table audit_records_away rename to audit_records');
    }
  });
});

describe('an export that is running', () => {
  /** How the export of a reader ends who reads on a while after something has happened. */
  async function endAfter(reader: Person, action: string, change: () => Promise<{ status: number; text: string }>) {
    const response = await open(`action=${action}`, 'GET', reader);
    response.pause();
    const { status, text } = await change();
    expect(status, text).toBe(200);
    // Until the access is checked again, unless that has ended the export already.
    const checks = countStatements('api_keys');
    await readUntil(async () => checks(), Boolean, 5_000);
    const reading = (async () => {
      for await (const chunk of response) void chunk;
    })();
    return reading.then(
      () => 'complete',
      () => 'cut off',
    );
  }

  it('is aborted when the reader loses the role of an administrator', async () => {
    await fill('test.installation', many);
    const reader = await addPerson(api, 'admin');
    const demote = () => auditor.caller.send('PUT', `/users/${reader.id}`, { role: 'requester' });
    expect(await endAfter(reader, 'test.installation', demote)).toBe('cut off');
  });

  it('is aborted when the reader no longer administers an organization, and not when another user loses that role', async () => {
    const { organizationId } = await addTeam(api.orm);
    await fill('test.organization', many, organizationId);
    const [reader, other] = [await addAdmin(organizationId), await addAdmin(organizationId)];
    const members = `/organizations/${organizationId}/members`;
    const demote = ({ id }: Person) => auditor.caller.send('PUT', `${members}/${id}`, { role: 'member' });
    expect(await endAfter(reader, 'test.organization', () => demote(other))).toBe('complete');
    expect(await endAfter(reader, 'test.organization', () => demote(reader))).toBe('cut off');
  });

  const addAdmin = (organizationId: string) =>
    addPerson(api, 'maintainer', { organizations: { [organizationId]: 'admin' } });
});

describe('a field of CSV', () => {
  const record: AuditRecord = {
    id: '1',
    at: '2026-01-01T00:00:00.000Z',
    action: 'user.created',
    outcome: 'committed',
    actor: { type: 'user', id: null, name: 'Ana' },
    credential: null,
    resource: { type: 'users', id: null },
    organization_id: null,
    team_id: null,
    request_id: null,
    address: null,
    before: null,
    after: null,
  };
  const nameOf = (name: string) => exportFormats.csv.write({ ...record, actor: { ...record.actor, name } });

  it.each([
    ['Ana', ',Ana,'],
    ['Lima, Ana', ',"Lima, Ana",'],
    ['the "real" Ana', ',"the ""real"" Ana",'],
    ['two\r\nlines', ',"two\r\nlines",'],
    ["=HYPERLINK('http://example.com')", ",'=HYPERLINK('http://example.com'),"],
    ['=1,"x"', `,"'=1,""x""",`],
    ['+1', ",'+1,"],
    ['-1', ",'-1,"],
    ['@SUM(A1)', ",'@SUM(A1),"],
    ['\t=1', ",'\t=1,"],
  ])('%j is written as %j: quoted where needed, and never a formula', (name, field) => {
    expect(nameOf(name)).toContain(field);
  });
});
