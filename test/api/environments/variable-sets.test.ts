import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadEnvironmentVariables } from '#domain/variables/loaded.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.close());

const secret = 'hunter2-do-not-show';
const pathOf = ({ environment }: Tenant, name = '') => `/environments/${environment}/variables${name && `/${name}`}`;
const load = async ({ environment }: Tenant) =>
  (await loadEnvironmentVariables(api.services.orm.em.fork(), api.services.keyRing, environment)).env;
const token = { name: 'TOKEN', category: 'env', sensitive: true };
const region = { name: 'REGION', category: 'env', value: 'eu' };
const replace = (tenant: Tenant, variables: object[], user: ApiUser = tenant.owner) =>
  user.put(pathOf(tenant), { variables });

describe('a single variable', () => {
  it('is read by its name, a sensitive one without its value', async () => {
    const tenant = await makeTenant(api);
    await replace(tenant, [region, { ...token, value: secret, phases: ['apply'] }]);
    const plain = await tenant.owner.get(pathOf(tenant, 'REGION'));
    expect(plain).toMatchObject({ status: 200, body: { name: 'REGION', value: 'eu', phases: ['plan', 'apply'] } });
    expect(plain.headers['etag']).toBe('"1"');
    const sensitive = await tenant.owner.get(pathOf(tenant, 'TOKEN'));
    expect(sensitive.body).toMatchObject({ sensitive: true, value: null, phases: ['apply'] });
    expect((await tenant.owner.get(pathOf(tenant, 'NONE'))).status).toBe(404);
    expect((await (await makeTenant(api)).owner.get(pathOf(tenant, 'REGION'))).status).toBe(404);
  });

  it('keeps its phases if the request omits them, and its secret if only its phases change', async () => {
    const tenant = await makeTenant(api);
    const path = pathOf(tenant, 'TOKEN');
    await tenant.owner.put(path, { value: 'first', category: 'env', sensitive: true, phases: ['apply'] });
    const replaced = await tenant.owner.put(path, { value: secret, category: 'env', sensitive: true });
    expect(replaced.body).toMatchObject({ phases: ['apply'], revision: 2 });
    const narrowed = await tenant.owner.put(path, { category: 'env', sensitive: true, phases: ['plan'] });
    expect(narrowed.body).toMatchObject({ phases: ['plan'], revision: 3, value: null });
    const same = await tenant.owner.put(path, { category: 'env', sensitive: true, phases: ['plan'] });
    expect(same.body).toMatchObject({ revision: 3 });
    expect(await load(tenant)).toMatchObject([{ name: 'TOKEN', value: secret, sensitive: true, phases: ['plan'] }]);
  });

  it.each([
    ['phases of a template variable', { value: 1, category: 'template', phases: ['plan'] }, /^phases: /],
    ['no phase', { value: 'x', category: 'env', phases: [] }, /phases/],
    ['a phase twice', { value: 'x', category: 'env', phases: ['plan', 'plan'] }, /phases/],
    ['an unknown phase', { value: 'x', category: 'env', phases: ['destroy'] }, /phases/],
    ['a sensitive one without a value to keep', { category: 'env', sensitive: true }, /^value: is required/],
    ['a plain one without a value', { category: 'env' }, /^value: is required/],
  ])('setting a single variable with %s answers 400', async (_what, body, message) => {
    const tenant = await makeTenant(api);
    const answer = await tenant.owner.put(pathOf(tenant, 'NEW'), body);
    expect([answer.status, answer.headers['x-error-code']]).toEqual([400, 'invalid_request']);
    expect(answer.body.error).toMatch(message);
  });

  it.each([
    ['NEW', { category: 'env', sensitive: true }, 'there is no variable "NEW" whose value could be kept'],
    ['TOKEN', { category: 'env', phases: ['plan'] }, '"TOKEN" is sensitive: say `"sensitive": true` to keep its value'],
    [
      'TOKEN',
      { category: 'template', sensitive: true },
      '"TOKEN" keeps its value only in its category, which is env, and not template',
    ],
    [
      'REGION',
      { category: 'env', sensitive: true },
      '"REGION" is not sensitive, and only a sensitive variable keeps its value',
    ],
    ['REGION', { category: 'env' }, '"REGION" is not sensitive, and only a sensitive variable keeps its value'],
  ])('with the name %s and no value, as %j, answers 400 with the reason', async (name, body, reason) => {
    const tenant = await makeTenant(api);
    await replace(tenant, [region, { ...token, value: secret }]);
    const { status, body: answer } = await tenant.owner.put(pathOf(tenant, name), body);
    expect([status, answer.error]).toEqual([400, `value: is required: ${reason}`]);
  });
});

describe('all variables of an environment', () => {
  it('are replaced by one command with one audit record, which has no values', async () => {
    const tenant = await makeTenant(api);
    await replace(tenant, [region, { ...token, value: secret }, { name: 'OLD', category: 'env', value: 'old' }]);
    const { status, body, text } = await replace(tenant, [
      region,
      { ...token, value: `${secret}-2` },
      { name: 'NEW', category: 'template', value: 'new-value' },
    ]);
    expect(status, text).toBe(200);
    expect(body.variables.map((each: { name: string; revision: number }) => [each.name, each.revision])).toEqual([
      ['NEW', 2],
      ['REGION', 1],
      ['TOKEN', 2],
    ]);
    expect((await tenant.owner.get(pathOf(tenant))).body.variables).toEqual(body.variables);
    const records = await api.rows<{ before: object; after: object }>(
      `select before, after from audit_records where resource_id = ? and action = 'environment_variables.replaced' order by id`,
      [tenant.environment],
    );
    expect(records).toHaveLength(2);
    expect(records[1]).toMatchObject({
      before: { variables: [{ name: 'OLD' }, { name: 'TOKEN', revision: 1 }] },
      after: {
        variables: [
          { name: 'TOKEN', revision: 2 },
          { name: 'NEW', revision: 2 },
        ],
      },
    });
    expect(JSON.stringify(records) + text).not.toMatch(/hunter2|new-value"?\}?$/);
    expect(JSON.stringify(records)).not.toContain('new-value');
  });

  it('keep the sensitive values that the request omits, and their revisions', async () => {
    const tenant = await makeTenant(api);
    await replace(tenant, [{ ...token, value: secret }]);
    const { status, body, text } = await replace(tenant, [token, region]);
    expect(status, text).toBe(200);
    expect(body.variables).toMatchObject([{ name: 'REGION' }, { name: 'TOKEN', revision: 1, value: null }]);
    expect(await load(tenant)).toContainEqual(expect.objectContaining({ name: 'TOKEN', value: secret }));
  });

  it('cannot be changed by a user who may only read the environment', async () => {
    const tenant = await makeTenant(api);
    const viewer = await api.addUser('maintainer');
    await join(tenant, viewer, 'member', 'viewer');
    expect((await replace(tenant, [region], viewer)).status).toBe(403);
  });

  it.each([
    ['a name twice', [region, region], 400, /^variables\[1\]\.name: "REGION" is named twice/],
    [
      'a reserved name',
      [region, { ...region, name: 'PATH' }],
      400,
      /^variables\[1\]\.name: PATH is reserved: the service sets it for each run.*choose another name/,
    ],
    ['a secret that does not exist yet', [token], 400, /^variables\[0\]\.value: is required/],
    ['a number for the tools', [{ ...region, value: 3 }], 400, /^variables\[0\]\.value: expected a string/],
    ['a stale revision', [{ ...region, expected_revision: 7 }], 409, /^expected_revision: 7 is stale/],
    ['a value that is no variable', [3], 400, /variables\[0\]/],
  ])(
    'a replacement of all variables of an environment with %s is refused as a whole',
    async (_what, variables, status, message) => {
      const tenant = await makeTenant(api);
      await tenant.owner.put(pathOf(tenant, 'KEPT'), { value: 'x', category: 'env' });
      const answer = await replace(tenant, variables as object[]);
      expect(answer.status, answer.text).toBe(status);
      expect(answer.body.error).toMatch(message);
      expect((await tenant.owner.get(pathOf(tenant))).body.variables).toMatchObject([{ name: 'KEPT' }]);
    },
  );

  it('are at most 500, and are removed by an empty list', async () => {
    const tenant = await makeTenant(api);
    const many = Array.from({ length: 501 }, (_, index) => ({ ...region, name: `V${index}` }));
    expect((await replace(tenant, many)).status).toBe(400);
    expect((await replace(tenant, many.slice(1))).status).toBe(200);
    const further = await tenant.owner.put(pathOf(tenant, 'ONE_MORE'), { value: 'x', category: 'env' });
    expect([further.status, further.headers['x-error-code']]).toEqual([409, 'limit_reached']);
    expect((await replace(tenant, [])).body).toEqual({ variables: [], revision: 3 });
    expect((await tenant.owner.post(`/environments/${tenant.environment}/archive`)).status).toBe(200);
    const archived = await replace(tenant, [region]);
    expect([archived.status, archived.headers['x-error-code']]).toEqual([409, 'archived']);
  });
});
