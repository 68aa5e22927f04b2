import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadEnvironmentVariables } from '#domain/variables/loaded.ts';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';

/** Variables with another value for planning. */
let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

const listOf = ({ environment }: Tenant) => `/environments/${environment}/variables`;
const pathOf = (tenant: Tenant) => `${listOf(tenant)}/KEY`;
const load = async ({ environment }: Tenant) => {
  const { env } = await loadEnvironmentVariables(api.services.orm.em.fork(), api.services.keyRing, environment);
  return env.map(({ name, value, planValue }) => [name, value, planValue]);
};
const write = 'value-that-may-write';
const read = 'value-that-may-read';
const plain = { category: 'env', value: write, plan_value: read };
const secret = { ...plain, sensitive: true };

async function withVariable(body: object) {
  const tenant = await makeTenant(api);
  const set = await tenant.owner.put(pathOf(tenant), body);
  expect(set.status, set.text).toBe(200);
  return { tenant, set, put: (changed: object) => tenant.owner.put(pathOf(tenant), { category: 'env', ...changed }) };
}

describe('a sensitive value for planning', () => {
  it('is in no response, audit record or database row, and reaches runs', async () => {
    const { tenant, set } = await withVariable(secret);
    expect(set.body).toMatchObject({ value: null, plan_value: null, has_plan_value: true });
    const answers = [set, await tenant.owner.get(pathOf(tenant)), await tenant.owner.get(listOf(tenant))];
    const audit = await api.rows('select before, after from audit_records where resource_id = ?', [tenant.environment]);
    expect(JSON.stringify(audit)).toContain('"has_plan_value":true');
    const [row] = await api.rows<{ plan_value: unknown; sealed_plan_value: Buffer }>(
      'select * from environment_variables where environment_id = ?',
      [tenant.environment],
    );
    expect(row!.plan_value).toBeNull();
    for (const text of [
      ...answers.map((answer) => answer.text),
      JSON.stringify(audit),
      row!.sealed_plan_value.toString(),
    ])
      expect(text).not.toContain(read);
    expect(await load(tenant)).toEqual([['KEY', write, read]]);
  });

  it('is refused if it is the same as the secret for applying, in environments and variable sets', async () => {
    const tenant = await makeTenant(api);
    const same = { ...secret, plan_value: write };
    const set = await tenant.owner.make('/variable-sets', { organization_id: tenant.organization, name: 'Keys' });
    const ofSet = `/variable-sets/${set.id}/variables`;
    const list = { variables: [{ ...same, name: 'KEY' }] };
    for (const refused of [
      await tenant.owner.put(pathOf(tenant), same),
      await tenant.owner.put(listOf(tenant), list),
      await tenant.owner.put(`${ofSet}/KEY`, same),
      await tenant.owner.put(ofSet, list),
    ]) {
      expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('plan_value: is the same secret')]);
      expect(refused.text).not.toContain(write);
    }
    expect((await tenant.owner.put(pathOf(tenant), { ...plain, plan_value: write })).status).toBe(200);
  });

  it('cannot be decrypted as the value for applying', async () => {
    const { tenant } = await withVariable(secret);
    const swap = 'update environment_variables set sealed_value = sealed_plan_value where environment_id = ?';
    await api.rows(swap, [tenant.environment]);
    await expect(load(tenant)).rejects.toThrow();
  });

  it('is kept if the variable is sent back as it was read, or only its other value changes', async () => {
    const { tenant, put } = await withVariable(secret);
    const { body: shown } = await tenant.owner.get(listOf(tenant));
    const back = await tenant.owner.put(listOf(tenant), shown);
    expect(back.body.variables).toEqual(shown.variables);
    expect((await put({ sensitive: true, value: 'rotated' })).body).toMatchObject({
      has_plan_value: true,
      revision: 2,
    });
    expect(await load(tenant)).toEqual([['KEY', 'rotated', read]]);
  });

  it('can be changed and removed while the other value is kept', async () => {
    const { tenant, put } = await withVariable(secret);
    expect((await put({ sensitive: true, plan_value: 'other' })).body).toMatchObject({
      has_plan_value: true,
      revision: 2,
    });
    expect(await load(tenant)).toEqual([['KEY', write, 'other']]);
    expect((await put({ sensitive: true, has_plan_value: false })).body).toMatchObject({ has_plan_value: false });
    expect(await load(tenant)).toEqual([['KEY', write, undefined]]);
  });

  it('must be removed when its variable becomes plain, so that it is never shown', async () => {
    const { tenant, put } = await withVariable(secret);
    const refused = await put({ value: 'open' });
    expect(refused).toMatchObject({ status: 400, body: { error: expect.stringContaining('plan_value') } });
    expect((await put({ value: 'open', has_plan_value: false })).body).toMatchObject({ plan_value: null });
    expect(await load(tenant)).toEqual([['KEY', 'open', undefined]]);
  });
});

it('a plain value for planning is shown, is kept if the request omits it, and is removed by null', async () => {
  const { tenant, set, put } = await withVariable(plain);
  expect(set.body).toMatchObject({ value: write, plan_value: read, has_plan_value: true });
  expect((await put({ value: 'new' })).body).toMatchObject({ value: 'new', plan_value: read });
  expect((await put({ value: 'new', plan_value: null })).body).toMatchObject({
    plan_value: null,
    has_plan_value: false,
  });
  expect(await load(tenant)).toEqual([['KEY', 'new', undefined]]);
});

it.each([
  ['of a template variable', { category: 'template', value: 'a', plan_value: 'b' }, 'plan_value'],
  ['that is no text', { ...plain, plan_value: 3 }, 'plan_value'],
  ['that is too long', { ...plain, plan_value: 'x'.repeat(70_000) }, 'plan_value'],
  ['beside one phase', { ...plain, phases: ['apply'] }, 'phases'],
  ['that there shall not be', { ...plain, has_plan_value: false }, 'plan_value'],
  ['that there is none to keep of', { category: 'env', value: 'a', has_plan_value: true }, 'has_plan_value'],
])('a value for planning %s is refused', async (_, body, field) => {
  const tenant = await makeTenant(api);
  const answer = await tenant.owner.put(pathOf(tenant), body);
  expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining(field)]);
  const listed = await tenant.owner.put(listOf(tenant), { variables: [{ name: 'KEY', ...body }] });
  expect([listed.status, listed.body.error]).toEqual([400, expect.stringContaining(`variables[0].${field}`)]);
});
