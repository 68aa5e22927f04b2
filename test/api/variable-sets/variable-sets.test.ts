import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadEnvironmentVariables } from '#domain/variables/loaded.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.close());

const secret = 'hunter2-do-not-show';

interface Owner {
  readonly organization_id?: string;
  readonly team_id?: string;
  readonly project_id?: string;
}

/** Creates a set of the tenant's owner with these environment variables, attached to these places. */
async function makeSet(
  { owner }: Tenant,
  name: string,
  of: Owner,
  values: Record<string, string>,
  at: { project_ids?: string[]; environment_ids?: string[] } = {},
): Promise<string> {
  const made = await owner.post('/variable-sets', { name, ...of });
  expect(made.status, made.text).toBe(201);
  const variables = Object.entries(values).map(([variable, value]) => ({ name: variable, value, category: 'env' }));
  const filled = await owner.put(`/variable-sets/${made.body.id}/variables`, { variables });
  expect(filled.status, filled.text).toBe(200);
  const places = { project_ids: [], environment_ids: [], ...at };
  const attached = await owner.put(`/variable-sets/${made.body.id}/attachments`, places);
  expect(attached.status, attached.text).toBe(200);
  return made.body.id;
}

/** The variables of the environment's runs, with their values and the names of their sources. */
async function given({ environment }: Tenant): Promise<Record<string, string>> {
  const { orm, keyRing } = api.services;
  const { env } = await loadEnvironmentVariables(orm.em.fork(), keyRing, environment);
  return Object.fromEntries(env.map(({ name, value, source }) => [name, `${value} from ${source.name}`]));
}

describe('a variable set', () => {
  test('gets a warning for a default if no template of its owner has the template variable', async () => {
    const [tenant, other] = [await makeTenant(api), await makeTenant(api)];
    const { owner, organization, team } = tenant;
    const publish = async (by: Tenant, name: string) => {
      const template = await by.owner.make('/registry/templates', { name: `With ${name}`, team_id: by.team });
      const variables = { type: 'object', properties: { [name]: { type: 'string' } } };
      const spec = { variables, executor: { kind: 'command', apply: [{ name: 'go', run: ['true'] }] } };
      await by.owner.make(`/registry/templates/${template.id}/versions`, { version: '1.0.0', spec });
    };
    await publish(other, 'zone');
    for (const of of [{ organization_id: organization }, { team_id: team }]) {
      const { id } = await owner.make('/variable-sets', { name: `Defaults ${Object.keys(of)}`, ...of });
      const set = (category: string) => owner.put(`/variable-sets/${id}/variables/zone`, { value: 'eu', category });
      expect((await set('env')).body.warnings).toEqual([]);
      await owner.delete(`/variable-sets/${id}/variables/zone`);
      const { body } = await set('template');
      expect(body.warnings).toEqual([expect.stringContaining('has a variable "zone"')]);
      const pageOf = async (reader: ApiUser) =>
        (await (await signInVisitor(api, reader)).get(`/variable-sets/${id}`)).text;
      expect(await pageOf(owner)).toContain('No template that can run here has a variable');
      if (of.organization_id !== undefined) {
        const outsider = await api.addUser('maintainer');
        await join(tenant, outsider, 'member');
        const shown = await outsider.get(`/variable-sets/${id}/variables/zone`);
        expect([shown.status, shown.body.warnings], 'a member who may not read the teams').toEqual([200, []]);
        expect(await pageOf(outsider)).not.toContain('No template that can run here');
      }
      const again = await owner.put(`/variable-sets/${id}/variables/zone`, body);
      expect(again.status, 'it is sent back as it was read').toBe(200);
    }
    await publish(tenant, 'zone');
    const { body } = await owner.get('/variable-sets');
    for (const { id } of body.variable_sets.filter(({ name }: { name: string }) => name.startsWith('Defaults '))) {
      expect((await owner.get(`/variable-sets/${id}/variables/zone`)).body.warnings).toEqual([]);
    }
  });

  test('provides its variables to the environments that it is attached to, with precedence for the nearest set', async () => {
    const tenant = await makeTenant(api);
    const { organization, team, project, environment, owner } = tenant;
    const names = (...of: string[]) => Object.fromEntries(of.map((name) => [name, 'yes']));
    const at = { project_ids: [project] };
    await makeSet(tenant, 'organization', { organization_id: organization }, names('A', 'B', 'C', 'D', 'E', 'F'), at);
    await makeSet(tenant, 'team b', { team_id: team }, names('B', 'C', 'D', 'E', 'F'), at);
    await makeSet(tenant, 'team a', { team_id: team }, names('C', 'D', 'E', 'F'), at);
    await makeSet(tenant, 'project', { project_id: project }, names('D', 'E', 'F'), at);
    await makeSet(tenant, 'near', { organization_id: organization }, names('E', 'F'), {
      environment_ids: [environment],
    });
    await makeSet(tenant, 'nowhere', { team_id: team }, names('A', 'Z'));
    await owner.put(`/environments/${environment}/variables/F`, { value: 'own', category: 'env' });
    const { name } = (await owner.get(`/environments/${environment}`)).body;
    expect(await given(tenant)).toEqual({
      A: 'yes from organization',
      B: 'yes from team b',
      C: 'yes from team a',
      D: 'yes from project',
      E: 'yes from near',
      F: `own from ${name}`,
    });
  });

  test('is shown in a run with the variables that it provided, without its secrets', async () => {
    const tenant = await makeTenant(api);
    const set = await makeSet(tenant, 'aws-common', { team_id: tenant.team }, {}, { project_ids: [tenant.project] });
    const variables = [
      { name: 'AWS_REGION', value: 'eu-west-1', category: 'env' },
      { name: 'AWS_SECRET', value: secret, category: 'env', sensitive: true },
      { name: 'size', value: 3, category: 'template' },
      { name: 'unused', value: 3, category: 'template' },
    ];
    const written = await tenant.owner.put(`/variable-sets/${set}/variables`, { variables });
    expect(written.text).not.toContain(secret);
    const spec = {
      variables: { type: 'object', properties: { size: { type: 'integer' }, own: { type: 'integer' } } },
      executor: { kind: 'command', apply: [{ name: 'greet', run: ['true'] }] },
    };
    const template = await tenant.owner.post('/registry/templates', { name: 'Web', team_id: tenant.team });
    await tenant.owner.post(`/registry/templates/${template.body.id}/versions`, { version: '1.0.0', spec });
    const admitted = await tenant.owner.post('/runs', {
      template_id: template.body.id,
      environment_id: tenant.environment,
      variables: { own: 1 },
    });
    expect(admitted.status, admitted.text).toBe(202);
    const from = { kind: 'variable_set', id: set, name: 'aws-common' };
    expect(admitted.body.variables).toEqual({ size: 3, own: 1 });
    expect(admitted.body.variable_sources).toEqual([
      { variable: 'size', category: 'template', ...from },
      { variable: 'AWS_REGION', category: 'env', ...from },
      { variable: 'AWS_SECRET', category: 'env', ...from },
    ]);
    expect(admitted.text).not.toContain(secret);
    expect(await given(tenant)).toMatchObject({ AWS_REGION: 'eu-west-1 from aws-common' });
    const { text } = await tenant.owner.get(`/audit?resource_id=${set}`);
    expect(text).toContain('variable_set.variables_replaced');
    expect(text).not.toContain(secret);
  });

  test('provides no variables to a project that was transferred to another team', async () => {
    const tenant = await makeTenant(api);
    const set = await makeSet(
      tenant,
      'ours',
      { team_id: tenant.team },
      { TOKEN: 'x' },
      { project_ids: [tenant.project] },
    );
    const other = await tenant.owner.post(`/organizations/${tenant.organization}/teams`, { name: 'Others' });
    expect(await given(tenant)).toEqual({ TOKEN: 'x from ours' });
    const moved = await tenant.owner.post(`/projects/${tenant.project}/transfer`, { team_id: other.body.id });
    expect(moved.status, moved.text).toBe(200);
    expect(await given(tenant)).toEqual({});
    const { body } = await tenant.owner.get(`/variable-sets/${set}/attachments`);
    expect(body.attachments).toMatchObject([{ id: tenant.project, effective: false }]);
    const none = { project_ids: [], environment_ids: [] };
    expect((await tenant.owner.put(`/variable-sets/${set}/attachments`, none)).status).toBe(200);
    const { body: audit } = await tenant.owner.get(`/audit?action=variable_set.attached&resource_id=${set}&limit=1`);
    const removed = { ...none, void: { ...none, project_ids: [tenant.project] } };
    expect(audit.audit_records).toMatchObject([{ before: removed, after: { ...none, void: none } }]);
    const giving = await tenant.owner.get(`/variable-sets?environment_id=${tenant.environment}`);
    expect([giving.status, giving.body.variable_sets]).toEqual([200, []]);
  });

  test('provides no variables to a project that was transferred and came back until it is attached again', async () => {
    const tenant = await makeTenant(api);
    const places = { project_ids: [tenant.project], environment_ids: [tenant.environment] };
    const set = await makeSet(tenant, 'of-team', { team_id: tenant.team }, { A: '1' }, places);
    await makeSet(tenant, 'of-organization', { organization_id: tenant.organization }, { B: '2' }, places);
    await makeSet(tenant, 'of-project', { project_id: tenant.project }, { C: '3' }, places);
    const names = async () => Object.keys(await given(tenant)).sort();
    expect(await names()).toEqual(['A', 'B', 'C']);
    const other = await tenant.owner.make(`/organizations/${tenant.organization}/teams`, { name: 'Elsewhere' });
    for (const team_id of [other.id, tenant.team]) {
      const { status, text } = await tenant.owner.post(`/projects/${tenant.project}/transfer`, { team_id });
      expect(status, text).toBe(200);
      expect(await names()).toEqual(['B', 'C']);
    }
    const path = `/variable-sets/${set}/attachments`;
    const effective = async () =>
      (await tenant.owner.get(path)).body.attachments.map((each: { effective: boolean }) => each.effective);
    expect(await effective()).toEqual([false, false]);
    expect(
      (await tenant.owner.get(`/variable-sets?environment_id=${tenant.environment}`)).body.variable_sets,
    ).toHaveLength(2);
    expect((await tenant.owner.put(path, places)).status).toBe(200);
    const { body } = await tenant.owner.get(`/audit?action=variable_set.attached&resource_id=${set}&limit=1`);
    const nowhere = { project_ids: [], environment_ids: [] };
    expect(body.audit_records).toMatchObject([{ before: nowhere, after: places }]);
    expect(await effective()).toEqual([true, true]);
    expect(await names()).toEqual(['A', 'B', 'C']);
  });

  test('provides no variables to a team that left its organization and came back', async () => {
    const [tenant, other] = [await makeTenant(api), await makeTenant(api)];
    await join(other, tenant.owner, 'admin');
    const places = { project_ids: [], environment_ids: [tenant.environment] };
    await makeSet(tenant, 'of-organization', { organization_id: tenant.organization }, { B: '2' }, places);
    await makeSet(tenant, 'of-team', { team_id: tenant.team }, { A: '1' }, places);
    await tenant.owner.patch(tenant.teamPath, { slug: 'moving' });
    for (const [from, to] of [
      [tenant, other],
      [other, tenant],
    ] as const) {
      const path = `/organizations/${from.organization}/teams/${tenant.team}/transfer`;
      const { status, text } = await tenant.owner.post(path, { organization_id: to.organization });
      expect(status, text).toBe(200);
      expect(Object.keys(await given(tenant))).toEqual(['A']);
    }
  });

  test('counts the places that its reader may not read, without their names', async () => {
    const tenant = await makeTenant(api);
    const places = { project_ids: [tenant.project], environment_ids: [tenant.environment] };
    const set = await makeSet(tenant, 'shared', { organization_id: tenant.organization }, { A: '1' }, places);
    const outsider = await api.addUser('maintainer');
    await join(tenant, outsider, 'member');
    expect((await outsider.get(`/projects/${tenant.project}`)).status).toBe(404);
    const shown = await outsider.get(`/variable-sets/${set}/attachments`);
    expect([shown.status, shown.body.attachments, shown.body.hidden], shown.text).toEqual([200, [], 2]);
    const full = await tenant.owner.get(`/variable-sets/${set}/attachments`);
    expect([full.body.attachments.length, full.body.hidden]).toEqual([2, 0]);
  });

  test.each([
    ['the list as it was read', (_revision: number) => ({ body: {}, headers: {} })],
    [
      'expected_revision',
      (revision: number) => ({ body: { revision: undefined, expected_revision: revision }, headers: {} }),
    ],
    ['If-Match', (revision: number) => ({ body: { revision: undefined }, headers: { 'if-match': `"${revision}"` } })],
  ])('keeps a variable that was added meanwhile if a replacement sends %s', async (_name, withRevision) => {
    const tenant = await makeTenant(api);
    const set = await makeSet(tenant, 'raced', { team_id: tenant.team }, { A: '1' });
    const path = `/variable-sets/${set}/variables`;
    const read = await tenant.owner.get(path);
    expect(read.headers['etag']).toBe(`"${read.body.revision}"`);
    await tenant.owner.put(`${path}/ADDED`, { value: '2', category: 'env' });
    const { body, headers } = withRevision(read.body.revision);
    const lost = await tenant.owner.send('PUT', path, { ...read.body, ...body }, headers);
    expect([lost.status, lost.headers['x-error-code']], lost.text).toEqual([409, 'stale_revision']);
    const again = await tenant.owner.get(path);
    expect(again.body.variables.map(({ name }: { name: string }) => name)).toEqual(['A', 'ADDED']);
    const kept = await tenant.owner.put(path, again.body);
    expect([kept.status, kept.body.revision], kept.text).toEqual([200, again.body.revision]);
    const two = await tenant.owner.put(path, { ...again.body, expected_revision: again.body.revision + 1 });
    expect([two.status, two.body.error]).toEqual([400, expect.stringContaining('name different revisions')]);
  });

  test('can be attached only to places of its owner, and others answer like missing ones', async () => {
    const [tenant, stranger] = [await makeTenant(api), await makeTenant(api)];
    const set = await makeSet(tenant, 'ours', { team_id: tenant.team }, {});
    const attach = (body: object) => tenant.owner.put(`/variable-sets/${set}/attachments`, body);
    const foreign = await attach({ project_ids: [], environment_ids: [stranger.environment] });
    const missing = await attach({ project_ids: [], environment_ids: [crypto.randomUUID()] });
    expect([foreign.status, foreign.body]).toEqual([400, missing.body]);
    expect(foreign.body.error).toContain('environment_ids[0]');
    expect((await tenant.owner.get(`/variable-sets/${set}/attachments`)).body.attachments).toEqual([]);
  });

  test('can be changed only by the admins of its organization, and read by its members', async () => {
    const tenant = await makeTenant(api);
    const set = await makeSet(tenant, 'shared', { organization_id: tenant.organization }, { REGION: 'eu' });
    const member = await api.addUser('maintainer');
    await join(tenant, member, 'member', 'owner');
    expect((await member.get(`/variable-sets/${set}/variables`)).body.variables).toHaveLength(1);
    expect((await member.get(`/variable-sets?organization_id=${tenant.organization}`)).body.variable_sets).toHaveLength(
      1,
    );
    const refused = await member.patch(`/variable-sets/${set}`, { name: 'mine' });
    expect([refused.status, refused.body.error]).toEqual([403, expect.stringContaining('organization role admin')]);
    const stranger = await makeTenant(api);
    expect((await stranger.owner.get(`/variable-sets/${set}`)).status).toBe(404);
    expect((await stranger.owner.get('/variable-sets')).body.variable_sets).toEqual([]);
  });

  test('has one owner and a name that no other set of its owner has', async () => {
    const tenant = await makeTenant(api);
    const { organization: organization_id, team: team_id, owner } = tenant;
    const two = await owner.post('/variable-sets', { name: 'x', organization_id, team_id });
    expect([two.status, two.body.error]).toEqual([400, expect.stringContaining('at most one of')]);
    await makeSet(tenant, 'twin', { team_id }, {});
    await makeSet(tenant, 'twin', { organization_id }, {});
    const taken = await owner.post('/variable-sets', { name: 'twin', team_id });
    expect([taken.status, taken.headers['x-error-code']]).toEqual([409, 'name_taken']);
  });

  test('keeps its secrets when the list is sent back as it was read, and refuses a stale change', async () => {
    const tenant = await makeTenant(api);
    const set = await makeSet(tenant, 'kept', { team_id: tenant.team }, {}, { environment_ids: [tenant.environment] });
    const path = `/variable-sets/${set}`;
    const variables = [{ name: 'TOKEN', value: secret, category: 'env', sensitive: true }];
    await tenant.owner.put(`${path}/variables`, { variables });
    const read = (await tenant.owner.get(`${path}/variables`)).body;
    expect(read.variables[0]).toMatchObject({ sensitive: true, value: null });
    expect((await tenant.owner.put(`${path}/variables`, read)).status).toBe(200);
    expect(await given(tenant)).toEqual({ TOKEN: `${secret} from kept` });
    const stale = await tenant.owner.patch(path, { name: 'late', expected_revision: 1 });
    expect([stale.status, stale.headers['x-error-code']]).toEqual([409, 'stale_revision']);
    expect((await tenant.owner.delete(path)).status).toBe(204);
    expect(await given(tenant)).toEqual({});
  });

  test('changes one variable at a time, and counts each change of the set', async () => {
    const tenant = await makeTenant(api);
    const set = await makeSet(
      tenant,
      'single',
      { team_id: tenant.team },
      { A: '1', B: '2' },
      {
        environment_ids: [tenant.environment],
      },
    );
    const path = `/variable-sets/${set}`;
    const { revision } = (await tenant.owner.get(path)).body;
    const made = await tenant.owner.put(`${path}/variables/TOKEN`, { value: secret, category: 'env', sensitive: true });
    expect([made.status, made.body.value], made.text).toEqual([200, null]);
    expect(made.body.actions).toMatchObject([
      { name: 'set', allowed: true },
      { name: 'remove', allowed: true },
    ]);
    expect((await tenant.owner.get(path)).body).toMatchObject({ variables: 3, revision: revision + 1 });
    const kept = { category: 'env', sensitive: true, phases: ['apply'], expected_revision: made.body.revision };
    const changed = await tenant.owner.put(`${path}/variables/TOKEN`, kept);
    expect([changed.status, changed.body.phases], changed.text).toEqual([200, ['apply']]);
    expect(await given(tenant)).toMatchObject({ TOKEN: `${secret} from single`, A: '1 from single' });
    const stale = await tenant.owner.put(`${path}/variables/TOKEN`, kept);
    expect([stale.status, stale.headers['x-error-code']]).toEqual([409, 'stale_revision']);
    expect((await tenant.owner.delete(`${path}/variables/A`)).status).toBe(204);
    expect((await tenant.owner.get(`${path}/variables/A`)).status).toBe(404);
    expect((await tenant.owner.delete(`${path}/variables/A`)).status).toBe(404);
    expect(Object.keys(await given(tenant)).sort()).toEqual(['B', 'TOKEN']);
    expect((await tenant.owner.get(`/audit?resource_id=${set}`)).text).not.toContain(secret);
  });

  test('refuses changes of variables by a reader, and hides them from a stranger', async () => {
    const tenant = await makeTenant(api);
    const set = await makeSet(tenant, 'read', { team_id: tenant.team }, { A: '1' });
    const viewer = await api.addUser('maintainer');
    await join(tenant, viewer, 'member', 'viewer');
    const path = `/variable-sets/${set}/variables/A`;
    const read = await viewer.get(path);
    expect([read.status, read.body.actions[0].allowed], read.text).toEqual([200, false]);
    expect((await viewer.put(path, { value: '2', category: 'env' })).status).toBe(403);
    expect((await viewer.delete(path)).status).toBe(403);
    const stranger = await makeTenant(api);
    expect((await stranger.owner.get(path)).status).toBe(404);
    expect((await stranger.owner.put(path, { value: '2', category: 'env' })).status).toBe(404);
  });
});
