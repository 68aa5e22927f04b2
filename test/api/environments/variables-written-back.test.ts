import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadEnvironmentVariables } from '#domain/variables/loaded.ts';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';

/** Clients read variables, edit them and send them back in the same form. */
let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.close());

const pathOf = ({ environment }: Tenant, name = '') => `/environments/${environment}/variables${name && `/${name}`}`;
const load = async ({ environment }: Tenant) => {
  const { template, env } = await loadEnvironmentVariables(
    api.services.orm.em.fork(),
    api.services.keyRing,
    environment,
  );
  const listed = [...Object.entries(template), ...env.map((variable) => [variable.name, variable] as const)];
  return Object.fromEntries(listed.map(([name, { value }]) => [name, value]));
};

/** A tenant with a secret of each category, and variables that are not secret. */
async function tenantWithVariables() {
  const tenant = await makeTenant(api);
  const variables = [
    { name: 'TOKEN', category: 'env', sensitive: true, value: 'hunter2', phases: ['apply'] },
    { name: 'password', category: 'template', sensitive: true, value: 'hunter3' },
    { name: 'REGION', category: 'env', value: 'eu' },
    { name: 'nothing', category: 'template', value: null },
  ];
  expect((await tenant.owner.put(pathOf(tenant), { variables })).status).toBe(200);
  return { tenant, values: { TOKEN: 'hunter2', password: 'hunter3', REGION: 'eu', nothing: null } };
}

describe('all variables that are sent back as they were read', () => {
  it('are unchanged, including secrets of both categories', async () => {
    const { tenant, values } = await tenantWithVariables();
    const { body: shown } = await tenant.owner.get(pathOf(tenant));
    const written = await tenant.owner.put(pathOf(tenant), shown);
    expect(written.status, written.text).toBe(200);
    expect(written.body.variables).toEqual(shown.variables);
    expect(await load(tenant)).toEqual(values);
  });

  it('all variables that are sent back as they were read, with one of them edited, change only that one', async () => {
    const { tenant, values } = await tenantWithVariables();
    const { body: shown } = await tenant.owner.get(pathOf(tenant));
    const edited = shown.variables.map((each: { name: string }) =>
      each.name === 'REGION' ? { ...each, value: 'us' } : each,
    );
    expect((await tenant.owner.put(pathOf(tenant), { variables: edited })).status).toBe(200);
    expect(await load(tenant)).toEqual({ ...values, REGION: 'us' });
  });

  it('are refused if somebody changed or removed one of them meanwhile, and nothing is changed', async () => {
    const { tenant } = await tenantWithVariables();
    const { body: shown } = await tenant.owner.get(pathOf(tenant));
    await tenant.owner.put(pathOf(tenant, 'REGION'), { category: 'env', value: 'us' });
    const changed = await tenant.owner.put(pathOf(tenant), shown);
    expect([changed.status, changed.headers['x-error-code']]).toEqual([409, 'stale_revision']);
    await tenant.owner.delete(pathOf(tenant, 'REGION'));
    expect((await tenant.owner.put(pathOf(tenant), shown)).status).toBe(409);
    expect(await load(tenant)).toEqual({ TOKEN: 'hunter2', password: 'hunter3', nothing: null });
  });

  it.each([
    ['the list as it was read', (_revision: number) => ({ body: {}, headers: {} })],
    [
      'expected_revision',
      (revision: number) => ({ body: { revision: undefined, expected_revision: revision }, headers: {} }),
    ],
    ['If-Match', (revision: number) => ({ body: { revision: undefined }, headers: { 'if-match': `"${revision}"` } })],
  ])('are refused if somebody added one meanwhile and the request sends %s', async (_what, withRevision) => {
    const { tenant } = await tenantWithVariables();
    const read = await tenant.owner.get(pathOf(tenant));
    expect(read.headers['etag']).toBe(`"${read.body.revision}"`);
    await tenant.owner.put(pathOf(tenant, 'ADDED'), { category: 'env', value: 'new' });
    const { body, headers } = withRevision(read.body.revision);
    const lost = await tenant.owner.send('PUT', pathOf(tenant), { ...read.body, ...body }, headers);
    expect([lost.status, lost.headers['x-error-code']], lost.text).toEqual([409, 'stale_revision']);
    expect(await load(tenant)).toHaveProperty('ADDED', 'new');
    const again = await tenant.owner.get(pathOf(tenant));
    const kept = await tenant.owner.put(pathOf(tenant), again.body);
    expect([kept.status, kept.body.revision], kept.text).toEqual([200, again.body.revision]);
  });

  it('are accepted without any revision', async () => {
    const { tenant } = await tenantWithVariables();
    await tenant.owner.put(pathOf(tenant, 'ADDED'), { category: 'env', value: 'new' });
    const variables = [{ name: 'REGION', category: 'env', value: 'us' }];
    expect((await tenant.owner.put(pathOf(tenant), { variables })).status).toBe(200);
    expect(await load(tenant)).toEqual({ REGION: 'us' });
  });

  it('have a revision that increases exactly if a variable is set, changed or removed', async () => {
    const tenant = await makeTenant(api);
    const revision = async () => (await tenant.owner.get(pathOf(tenant))).body.revision;
    const variable = { category: 'env', value: 'eu' };
    const before = await revision();
    await tenant.owner.put(pathOf(tenant, 'REGION'), variable);
    expect(await revision()).toBe(before + 1);
    await tenant.owner.put(pathOf(tenant), { variables: [{ name: 'REGION', ...variable }] });
    expect(await revision()).toBe(before + 1);
    await tenant.owner.put(pathOf(tenant), { variables: [{ name: 'REGION', ...variable, value: 'us' }] });
    expect(await revision()).toBe(before + 2);
    await tenant.owner.delete(pathOf(tenant, 'REGION'));
    expect(await revision()).toBe(before + 3);
  });

  it('are refused if they are only one page, because the others would be removed', async () => {
    const { tenant, values } = await tenantWithVariables();
    const { body: page } = await tenant.owner.get(`${pathOf(tenant)}?limit=2`);
    const answer = await tenant.owner.put(pathOf(tenant), page);
    expect([answer.status, answer.body.error]).toEqual([
      400,
      expect.stringMatching(/next_cursor.*there are more pages/),
    ]);
    expect(await load(tenant)).toEqual(values);
  });
});

describe('a variable that is sent back as it was read', () => {
  it.each(['TOKEN', 'password', 'REGION', 'nothing'])('is unchanged: %s', async (name) => {
    const { tenant, values } = await tenantWithVariables();
    const { body: shown } = await tenant.owner.get(pathOf(tenant, name));
    const written = await tenant.owner.put(pathOf(tenant, name), { ...shown, expected_revision: 1 });
    expect(written.status, written.text).toBe(200);
    expect(written.body).toMatchObject({ name, value: shown.value });
    expect(await load(tenant)).toEqual(values);
  });

  it('keeps its secret when only its phases are edited', async () => {
    const { tenant, values } = await tenantWithVariables();
    const { body: shown } = await tenant.owner.get(pathOf(tenant, 'TOKEN'));
    const written = await tenant.owner.put(pathOf(tenant, 'TOKEN'), { ...shown, phases: ['plan'] });
    expect(written.body).toMatchObject({ phases: ['plan'], revision: 2 });
    expect(await load(tenant)).toEqual(values);
  });

  it.each([
    ['under another name', { name: 'OTHER' }, 400, /^name: .*TOKEN/],
    ['with an old revision', { revision: 7 }, 409, /7 is stale/],
    [
      'with two different revisions',
      { expected_revision: 2 },
      400,
      /^expected_revision and revision name different revisions/,
    ],
  ])('%s is refused', async (_what, edit, status, message) => {
    const { tenant, values } = await tenantWithVariables();
    const { body: shown } = await tenant.owner.get(pathOf(tenant, 'TOKEN'));
    const answer = await tenant.owner.put(pathOf(tenant, 'TOKEN'), { ...shown, ...edit });
    expect([answer.status, answer.body.error]).toEqual([status, expect.stringMatching(message)]);
    expect(await load(tenant)).toEqual(values);
  });
});

describe('a variable that is set with the expected revision 0', () => {
  it('is created only if no variable has its name', async () => {
    const { tenant, values } = await tenantWithVariables();
    const add = (name: string) =>
      tenant.owner.put(pathOf(tenant, name), { category: 'env', value: 'new', expected_revision: 0 });
    expect((await add('ADDED')).status).toBe(200);
    const refused = await add('REGION');
    expect([refused.status, refused.headers['x-error-code']]).toEqual([409, 'stale_revision']);
    expect(await load(tenant)).toEqual({ ...values, ADDED: 'new' });
  });
});

describe('null as the value of a secret', () => {
  it.each([
    ['that does not exist', { name: 'new', sensitive: true }],
    ['that is sent as a variable that is not sensitive', { name: 'password' }],
    ['that is not sensitive yet', { name: 'nothing', sensitive: true }],
  ])('%s is refused, alone and among all', async (_what, { name, ...fields }) => {
    const { tenant, values } = await tenantWithVariables();
    const variable = { ...fields, category: 'template', value: null };
    const alone = await tenant.owner.put(pathOf(tenant, name), variable);
    expect([alone.status, alone.body.error]).toEqual([400, expect.stringMatching(/^value: /)]);
    const among = await tenant.owner.put(pathOf(tenant), { variables: [{ name, ...variable }] });
    expect([among.status, among.body.error]).toEqual([400, expect.stringMatching(/^variables\[0\]\.value: /)]);
    expect(await load(tenant)).toEqual(values);
  });
});
