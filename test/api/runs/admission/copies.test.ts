import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiAnswer, type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { readInputs } from '#test/support/runs/run-inputs.ts';

let api: TestApi;
let tenant: Tenant;
let member: ApiUser;
let templateId: string;

const variables = {
  type: 'object',
  properties: {
    size: { type: 'integer', default: 1 },
    zone: { type: 'string', default: 'a' },
    address: { type: 'string' },
    labels: { type: 'object' },
    token: { type: 'string', writeOnly: true },
  },
  required: ['token'],
};
const act = [{ name: 'act', run: ['true'] }];
const executor = { kind: 'command', apply: act, destroy: act };

beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  member = await api.addUser('requester');
  await join(tenant, member, 'member', 'member');
  const { id } = await tenant.owner.make('/registry/templates', { name: 'Ours', slug: 'ours', team_id: tenant.team });
  templateId = id;
  for (const version of ['1.0.0', '2.0.0'])
    await tenant.owner.make(`/registry/templates/${id}/versions`, { version, spec: { variables, executor } });
});
afterAll(() => api?.close());

/** An ended run of version 1.0.0 with a secret. */
async function ended(more: object = {}): Promise<ApiAnswer['body']> {
  const { status, body, text } = await tenant.owner.post('/runs', {
    template_id: templateId,
    environment_id: tenant.environment,
    instance: `i-${randomUUID()}`,
    version: '1.0.0',
    message: 'first',
    variables: { size: 3, token: 'hunter2' },
    ...more,
  });
  expect(status, text).toBe(202);
  await tenant.owner.post(`/runs/${body.id}/cancel`, { force: true });
  return (await tenant.owner.get(`/runs/${body.id}`)).body;
}

const copy = (run: { id: string }, changes: object = {}, by = member) => by.post(`/runs/${run.id}/copy`, changes);

/** The variables that the worker of a run would get. */
async function inputsOf({ id }: { id: string }) {
  return (await readInputs(api, id)).variables;
}

describe('a copy of a run', () => {
  it('a copy of a run without changes has the same version and inputs, secrets included', async () => {
    const run = await ended();
    const { status, body, text } = await copy(run);
    expect(status, text).toBe(202);
    const same = ['template_id', 'template_version', 'environment_id', 'instance', 'operation', 'variables', 'message'];
    for (const name of same) expect(body[name], name).toEqual(run[name]);
    expect(body).toMatchObject({ requeued_from: run.id, requested_by: { id: member.id } });
    expect(await inputsOf(body)).toEqual({ size: 3, zone: 'a', token: 'hunter2' });
  });

  it('takes the named changes, and everything else from the run', async () => {
    const run = await ended();
    const changes = { variables: { zone: 'b', token: 'mine' }, operation: 'plan', message: 'again', instance: 'other' };
    const { body, text } = await copy(run, changes);
    expect(body, text).toMatchObject({
      template_version: '1.0.0',
      operation: 'plan',
      message: 'again',
      instance: 'other',
    });
    expect(await inputsOf(body)).toEqual({ size: 3, zone: 'b', token: 'mine' });
    const omitted = await copy(run, { omit: ['size'], variables: { token: 'mine' } });
    expect(await inputsOf(omitted.body)).toEqual({ size: 1, zone: 'a', token: 'mine' });
  });

  it.each<[string, object]>([
    ['another version', { version: '2.0.0' }],
    ['another variable', { variables: { zone: 'b' } }],
    ['another instance', { instance: 'elsewhere' }],
    ['a variable less', { omit: ['size'] }],
  ])('a copy of a run with %s takes over no secret', async (_what, changes) => {
    const { status, body } = await copy(await ended(), changes);
    expect([status, body.error]).toEqual([422, expect.stringContaining('token')]);
    const { variables: own = {} } = changes as { variables?: object };
    const given = await copy(await ended(), { ...changes, variables: { ...own, token: 'mine' } });
    expect(given.status, given.text).toBe(202);
    expect(await inputsOf(given.body)).toMatchObject({ token: 'mine' });
  });

  it.each([
    ['another value', { value: 'https://elsewhere.example', sensitive: false }],
    ['a secret value', { value: 'https://elsewhere.example', sensitive: true }],
    ['other phases', { value: 'https://ours.example', sensitive: false, phases: ['apply'] }],
    ['no value any more', null],
  ])('takes over no secret after an environment variable got %s', async (_what, change) => {
    const path = `/environments/${tenant.environment}/variables/ADDR`;
    await tenant.owner.put(path, { value: 'https://ours.example', category: 'env', sensitive: false });
    const run = await ended();
    expect((await copy(run)).status).toBe(202);
    const changed = change ? tenant.owner.put(path, { category: 'env', ...change }) : tenant.owner.delete(path);
    expect((await changed).status).toBeLessThan(300);
    const { status, body } = await copy(run);
    expect([status, body.error]).toEqual([422, expect.stringContaining('token')]);
    expect((await copy(run, { variables: { token: 'mine' } })).status).toBe(202);
    if (change) await tenant.owner.delete(path);
  });

  it('takes over the secrets if an environment secret was set to the same value again, and none if it was changed', async () => {
    const path = `/environments/${tenant.environment}/variables/KEY`;
    const secret = { value: 'the-secret', category: 'env', sensitive: true };
    await tenant.owner.put(path, secret);
    const run = await ended();
    await tenant.owner.put(path, secret);
    expect((await copy(run)).status).toBe(202);
    await tenant.owner.delete(path);
    await tenant.owner.put(path, secret);
    expect((await copy(run)).status).toBe(202);
    for (const change of [
      { value: 'another' },
      { phases: ['apply'] },
      { plan_value: 'weaker' },
      { sensitive: false },
    ]) {
      await tenant.owner.put(path, { ...secret, ...change });
      expect((await copy(run)).status, JSON.stringify(change)).toBe(422);
      await tenant.owner.delete(path);
    }
  });

  it('takes over the secrets if a variable set now has an environment secret with the same value, and none if with another', async () => {
    const path = `/environments/${tenant.environment}/variables/KEY`;
    const secret = { value: 'the-secret', category: 'env', sensitive: true };
    await tenant.owner.put(path, secret);
    const run = await ended();
    await tenant.owner.delete(path);
    const set = await tenant.owner.make('/variable-sets', { name: 'Keys', team_id: tenant.team });
    const fill = (value: string) =>
      tenant.owner.put(`/variable-sets/${set.id}/variables`, { variables: [{ name: 'KEY', ...secret, value }] });
    expect((await fill(secret.value)).status).toBe(200);
    const attached = await tenant.owner.put(`/variable-sets/${set.id}/attachments`, {
      project_ids: [],
      environment_ids: [tenant.environment],
    });
    expect(attached.status, attached.text).toBe(200);
    expect((await copy(run)).status).toBe(202);
    expect((await fill('another')).status).toBe(200);
    expect((await copy(run)).status).toBe(422);
    await tenant.owner.delete(`/variable-sets/${set.id}`, { 'idempotency-key': randomUUID() });
  });

  it('takes over no secret after a variable without a value got one from the environment', async () => {
    const run = await ended();
    const path = `/environments/${tenant.environment}/variables/address`;
    await tenant.owner.put(path, { value: 'https://elsewhere.example', category: 'template', sensitive: false });
    expect((await copy(run)).status).toBe(422);
    await tenant.owner.delete(path);
    expect((await copy(run)).status).toBe(202);
  });

  it('a copy of a run that repeats values of the run takes over the secrets', async () => {
    const labels = { owner: 'us', ports: [80, 443] };
    const run = await ended({ variables: { size: 3, labels, token: 'hunter2' } });
    const { status, body, text } = await copy(run, { variables: { size: 3, zone: 'a', labels } });
    expect(status, text).toBe(202);
    expect(await inputsOf(body)).toEqual({ size: 3, zone: 'a', labels, token: 'hunter2' });
    expect((await copy(run, { variables: { labels: { ...labels, ports: [443, 80] } } })).status).toBe(422);
  });

  it('a copy of a run that names a secret takes over no other secret, even if the value is the same, so that nobody can test a guess', async () => {
    const properties = { ...variables.properties, pin: { type: 'string', writeOnly: true } };
    const spec = { variables: { ...variables, properties, required: ['token', 'pin'] }, executor };
    await tenant.owner.make(`/registry/templates/${templateId}/versions`, { version: '1.5.0', spec });
    const run = await ended({ version: '1.5.0', variables: { token: 'hunter2', pin: '1234' } });
    for (const pin of ['1234', '9999']) {
      const { status, body } = await copy(run, { variables: { pin } });
      expect([status, body.error]).toEqual([422, expect.stringContaining('token')]);
    }
  });

  it('refuses to omit a variable that neither the run nor its version has, or that the copy sets', async () => {
    const run = await ended();
    const unknown = await copy(run, { omit: ['sise'], variables: { token: 'mine' } });
    expect([unknown.status, unknown.body.error]).toEqual([422, expect.stringContaining('/sise is named in omit')]);
    const both = await copy(run, { omit: ['size'], variables: { size: 3, token: 'mine' } });
    expect([both.status, both.body.error]).toEqual([400, expect.stringContaining('"size"')]);
  });

  it('a copy of a run without a body is a copy without changes', async () => {
    const run = await ended();
    const { status, body, text } = await member.post(`/runs/${run.id}/copy`);
    expect(status, text).toBe(202);
    expect(await inputsOf(body)).toEqual({ size: 3, zone: 'a', token: 'hunter2' });
  });

  it('a copy of a run with the version of the run by name is a copy without changes', async () => {
    const { body, text } = await copy(await ended(), { version: '1.0.0', operation: 'destroy' });
    expect(body, text).toMatchObject({ operation: 'destroy', template_version: '1.0.0' });
    expect(await inputsOf(body)).toMatchObject({ token: 'hunter2' });
  });

  it('takes an environment secret from the present environment', async () => {
    const path = `/environments/${tenant.environment}/variables/token`;
    const set = (value: string) => tenant.owner.put(path, { value, category: 'template', sensitive: true });
    await set('old secret');
    const run = await ended({ variables: { size: 3 } });
    await set('new secret');
    expect(await inputsOf((await copy(run, { variables: { size: 4 } })).body)).toMatchObject({ token: 'new secret' });
    await tenant.owner.delete(path);
    expect((await copy(run, { variables: { size: 4 } })).status).toBe(422);
  });

  it('is prefilled with the visible values of the run, without its secrets', async () => {
    const run = await ended();
    expect(run.prefill).toEqual({ variables: { size: 3, zone: 'a' }, secrets: ['token'] });
    expect(JSON.stringify(run)).not.toContain('hunter2');
  });

  it('is refused while the run has not ended, and after it was deleted', async () => {
    const open = await tenant.owner.post('/runs', {
      template_id: templateId,
      environment_id: tenant.environment,
      instance: 'open',
      variables: { token: 'x' },
    });
    const early = await copy(open.body);
    expect([early.status, early.headers['x-error-code']]).toEqual([409, 'run_not_copyable']);
    const run = await ended();
    const admin = await api.addUser('admin');
    expect((await admin.delete(`/runs/${run.id}`)).status).toBe(204);
    const late = await copy(run);
    expect([late.status, late.body.error]).toEqual([409, expect.stringContaining('cannot be copied')]);
    expect((await member.get(`/runs/${run.id}`)).body.prefill).toBeNull();
  });

  it('needs the authority to create runs, and is hidden from strangers', async () => {
    const viewer = await api.addUser('operator');
    await join(tenant, viewer, 'member', 'viewer');
    const run = await ended();
    expect((await copy(run, {}, viewer)).status).toBe(403);
    expect((await copy(run, {}, await api.addUser('operator'))).status).toBe(404);
  });

  it('a copy of a run with the same key is admitted once', async () => {
    const run = await ended();
    const headers = { 'idempotency-key': randomUUID() };
    const send = (changes: object) => member.post(`/runs/${run.id}/copy`, changes, headers);
    const [first, second] = [await send({ message: 'once' }), await send({ message: 'once' })];
    expect(second.body.id).toBe(first.body.id);
    expect((await send({ message: 'twice' })).status).toBe(409);
  });
});
