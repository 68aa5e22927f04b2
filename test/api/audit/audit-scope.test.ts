import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Em } from '#database/database.ts';
import type { AuditRecord } from '#domain/audit/model.ts';
import { auditScopeOf } from '#domain/audit/scope.ts';
import { selectRecords } from '#domain/audit/store.ts';
import { readPrincipals } from '#domain/shared/access/store.ts';
import { newId } from '#domain/shared/ids.ts';
import { addServiceAccount } from '#test/support/access/people.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
let admin: ApiUser;
let tenant: Tenant;
let other: Tenant;
beforeAll(async () => {
  api = await startApi();
  admin = await api.addUser('admin');
  tenant = await makeTenant(api);
  other = await makeTenant(api);
});
afterAll(async () => {
  await api?.close();
});

/** Every record that a reader finds, page by page. */
async function findAll(reader: ApiUser, query = '', limit = 7): Promise<AuditRecord[]> {
  const records: AuditRecord[] = [];
  let cursor = '';
  do {
    const { status, text, body } = await reader.get(`/audit?limit=${limit}${query && `&${query}`}${cursor}`);
    expect(status, text).toBe(200);
    records.push(...body.audit_records);
    cursor = body.next_cursor ? `&cursor=${body.next_cursor}` : '';
  } while (cursor);
  return records;
}

async function exported(reader: ApiUser, query = ''): Promise<AuditRecord[]> {
  const { status, text } = await reader.get(`/audit/export?${query}`);
  expect(status, text).toBe(200);
  return text.split('\n').flatMap((line) => (line ? [JSON.parse(line)] : []));
}

const ids = (records: readonly AuditRecord[]) => records.map(({ id }) => id);

/** What administrators find of the records that a reader may see: those of the reader and those that `isSeen` accepts. */
async function expectedFor(reader: ApiUser, isSeen: (record: AuditRecord) => boolean, query = '') {
  const all = await findAll(admin, query, 200);
  return all.filter((record) => record.actor.id === reader.id || isSeen(record));
}

async function joined(
  role: 'requester' | 'maintainer',
  ...roles: [Parameters<typeof join>[2], Parameters<typeof join>[3]?]
) {
  const user = await api.addUser(role);
  await join(tenant, user, ...roles);
  return user;
}

describe('the scope of the audit', () => {
  it('a platform administrator sees every record', async () => {
    const [{ count = 0 } = {}] = await api.rows<{ count: number }>('select count(*)::int as count from audit_records');
    expect(await findAll(admin, '', 200)).toHaveLength(count);
  });

  it('owners and admins of an organization see its records, on every page and in exports', async () => {
    const organizationAdmin = await joined('maintainer', 'admin');
    for (const reader of [tenant.owner, organizationAdmin]) {
      const expected = await expectedFor(reader, (record) => record.organization_id === tenant.organization);
      expect(expected.length).toBeGreaterThan(4);
      expect(ids(await findAll(reader, '', 2))).toEqual(ids(expected));
      const lines = await exported(reader);
      expect(ids(lines).reverse().slice(-expected.length)).toEqual(ids(expected));
      expect(lines.filter((record) => record.organization_id === other.organization)).toEqual([]);
    }
  });

  it('those who manage the memberships of a team see its records, and nothing else of its organization', async () => {
    for (const role of ['owner', 'admin'] as const) {
      const reader = await joined('maintainer', 'member', role);
      const expected = await expectedFor(reader, (record) => record.team_id === tenant.team);
      expect(expected.length).toBeGreaterThan(2);
      expect(expected.every((record) => record.team_id === tenant.team)).toBe(true);
      expect(ids(await findAll(reader, '', 2))).toEqual(ids(expected));
    }
  });

  it('a reader who may see a record for several reasons sees it only once', async () => {
    const records = ids(await findAll(tenant.owner, '', 3));
    expect(new Set(records).size).toBe(records.length);
    expect(records.length).toBeGreaterThan(3);
  });

  it('members, viewers, and those who lack audit:read see only their own acts', async () => {
    const readers = [
      await joined('maintainer', 'member'),
      await joined('maintainer', 'member', 'member'),
      await joined('maintainer', 'member', 'viewer'),
      await joined('requester', 'admin'),
      await joined('requester', 'member', 'owner'),
    ];
    for (const reader of readers) {
      await reader.make('/profile/api-keys', { name: 'mine' }).catch(() => undefined);
      await reader.put(`/users/${reader.id}`, { name: 'New name' });
      const found = await findAll(reader);
      expect(found.length).toBeGreaterThan(0);
      expect(ids(found)).toEqual(ids(await expectedFor(reader, () => false)));
      expect(ids(await exported(reader))).toHaveLength(found.length);
      for (const { id } of found) expect((await reader.get(`/audit/${id}`)).status).toBe(200);
    }
  });

  it('a service account sees the records that its roles in its teams and its own acts allow', async () => {
    const place = { url: '', orm: api.services.orm };
    for (const [role, sees] of [
      ['admin', true],
      ['maintainer', true],
      ['requester', false],
    ] as const) {
      const { id, key } = await addServiceAccount(place, role, {}, { teamId: tenant.team });
      const account = new ApiUser(api, { 'x-api-key': key }, { id, email: '' });
      const expected = await expectedFor(account, (record) => sees && record.team_id === tenant.team);
      expect(ids(await findAll(account))).toEqual(ids(expected));
    }
  });

  it('a reader who no longer administers an organization sees no records of it', async () => {
    const reader = await joined('maintainer', 'admin');
    const [record] = await findAll(reader, `organization_id=${tenant.organization}`);
    expect((await reader.get(`/audit/${record?.id}`)).status).toBe(200);
    await tenant.owner.put(`/organizations/${tenant.organization}/members/${reader.id}`, { role: 'member' });
    expect((await reader.get(`/audit/${record?.id}`)).status).toBe(404);
    expect((await findAll(reader)).every(({ actor }) => actor.id === reader.id)).toBe(true);
  });
});

describe('a single record', () => {
  it('answers 404 to every reader whose list does not contain it', async () => {
    const ofOther = await findAll(admin, `organization_id=${other.organization}`);
    const ofInstallation = (await findAll(admin, '', 200)).filter(
      ({ organization_id, actor }) => organization_id === null && actor.id !== tenant.owner.id,
    );
    expect(ofOther.length * ofInstallation.length).toBeGreaterThan(0);
    const requester = await joined('requester', 'member', 'viewer');
    for (const { id } of [...ofOther, ...ofInstallation]) {
      for (const reader of [tenant.owner, requester]) expect((await reader.get(`/audit/${id}`)).status).toBe(404);
      expect((await admin.get(`/audit/${id}`)).status).toBe(200);
    }
    const [ofTeam] = await findAll(admin, `team_id=${tenant.team}`);
    const member = await joined('maintainer', 'member', 'member');
    expect((await member.get(`/audit/${ofTeam?.id}`)).status).toBe(404);
    expect((await tenant.owner.get(`/audit/${ofTeam?.id}`)).status).toBe(200);
  });
});

describe('a filter by an organization or a team', () => {
  const statusOf = async (reader: ApiUser, query: string) => {
    const [list, exports] = [await reader.get(`/audit?${query}`), await reader.get(`/audit/export?${query}`)];
    expect(exports.status).toBe(list.status);
    return list.status;
  };

  it('answers 404 if the reader may not read the owner, as for one that does not exist', async () => {
    const queries = [`organization_id=${other.organization}`, `team_id=${other.team}`];
    for (const query of [...queries, `organization_id=${newId()}`, `team_id=${newId()}`]) {
      expect(await statusOf(tenant.owner, query), query).toBe(404);
      expect(await statusOf(tenant.owner, `${query}&actor=${tenant.owner.id}`), query).toBe(404);
    }
  });

  it('answers 403 if the reader is a member but does not administer the owner', async () => {
    const member = await joined('maintainer', 'member', 'member');
    const requester = await joined('requester', 'admin', 'admin');
    for (const query of [`organization_id=${tenant.organization}`, `team_id=${tenant.team}`])
      for (const reader of [member, requester]) expect(await statusOf(reader, query), query).toBe(403);
  });

  it('returns the records if the reader administers only one of both', async () => {
    const reader = await joined('maintainer', 'member', 'admin');
    const query = `organization_id=${tenant.organization}&team_id=${tenant.team}`;
    expect(ids(await findAll(reader, query))).toEqual(ids(await findAll(admin, query)));
  });

  it('answers 404 if the reader may not read one of two owners, as if that one did not exist', async () => {
    const pairs = [
      [tenant.organization, other.team],
      [tenant.organization, newId()],
      [other.organization, tenant.team],
      [newId(), tenant.team],
    ];
    for (const [organization, team] of pairs)
      expect(await statusOf(tenant.owner, `organization_id=${organization}&team_id=${team}`)).toBe(404);
    const records = await findAll(admin, `actor=${tenant.owner.id}&action=audit_records.exported`, 200);
    const foreign = records.filter(
      (record) =>
        record.outcome === 'committed' &&
        [other.team, other.organization].some((id) => JSON.stringify(record).includes(id)),
    );
    expect(foreign).toEqual([]);
  });

  it('answers 400 for a team that never belonged to the organization, to those who may read both', async () => {
    const reader = await joined('maintainer', 'admin');
    await join(other, reader, 'member', 'admin');
    const query = `organization_id=${tenant.organization}&team_id=${other.team}`;
    for (const each of [reader, admin]) {
      expect(await statusOf(each, query)).toBe(400);
      expect((await each.get(`/audit?${query}`)).body.error).toContain('the team never belonged to the organization');
    }
  });

  it('returns records of a deleted team to those who administer its organization, and to administrators', async () => {
    const teams = `/organizations/${tenant.organization}/teams`;
    const team = await tenant.owner.make(teams, { name: 'Brief' });
    const { status, text } = await tenant.owner.delete(`${teams}/${team.id}`, { 'idempotency-key': newId() });
    expect(status, text).toBe(204);
    for (const reader of [tenant.owner, admin]) {
      const actions = (await findAll(reader, `team_id=${team.id}`)).map(({ action }) => action);
      expect(actions).toContain('team.deleted');
    }
    expect(await statusOf(other.owner, `team_id=${team.id}`)).toBe(404);
  });

  it("shows the team's new organization only records of its own time, and the earlier organization the others", async () => {
    const [from, to] = [await makeTenant(api), await makeTenant(api)];
    await join(to, from.owner, 'admin');
    await from.owner.patch(from.teamPath, { slug: 'moving' });
    const { status } = await from.owner.post(`${from.teamPath}/transfer`, { organization_id: to.organization });
    expect(status).toBe(200);
    const query = `team_id=${from.team}`;
    const seen = await findAll(to.owner, query);
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.every((record) => record.organization_id === to.organization)).toBe(true);
    const earlier = await findAll(from.owner, `${query}&organization_id=${from.organization}`);
    expect(earlier.length).toBeGreaterThan(0);
    const former = await api.addUser('maintainer');
    await join(from, former, 'admin');
    const pair = `${query}&organization_id=${from.organization}`;
    expect(ids(await findAll(former, pair))).toEqual(ids(await findAll(admin, pair)));
    expect(await statusOf(former, `${query}&organization_id=${to.organization}`)).toBe(404);
    const next = await api.addUser('maintainer');
    await join(to, next, 'admin');
    expect(await statusOf(next, pair)).toBe(404);
  });
});

describe("the record of a reader's own refusal", () => {
  it('reveals neither existence, owner nor id of a target that the response hid', async () => {
    const prober = await api.addUser('maintainer');
    const { body: hidden } = await other.owner.get(`/organizations/${other.organization}`);
    const missing = newId();
    for (const path of [`/projects/${other.project}`, `/projects/${missing}`])
      expect((await prober.get(path)).status).toBe(404);
    expect((await prober.post(`/organizations/${hidden.slug}/archive`)).status).toBe(404);
    const records = await findAll(prober);
    expect(records).toHaveLength(3);
    for (const record of [...records, ...(await exported(prober))]) {
      expect(record).toMatchObject({ resource: { id: null }, organization_id: null, team_id: null });
      expect(JSON.stringify(record)).not.toContain(other.organization);
    }
    const single = (await prober.get(`/audit/${records[0]?.id}`)).body;
    expect(single).toEqual(records[0]);
    const [recorded] = await findAll(admin, `request_id=${records[0]?.request_id}`);
    expect(recorded).toMatchObject({ organization_id: other.organization, resource: { id: other.organization } });
  });

  it('is not found by values that it does not show, whether the target exists or not', async () => {
    const prober = await api.addUser('maintainer');
    const { body: hidden } = await other.owner.get(`/organizations/${other.organization}`);
    for (const name of [hidden.slug, other.organization, 'missing'])
      expect((await prober.get(`/organizations/${name}`)).status).toBe(404);
    for (const id of [hidden.slug, other.organization, 'missing']) {
      const query = `action=organizations.get&resource_id=${id}`;
      expect(await findAll(prober, query)).toEqual([]);
      expect(await findAll(prober, `${query}&actor=${prober.id}`)).toEqual([]);
      expect(await exported(prober, query)).toEqual([]);
    }
    expect(await findAll(prober, 'action=organizations.get')).toHaveLength(3);
  });

  it('is shown completely if the reader administers its owner', async () => {
    const { status } = await tenant.owner.post('/runs', { template_id: newId(), environment_id: tenant.environment });
    expect([404, 409]).toContain(status);
    const created = await tenant.owner.patch(`/users/${admin.id}`, {});
    expect(created.status).not.toBe(200);
    const viewer = await joined('maintainer', 'admin', 'viewer');
    expect((await viewer.patch(tenant.teamPath, { name: 'Mine' })).status).toBe(403);
    const [record] = await findAll(viewer, `actor=${viewer.id}&outcome=refused`);
    expect(await findAll(viewer, `outcome=refused&resource_id=${tenant.team}`)).toContainEqual(record);
    expect(record).toMatchObject({ resource: { id: tenant.team }, organization_id: tenant.organization });
  });
});

describe('audit pages of a reader who administers little', () => {
  it('read few rows wherever they start, although others have many records', async () => {
    const little = await makeTenant(api);
    const fill = (count: number, organization: string, actor: string) =>
      api.rows(
        `insert into audit_records (id, at, actor_id, actor_type, actor_name, action, resource_type, outcome, organization_id, team_id)
         select gen_random_uuid(), now() - n * interval '3 minutes', ?, 'user', 'test', 'test.filled', 'tests', 'committed', ?, ?
           from generate_series(1, ?) n`,
        [actor, organization, newId(), count],
      );
    await fill(40_000, other.organization, other.owner.id);
    await fill(3_000, little.organization, newId());
    await fill(3_000, newId(), little.owner.id);
    await api.rows('analyze audit_records');
    const em = api.services.orm.em.fork();
    const scope = auditScopeOf((await readPrincipals(em, [little.owner.id])).get(little.owner.id)!);
    const select = { filter: {}, scope, retentionDays: null, direction: 'older' } as const;
    const all = await selectRecords(em, { ...select, from: null, limit: 10_000 });
    expect(all.length).toBeGreaterThan(6_000);
    for (const from of [null, all[3_000]!, all[5_900]!]) {
      const rows = await countRowsRead((tx) => selectRecords(tx, { ...select, from, limit: 51 }));
      expect(rows).toBeLessThan(51 * 20);
    }
  });
});

/** How many rows of the audit a query reads. */
async function countRowsRead(query: (tx: Em) => Promise<unknown>): Promise<number> {
  const em = api.services.orm.em.fork();
  const count = async () => {
    const [row] = await em.execute<{ rows: number }[]>(
      `select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows from pg_stat_xact_user_tables
        where relname like 'audit_records%'`,
    );
    return row?.rows ?? 0;
  };
  await em.begin();
  try {
    const before = await count();
    await query(em);
    return (await count()) - before;
  } finally {
    await em.rollback();
  }
}

it('the catalogue of audit actions is readable for every authenticated caller', async () => {
  const requester = await api.addUser('requester');
  expect((await requester.get('/audit/actions')).status).toBe(200);
  expect((await api.nobody.get('/audit/actions')).status).toBe(401);
});
