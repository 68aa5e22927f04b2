import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadEnvironmentVariables } from '#domain/variables/loaded.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.close());

const secret = 'hunter2-do-not-show';
const pathOf = ({ environment }: Tenant, name = '') => `/environments/${environment}/variables${name && `/${name}`}`;
const load = ({ environment }: Tenant) =>
  loadEnvironmentVariables(api.services.orm.em.fork(), api.services.keyRing, environment);

const sourceOf = ({ environment: id }: Tenant) => ({ kind: 'environment', id, name: 'Development' });

describe('a variable of an environment', () => {
  test('is set, replaced, listed by name and removed', async () => {
    const tenant = await makeTenant(api);
    const { owner } = tenant;
    const zone = await owner.put(pathOf(tenant, 'zone'), { value: { region: 'eu', size: 3 }, category: 'template' });
    expect(zone).toMatchObject({
      status: 200,
      body: { name: 'zone', category: 'template', sensitive: false, revision: 1 },
    });
    await owner.put(pathOf(tenant, 'AWS_REGION'), { value: 'eu-west-1', category: 'env' });
    const again = await owner.put(pathOf(tenant, 'zone'), {
      value: [1, null],
      category: 'template',
      expected_revision: 1,
    });
    expect(again.body).toMatchObject({ value: [1, null], revision: 2 });
    const stale = await owner.put(pathOf(tenant, 'zone'), { value: 1, category: 'template', expected_revision: 1 });
    expect(stale.status).toBe(409);
    const { body } = await owner.get(pathOf(tenant));
    expect(body.variables.map(({ name }: { name: string }) => name)).toEqual(['AWS_REGION', 'zone']);
    expect((await owner.delete(pathOf(tenant, 'zone'))).status).toBe(204);
    expect((await owner.delete(pathOf(tenant, 'zone'))).status).toBe(404);
  });

  test('a variable of an environment gets a warning if no template has the template variable for which it is a default', async () => {
    const tenant = await makeTenant(api);
    const { owner } = tenant;
    const set = (name: string, category: string) => owner.put(pathOf(tenant, name), { value: 'eu', category });
    const { body } = await set('AWS_REGION', 'template');
    expect(body.warnings).toEqual([expect.stringContaining('has a variable "AWS_REGION"')]);
    expect((await owner.get(pathOf(tenant, 'AWS_REGION'))).body.warnings).toEqual(body.warnings);
    const visitor = await signInVisitor(api, owner);
    const page = `/environments/${tenant.environment}?tab=variables`;
    expect((await visitor.get(page)).text).toContain('No template that can run here has a variable');
    expect((await owner.put(pathOf(tenant, 'AWS_REGION'), body)).status, 'it is sent back as it was read').toBe(200);
    await owner.delete(pathOf(tenant, 'AWS_REGION'));
    expect((await set('AWS_REGION', 'env')).body.warnings).toEqual([]);
    const variables = { type: 'object', properties: { region: { type: 'string' } } };
    const template = await owner.make('/registry/templates', { name: 'Regions', team_id: tenant.team });
    expect((await set('region', 'template')).body.warnings).toHaveLength(1);
    const spec = { variables, executor: { kind: 'command', apply: [{ name: 'go', run: ['true'] }] } };
    await owner.make(`/registry/templates/${template.id}/versions`, { version: '1.0.0', spec });
    expect((await set('region', 'template')).body.warnings).toEqual([]);
    expect(await visitor.page(page)).not.toContain('No template that can run here');
  });

  test('is removed only at the revision that the request names', async () => {
    const tenant = await makeTenant(api);
    const path = pathOf(tenant, 'zone');
    for (const value of [1, 2]) await tenant.owner.put(path, { value, category: 'template' });
    const stale = await tenant.owner.delete(path, { 'if-match': '"1"' });
    expect([stale.status, stale.headers['x-error-code']]).toEqual([409, 'stale_revision']);
    expect((await tenant.owner.get(path)).body).toMatchObject({ value: 2 });
    expect((await tenant.owner.delete(path, { 'if-match': '"2"' })).status).toBe(204);
  });

  test.each(['by itself', 'with all others'])(
    'a variable of an environment that was removed %s and is set again has a higher revision than before',
    async (how) => {
      const tenant = await makeTenant(api);
      const { owner } = tenant;
      const path = pathOf(tenant, 'zone');
      for (const value of [1, 2]) await owner.put(path, { value, category: 'template' });
      const removed =
        how === 'by itself' ? await owner.delete(path) : await owner.put(pathOf(tenant), { variables: [] });
      expect(removed.status, removed.text).toBeLessThan(300);
      expect((await owner.put(path, { value: 3, category: 'template' })).body).toMatchObject({ revision: 3 });
      const stale = await owner.put(path, { value: 4, category: 'template', expected_revision: 1 });
      expect(stale.status).toBe(409);
      expect((await owner.delete(path, { 'if-match': '"2"' })).status).toBe(409);
    },
  );

  test('a variable of an environment that is sensitive appears in no answer, list, audit record or database row', async () => {
    const tenant = await makeTenant(api);
    const put = await tenant.owner.put(pathOf(tenant, 'AWS_SECRET'), {
      value: secret,
      category: 'env',
      sensitive: true,
    });
    expect(put.body).toMatchObject({ name: 'AWS_SECRET', category: 'env', sensitive: true, value: null });
    const list = await tenant.owner.get(pathOf(tenant));
    expect(list.body.variables).toMatchObject([{ name: 'AWS_SECRET', sensitive: true, value: null }]);
    const audit = await api.rows(`select before, after from audit_records where resource_id = ?`, [tenant.environment]);
    expect(audit.length).toBeGreaterThan(1);
    const [row] = await api.rows<{ value: unknown; sealed_value: Buffer }>(
      'select * from environment_variables where environment_id = ?',
      [tenant.environment],
    );
    expect(row!.value).toBeNull();
    expect(row!.sealed_value.includes(secret)).toBe(false);
    expect(put.text + list.text + JSON.stringify(audit)).not.toContain(secret);
    expect(await load(tenant)).toEqual({
      template: {},
      env: [
        {
          name: 'AWS_SECRET',
          value: secret,
          sensitive: true,
          phases: ['plan', 'apply'],
          source: sourceOf(tenant),
        },
      ],
    });
  });

  test('reaches runs by category with its JSON value, sensitive or not', async () => {
    const tenant = await makeTenant(api);
    await tenant.owner.put(pathOf(tenant, 'size'), { value: 0, category: 'template' });
    await tenant.owner.put(pathOf(tenant, 'nothing'), { value: null, category: 'template' });
    await tenant.owner.put(pathOf(tenant, 'keys'), { value: { a: [secret] }, category: 'template', sensitive: true });
    await tenant.owner.put(pathOf(tenant, 'EMPTY'), { value: '', category: 'env' });
    const source = sourceOf(tenant);
    expect(await load(tenant)).toEqual({
      template: {
        size: { value: 0, sensitive: false, source },
        nothing: { value: null, sensitive: false, source },
        keys: { value: { a: [secret] }, sensitive: true, source },
      },
      env: [{ name: 'EMPTY', value: '', sensitive: false, phases: ['plan', 'apply'], source }],
    });
  });

  test('cannot be decrypted if its encrypted value is copied to another name or environment', async () => {
    const [one, two] = await Promise.all([makeTenant(api), makeTenant(api)]);
    for (const tenant of [one, two]) {
      await tenant.owner.put(pathOf(tenant, 'TOKEN'), { value: secret, category: 'env', sensitive: true });
    }
    await api.rows(
      `update environment_variables set sealed_value = (select sealed_value from environment_variables where environment_id = ?)
        where environment_id = ?`,
      [one.environment, two.environment],
    );
    await expect(load(two)).rejects.toThrow();
    await api.rows(`update environment_variables set name = 'OTHER' where environment_id = ?`, [one.environment]);
    await expect(load(one)).rejects.toThrow();
  });

  test('a variable of an environment that is sensitive can be replaced only by users who may manage secrets, even with a plain value', async () => {
    const tenant = await makeTenant(api);
    const [viewer, member, requester, admin] = await Promise.all([
      api.addUser('operator'),
      api.addUser('operator'),
      api.addUser('requester'),
      api.addUser('maintainer'),
    ]);
    await join(tenant, viewer, 'member', 'viewer');
    await join(tenant, member, 'member', 'member');
    await join(tenant, requester, 'member', 'owner');
    await join(tenant, admin, 'member', 'admin');
    const sensitive = { value: secret, category: 'env', sensitive: true };
    expect((await admin.put(pathOf(tenant, 'TOKEN'), sensitive)).status).toBe(200);
    for (const user of [viewer, member, requester]) {
      expect((await user.put(pathOf(tenant, 'TOKEN'), sensitive)).status).toBe(403);
      expect((await user.put(pathOf(tenant, 'TOKEN'), { value: 'plain', category: 'env' })).status).toBe(403);
      expect((await user.delete(pathOf(tenant, 'TOKEN'))).status).toBe(403);
      expect((await user.get(pathOf(tenant))).body.variables).toMatchObject([{ name: 'TOKEN', value: null }]);
    }
    expect((await admin.put(pathOf(tenant, 'TOKEN'), { value: 'plain', category: 'env' })).body.value).toBe('plain');
    const [row] = await api.rows<{ sealed_value: unknown }>(
      'select sealed_value from environment_variables where environment_id = ?',
      [tenant.environment],
    );
    expect(row!.sealed_value).toBeNull();
  });

  test.each([
    'COORDINATOR_TOKEN',
    'coordinator_x',
    'PATH',
    'HOME',
    'TMPDIR',
    'LD_PRELOAD',
    'ld_library_path',
    'DYLD_INSERT_LIBRARIES',
    'BASH_ENV',
    'NODE_OPTIONS',
    'TF_CLI_CONFIG_FILE',
    'TF_CLI_ARGS_apply',
    'TF_DATA_DIR',
    'TF_VAR_size',
    'TF_HTTP_ADDRESS',
    'TF_LOG_PATH',
    'TF_REATTACH_PROVIDERS',
    'TOFU_CPU_PROFILE',
    'CHECKPOINT_DISABLE',
  ])('a variable of an environment of the category env with the reserved name %s answers 400', async (name) => {
    const tenant = await makeTenant(api);
    const answer = await tenant.owner.put(pathOf(tenant, name), { value: 'x', category: 'env' });
    expect(answer).toMatchObject({ status: 400, body: { error: expect.stringContaining('reserved') } });
  });

  test.each([
    ['TF_TOKEN_app_terraform_io', { value: 'x', category: 'env', sensitive: true }, 200],
    ['AWS_ACCESS_KEY_ID', { value: 'x', category: 'env' }, 200],
    ['PATH', { value: 'x', category: 'template' }, 200],
    ['with-hyphen', { value: 'x', category: 'template' }, 200],
    ['with-hyphen', { value: 'x', category: 'env' }, 400],
    ['1st', { value: 'x', category: 'template' }, 400],
    ['a%3Db', { value: 'x', category: 'env' }, 400],
    ['a%00b', { value: 'x', category: 'env' }, 400],
    ['__proto__', { value: {}, category: 'template' }, 400],
    ['NUMBER', { value: 3, category: 'env' }, 400],
    ['NUL', { value: 'a\u0000b', category: 'env' }, 400],
    ['LONG', { value: 'x'.repeat(70_000), category: 'env' }, 400],
    ['NONE', { category: 'env' }, 400],
    ['OTHER', { value: 'x', category: 'file' }, 400],
  ])('with the name %s and the value %j answers %i', async (name, body, status) => {
    const tenant = await makeTenant(api);
    const answer = await tenant.owner.put(pathOf(tenant, name), body);
    expect(answer.status, answer.text.slice(0, 300)).toBe(status);
  });

  test('is listed only once over all pages', async () => {
    const tenant = await makeTenant(api);
    const names = ['A', 'B', 'Z', '_x', 'a', 'b-c', 'z'];
    for (const name of names) await tenant.owner.put(pathOf(tenant, name), { value: 1, category: 'template' });
    const seen: string[] = [];
    let cursor = '';
    do {
      const { body } = await tenant.owner.get(`${pathOf(tenant)}?limit=3${cursor && `&cursor=${cursor}`}`);
      seen.push(...body.variables.map(({ name }: { name: string }) => name));
      cursor = body.next_cursor ?? '';
    } while (cursor);
    expect(seen).toEqual(names);
    expect((await tenant.owner.get(`${pathOf(tenant)}?cursor=%00`)).status).toBe(400);
  });

  test('written twice at once exists once and counts both writes', async () => {
    const tenant = await makeTenant(api);
    const answers = await Promise.all(
      ['a', 'b', 'c', 'd'].map((value) => tenant.owner.put(pathOf(tenant, 'RACE'), { value, category: 'env' })),
    );
    expect(answers.map(({ body }) => body.revision).sort()).toEqual([1, 2, 3, 4]);
  });
});
