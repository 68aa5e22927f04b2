import { afterAll, beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '#domain/shared/values/json.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { makeCostlySchema } from '#test/support/costly-schema.ts';

let api: TestApi;
let admin: ApiUser;
let costlyId: string;

beforeAll(async () => {
  api = await startApi();
  admin = await api.addUser('admin');
  costlyId = await publish(makeCostlySchema());
});
afterAll(() => api?.close());

const executor = { kind: 'command', apply: [{ name: 'go', run: ['true'] }] };

async function publish(variables: JsonObject): Promise<string> {
  const { id } = await admin.make('/registry/templates', { name: `Template ${crypto.randomUUID()}` });
  await admin.make(`/registry/templates/${id}/versions`, { version: '1.0.0', spec: { variables, executor } });
  return id;
}

const validate = (user: ApiUser, id: string, variables: object) =>
  user.post(`/registry/templates/${id}/versions/1.0.0/validate`, { variables });

it('validating against a schema that takes too long answers 422, and does not delay reads', async () => {
  const { id } = (await admin.post('/runs', { template_id: await publish({ type: 'object' }) })).body;
  let isOver = false;
  const attack = validate(admin, costlyId, { a: 'x' }).finally(() => {
    isOver = true;
  });
  let reads = 0;
  while (!isOver) {
    expect((await admin.get(`/runs/${id}`)).status).toBe(200);
    reads += 1;
  }
  const { status, body, headers } = await attack;
  expect([status, headers['x-error-code']]).toEqual([422, 'schema_too_costly']);
  expect(body.error).toMatch(/took too long to evaluate/);
  expect(reads).toBeGreaterThan(5);
});

it('admitting a run whose variables take too long to check answers 422 and creates no run', async () => {
  const before = await api.rows<{ count: string }>('select count(*) from runs');
  const answer = await admin.post('/runs', { template_id: costlyId, variables: { a: 'x' } });
  expect([answer.status, answer.headers['x-error-code']]).toEqual([422, 'schema_too_costly']);
  expect(await api.rows('select count(*) from runs')).toEqual(before);
});

it('admitting a run whose variables take some time to check succeeds, once for one idempotency key', async () => {
  const id = await publish(makeCostlySchema(11));
  const key = { 'idempotency-key': crypto.randomUUID() };
  const request = { template_id: id, variables: { a: 'x' } };
  const refused = await admin.post('/runs', request, key);
  expect([refused.status, refused.headers['x-error-code']]).toEqual([422, 'variables_invalid']);
  const first = await admin.post('/runs', { ...request, variables: { a: 1 } }, key);
  const again = await admin.post('/runs', { ...request, variables: { a: 1 } }, key);
  expect([first.status, again.status]).toEqual([202, 202]);
  expect(again.body.id).toBe(first.body.id);
});

it('publishing a schema whose defaults take too long to check answers 422', async () => {
  const schema = makeCostlySchema();
  const properties = { a: { $ref: '#/$defs/n39', default: 'x' } };
  const { id } = await admin.make('/registry/templates', { name: 'Slow to publish' });
  const spec = { variables: { ...schema, properties }, executor };
  const answer = await admin.post(`/registry/templates/${id}/versions`, { version: '1.0.0', spec });
  expect([answer.status, answer.headers['x-error-code']]).toEqual([422, 'schema_too_costly']);
});

it('a caller who has used up their processor time gets a Retry-After, unlike others', async () => {
  const mallory = await api.addUser('requester');
  const ana = await api.addUser('requester');
  const id = await publish({ type: 'object', properties: { name: { type: 'string', pattern: '^[a-z]+$' } } });
  api.services.evaluator.charge({ person: mallory.id, owner: mallory.id }, 60_000);
  const refused = await validate(mallory, id, { name: 'network' });
  expect([refused.status, refused.headers['x-error-code']]).toEqual([429, 'evaluation_budget_exhausted']);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(100);
  const admission = await mallory.post('/runs', { template_id: id, variables: { name: 'network' } });
  expect(admission.status).toBe(429);
  expect((await validate(ana, id, { name: 'network' })).body.valid).toBe(true);
});
