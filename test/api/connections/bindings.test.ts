import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#domain/shared/ids.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
let tenant: Tenant;
let stranger: Tenant;
let admin: ApiUser;
beforeAll(async () => {
  api = await startApi();
  [tenant, stranger, admin] = [await makeTenant(api), await makeTenant(api), await api.addUser('admin')];
});
afterAll(() => api?.close());

const environmentPath = () => `/environments/${tenant.environment}/connections`;
const projectPath = () => `/projects/${tenant.project}/connections`;
const generic = { kind: 'generic', credentials: { variables: { TOKEN: 'secret-of-binding' } } };

async function add(owner: object, user = tenant.owner, more: object = generic): Promise<string> {
  return (await user.make('/admin/connections', { name: `Bound ${newId()}`, ...more, ...owner })).id;
}

async function addMember(): Promise<ApiUser> {
  const member = await api.addUser('maintainer');
  await join(tenant, member, 'member', 'admin');
  return member;
}

/** Admits a run of a template that needs connections. */
async function admit(connections: object[], more: object = {}) {
  const { id } = await tenant.owner.make('/registry/templates', { name: `Needy ${newId()}`, team_id: tenant.team });
  const executor = { kind: 'command', apply: [{ name: 'go', run: ['true'] }] };
  const spec = { executor, connections };
  await tenant.owner.make(`/registry/templates/${id}/versions`, { version: '1.0.0', spec });
  return tenant.owner.post('/runs', { template_id: id, environment_id: tenant.environment, ...more });
}

const refused = (code: string, ...names: string[]) => ({
  status: 422,
  headers: { 'x-error-code': code },
  body: { error: expect.stringMatching(new RegExp(names.join('.*'))) },
});

describe('the connections of an environment and its project', () => {
  it('are bound by name, with phases, and show who bound them', async () => {
    const [own, ofOrganization] = [
      await add({ project_id: tenant.project }),
      await add({ organization_id: tenant.organization }),
    ];
    const body = { cloud: { connection_id: own }, 'dns-zone': { connection_id: ofOrganization, phases: ['apply'] } };
    const bound = await tenant.owner.put(environmentPath(), body);
    expect(bound.status, bound.text).toBe(200);
    expect(await tenant.owner.get(environmentPath())).toMatchObject({ body: bound.body });
    expect(bound.body.connections).toMatchObject({
      cloud: {
        connection_id: own,
        kind: 'generic',
        phases: ['plan', 'apply'],
        provides: ['TOKEN'],
        bound_by: { type: 'user', id: tenant.owner.id },
        problem: null,
      },
      'dns-zone': { connection_id: ofOrganization, phases: ['apply'] },
    });
    expect(bound.text).not.toContain('secret-of-binding');
    const none = await tenant.owner.put(environmentPath(), {});
    expect([none.body.connections, none.body.revision]).toEqual([{}, bound.body.revision + 1]);
    const records = await api.rows<{ before: unknown; after: unknown }>(
      `select before, after from audit_records where action = 'environment.connections_bound' and resource_id = ? order by id`,
      [tenant.environment],
    );
    expect(records.at(-1)).toMatchObject({ before: { connections: { cloud: { connection_id: own } } } });
  });

  it("keep another person's change if the request has an older revision", async () => {
    const { body } = await tenant.owner.get(projectPath());
    const headers = { 'if-match': `"${body.revision}"` };
    const binding = { cloud: { connection_id: await add({ project_id: tenant.project }) } };
    const put = () => tenant.owner.send('PUT', projectPath(), binding, headers);
    expect((await put()).status).toBe(200);
    expect((await put()).status).toBe(409);
  });

  it('can be sent back as they were read, unless somebody has changed them meanwhile', async () => {
    const id = await add({ project_id: tenant.project });
    await tenant.owner.put(environmentPath(), { cloud: { connection_id: id }, connections: { connection_id: id } });
    const read = await tenant.owner.get(environmentPath());
    const same = await tenant.owner.put(environmentPath(), read.body);
    expect([same.status, same.body], same.text).toEqual([200, read.body]);
    const fewer = await tenant.owner.put(environmentPath(), { connections: {}, expected_revision: read.body.revision });
    expect([fewer.status, fewer.body.connections, fewer.body.revision]).toEqual([200, {}, read.body.revision + 1]);
    for (const revision of [read.body.revision, undefined]) {
      const late = { ...read.body, revision, ...(revision === undefined && { expected_revision: 1 }) };
      const stale = await tenant.owner.put(environmentPath(), late);
      expect([stale.status, stale.headers['x-error-code']], stale.text).toEqual([409, 'stale_revision']);
    }
    const two = await tenant.owner.send('PUT', environmentPath(), read.body, { 'if-match': '"1"' });
    expect([two.status, two.body.error]).toEqual([400, expect.stringContaining('different revisions')]);
  });

  it('keep their revision if the same person binds the same connections, and not if another person does', async () => {
    const body = { cloud: { connection_id: await add({ project_id: tenant.project }), phases: ['apply', 'plan'] } };
    const first = await tenant.owner.put(environmentPath(), body);
    expect((await tenant.owner.put(environmentPath(), body)).body).toEqual(first.body);
    const member = await addMember();
    const other = await member.put(environmentPath(), body);
    expect(other.body).toMatchObject({
      revision: first.body.revision + 1,
      connections: { cloud: { bound_by: { id: member.id } } },
    });
  });

  it.each([
    ['a name in capitals', { CLOUD: {} }, 'CLOUD'],
    ['an unknown phase', { cloud: { phases: ['destroy'] } }, 'connections.cloud.phases'],
    ['an id that was hidden', { cloud: { connection_id: null } }, 'connections.cloud.connection_id'],
  ])('are refused if they are sent back as they were read, with %s', async (_what, body, named) => {
    const id = await add({ team_id: tenant.team });
    const whole = Object.fromEntries(Object.entries(body).map(([name, one]) => [name, { connection_id: id, ...one }]));
    const { status, text } = await tenant.owner.put(environmentPath(), { connections: whole });
    expect(status).toBe(400);
    expect(text).toContain(named);
  });

  it('are refused if another tenant owns them, with the same message as unknown ids', async () => {
    const foreign = await add({ team_id: stranger.team }, stranger.owner);
    const project = await tenant.owner.make('/projects', { team_id: tenant.team, name: `Other ${newId()}` });
    const ofOther = await add({ project_id: project.id });
    const errors = new Set<string>();
    for (const id of [foreign, ofOther, newId()]) {
      const { status, body } = await tenant.owner.put(environmentPath(), { cloud: { connection_id: id } });
      expect(status).toBe(400);
      errors.add(body.error);
    }
    expect([...errors]).toEqual([expect.stringContaining('cloud.connection_id: there is no such connection')]);
    const theirs = `/environments/${tenant.environment}/connections`;
    expect([(await stranger.owner.get(theirs)).status, (await stranger.owner.put(theirs, {})).status]).toEqual([
      404, 404,
    ]);
  });

  it.each([
    ['a name in capitals', { CLOUD: {} }, 'CLOUD'],
    ['no phase', { cloud: { phases: [] } }, 'phases'],
    ['an unknown phase', { cloud: { phases: ['destroy'] } }, 'phases'],
    ['a phase twice', { cloud: { phases: ['plan', 'plan'] } }, 'twice'],
    ['a field that does not exist', { cloud: { secret: 'x' } }, 'secret'],
  ])('are refused with %s', async (_what, body, named) => {
    const id = await add({ team_id: tenant.team });
    const whole = Object.fromEntries(Object.entries(body).map(([name, one]) => [name, { connection_id: id, ...one }]));
    const { status, text } = await tenant.owner.put(environmentPath(), whole);
    expect(status).toBe(400);
    expect(text).toContain(named);
  });

  it('can be bound only by users who may use connections and change the environment', async () => {
    const requester = await api.addUser('requester');
    await join(tenant, requester, 'member', 'admin');
    const viewer = await api.addUser('maintainer');
    await join(tenant, viewer, 'member', 'viewer');
    for (const user of [requester, viewer]) expect((await user.put(environmentPath(), {})).status).toBe(403);
  });
});

it('a template that requires an unknown kind of connection is refused with the existing kinds', async () => {
  const { id } = await tenant.owner.make('/registry/templates', { name: `Odd ${newId()}`, team_id: tenant.team });
  const executor = { kind: 'command', apply: [{ name: 'go', run: ['true'] }] };
  const spec = { executor, connections: [{ name: 'cloud', kind: 'aws' }] };
  const answer = await tenant.owner.post(`/registry/templates/${id}/versions`, { version: '1.0.0', spec });
  expect(answer.status).toBe(400);
  expect(answer.body.error).toMatch(/spec\.connections\.0\.kind: .*cloud, generic, git/);
});

describe('a run of a template that needs a connection', () => {
  const cloud = [{ name: 'cloud', kind: 'generic' }];

  it('is admitted with the binding of its environment or else of its project, and refused without one', async () => {
    await tenant.owner.put(environmentPath(), {});
    await tenant.owner.put(projectPath(), {});
    expect(await admit(cloud)).toMatchObject(refused('connection_unbound', '"cloud"', 'generic'));
    expect(await admit(cloud, { environment_id: undefined })).toMatchObject(
      refused('connection_unbound', '"cloud"', 'name an environment'),
    );
    await tenant.owner.put(projectPath(), { cloud: { connection_id: await add({ team_id: tenant.team }) } });
    expect((await admit(cloud)).status).toBe(202);
    const aws = await add({ team_id: tenant.team }, tenant.owner, {
      kind: 'cloud',
      config: { provider: 'aws', region: 'eu-west-1' },
      credentials: { access_key_id: 'AKIAEXAMPLE00000000', secret_access_key: 'x'.repeat(40) },
    });
    await tenant.owner.put(environmentPath(), { cloud: { connection_id: aws } });
    expect(await admit(cloud)).toMatchObject(refused('connection_unfit', '"cloud"', 'generic', 'cloud'));
    await tenant.owner.put(environmentPath(), {});
  });

  it('is refused if two connections provide the same variable in the same phase', async () => {
    const [one, other] = [await add({ team_id: tenant.team }), await add({ team_id: tenant.team })];
    const needs = [...cloud, { name: 'other', kind: 'generic' }];
    const bind = (phases: string[]) =>
      tenant.owner.put(environmentPath(), {
        cloud: { connection_id: one, phases: ['plan'] },
        other: { connection_id: other, phases },
      });
    await bind(['plan', 'apply']);
    expect(await admit(needs)).toMatchObject(refused('connection_conflict', '"cloud"', '"other"', 'TOKEN'));
    await bind(['apply']);
    expect((await admit(needs)).status).toBe(202);
    const third = await add({ team_id: tenant.team });
    await tenant.owner.put(environmentPath(), {
      cloud: { connection_id: one, phases: ['plan'] },
      other: { connection_id: other, phases: ['apply'] },
      third: { connection_id: third, phases: ['plan'] },
    });
    const three = [...needs, { name: 'third', kind: 'generic' }];
    expect(await admit(three)).toMatchObject(refused('connection_conflict', '"cloud"', '"third"', 'TOKEN'));
  });

  it.each([
    ['was disabled', (id: string) => admin.put(`/users/${id}`, { enabled: false })],
    ['left the team', (id: string) => tenant.owner.delete(`${tenant.teamPath}/members/${id}`)],
    [
      'may no longer change the team',
      (id: string) => tenant.owner.put(`${tenant.teamPath}/members/${id}`, { role: 'member' }),
    ],
    ['may no longer use connections', (id: string) => admin.put(`/users/${id}`, { role: 'requester' })],
  ])('is refused once the user who bound it %s, until somebody else binds it again', async (_what, end) => {
    const binder = await addMember();
    const bindings = { cloud: { connection_id: await add({ team_id: tenant.team }) } };
    expect((await binder.put(environmentPath(), bindings)).status).toBe(200);
    expect((await admit(cloud)).status).toBe(202);
    const ended = await end(binder.id);
    expect(ended.status, ended.text).toBeLessThan(300);
    expect(await admit(cloud)).toMatchObject(refused('connection_unauthorized', '"cloud"'));
    const shown = await tenant.owner.get(environmentPath());
    expect(shown.body.connections.cloud.problem).toBe('connection_unauthorized');
    expect((await tenant.owner.put(environmentPath(), bindings)).status).toBe(200);
    expect((await admit(cloud)).status).toBe(202);
  });

  it('stays refused after the user who bound it was disabled and enabled again', async () => {
    const binder = await addMember();
    await binder.put(environmentPath(), { cloud: { connection_id: await add({ team_id: tenant.team }) } });
    for (const enabled of [false, true]) expect((await admin.put(`/users/${binder.id}`, { enabled })).status).toBe(200);
    expect(await admit(cloud)).toMatchObject(refused('connection_unauthorized', '"cloud"'));
  });

  it.each(['team', 'organization'])(
    'stays refused after the user who bound it left the %s and joined again',
    async (what) => {
      const binder = await addMember();
      const bindings = { cloud: { connection_id: await add({ team_id: tenant.team }) } };
      expect((await binder.put(environmentPath(), bindings)).status).toBe(200);
      expect((await admit(cloud)).status).toBe(202);
      const left = await tenant.owner.delete(`${tenant.teamPath}/members/${binder.id}`);
      expect(left.status, left.text).toBe(204);
      if (what === 'organization') {
        const gone = await tenant.owner.delete(`/organizations/${tenant.organization}/members/${binder.id}`);
        expect(gone.status, gone.text).toBe(204);
        await join(tenant, binder, 'member', 'admin');
      } else {
        const joined = await tenant.owner.put(`${tenant.teamPath}/members/${binder.id}`, { role: 'admin' });
        expect(joined.status, joined.text).toBeLessThan(300);
      }
      expect(await admit(cloud)).toMatchObject(refused('connection_unauthorized', '"cloud"'));
      expect((await tenant.owner.get(environmentPath())).body.connections.cloud.problem).toBe(
        'connection_unauthorized',
      );
      expect((await binder.put(environmentPath(), bindings)).status).toBe(200);
      expect((await admit(cloud)).status).toBe(202);
    },
  );

  it('is still admitted after the administrator who bound it without a membership joined the team', async () => {
    const other = await api.addUser('admin');
    await other.put(environmentPath(), { cloud: { connection_id: await add({ team_id: tenant.team }) } });
    await join(tenant, other, 'member', 'viewer');
    expect((await admit(cloud)).status).toBe(202);
  });

  it('is refused while connections are turned off, with the reason', async () => {
    await tenant.owner.put(environmentPath(), { cloud: { connection_id: await add({ team_id: tenant.team }) } });
    const gate = (connections: object) => admin.patch('/admin/settings', { features: { connections } });
    expect((await gate({ enabled: false, reason: 'An audit' })).status).toBe(200);
    try {
      const answer = await admit(cloud);
      expect(answer).toMatchObject({ status: 403, headers: { 'x-error-code': 'feature_disabled' } });
      expect(answer.body.error).toContain('An audit');
      expect((await admit([])).status).toBe(202);
    } finally {
      await gate({ enabled: true });
    }
    expect((await admit(cloud)).status).toBe(202);
  });

  it('is refused once the connection has another owner or is deleted', async () => {
    await tenant.owner.put(projectPath(), {});
    const id = await add({ team_id: tenant.team });
    await tenant.owner.put(environmentPath(), { cloud: { connection_id: id } });
    await api.rows('update connections set team_id = ? where id = ?', [stranger.team, id]);
    const elsewhere = await admit(cloud);
    expect(elsewhere).toMatchObject(refused('connection_elsewhere', '"cloud"'));
    expect(elsewhere.body.error).not.toContain('Bound ');
    const hidden = { connection_id: null, connection: null, provides: [], problem: 'connection_elsewhere' };
    expect((await tenant.owner.get(environmentPath())).body.connections.cloud).toMatchObject(hidden);
    expect((await admin.get(environmentPath())).body.connections.cloud).toMatchObject({ connection_id: id });
    await api.rows('update connections set team_id = ? where id = ?', [tenant.team, id]);
    expect((await tenant.owner.delete(`/admin/connections/${id}`)).status).toBe(204);
    expect(await admit(cloud)).toMatchObject(refused('connection_unbound', '"cloud"'));
  });

  it('bindings change their revision when a connection that they bind is deleted', async () => {
    const id = await add({ team_id: tenant.team });
    const places = [
      [environmentPath(), `/environments/${tenant.environment}`],
      [projectPath(), `/projects/${tenant.project}`],
    ] as const;
    for (const [bindings] of places) await tenant.owner.put(bindings, { lost: { connection_id: id } });
    const tagsOf = () => Promise.all(places.map(async ([, place]) => (await tenant.owner.get(place)).headers['etag']));
    const before = await tagsOf();
    expect((await tenant.owner.delete(`/admin/connections/${id}`)).status).toBe(204);
    const after = await tagsOf();
    expect(after.map((tag, index) => tag === before[index])).toEqual([false, false]);
    const stale = await tenant.owner.send('PUT', environmentPath(), {}, { 'if-match': String(before[0]) });
    expect(stale.status).toBe(409);
  });

  it('bindings show to readers without access to connections that a connection is bound, but not which', async () => {
    const requester = await api.addUser('requester');
    await join(tenant, requester, 'member', 'viewer');
    await tenant.owner.put(environmentPath(), { cloud: { connection_id: await add({ team_id: tenant.team }) } });
    const { status, body } = await requester.get(environmentPath());
    expect(status).toBe(200);
    expect(body.connections.cloud).toMatchObject({ connection_id: null, connection: null, kind: 'generic' });
  });
});
