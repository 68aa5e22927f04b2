import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openReadingStage, plain, type ReadingStage } from '#test/support/references/reading-stage.ts';

/** Runs with the deployed values, and runs that reset these because they do not name them. */

let stage: ReadingStage;
let template: string;
beforeAll(async () => {
  stage = await openReadingStage();
  template = await stage.steps.publish(versionOf(first));
  const admin = await stage.api.addUser('admin');
  await admin.make(`/registry/templates/${template}/versions`, { version: '2.0.0', spec: versionOf(second) });
});
afterAll(() => stage?.api.close());

const commands = { kind: 'command', apply: [{ name: 'go', run: ['true'] }], destroy: [{ name: 'no', run: ['true'] }] };
const versionOf = (properties: object) => ({
  variables: { type: 'object', properties, required: ['name'], additionalProperties: false },
  executor: commands,
});
const first = {
  name: { type: 'string' },
  zones: { type: 'array', items: { type: 'string' }, default: [] },
  replicas: { type: ['integer', 'null'], default: 1 },
  tier: { type: 'string' },
  legacy: { type: 'string' },
  token: { type: 'string', writeOnly: true },
};
const { legacy: _, ...kept } = first;
const second = { ...kept, tier: { type: 'integer' }, size: { type: 'integer', default: 3 } };

let instances = 0;
/** Deploys version 1.0.0 with these variables; returns the name of the instance. */
async function deployed(variables: object): Promise<string> {
  const instance = `from-${++instances}`;
  const { body, status, text } = await ask(variables, { instance, version: '1.0.0' });
  expect(status, text).toBe(202);
  await stage.finish(body.id);
  return instance;
}
const ask = (variables: object, rest: object) => stage.ask(variables, { template_id: template, ...rest });
const again = (instance: string, variables: object = {}, rest: object = {}) =>
  ask(variables, { instance, version: '1.0.0', variables_from: 'deployed', ...rest });
const chosen = { name: 'shop', zones: ['a', 'b'], replicas: null };

/** What the worker of a run gets. */
async function inputsOf({ body, status, text }: Awaited<ReturnType<typeof ask>>) {
  expect(status, text).toBe(202);
  return (await stage.claimPlan(body.id)).inputs.variables;
}

describe('a run that starts from what is deployed', () => {
  test('has the deployed values of all variables that it does not name, null included', async () => {
    const run = await again(await deployed(chosen), { zones: ['c'] });
    expect(run.body.variables).toMatchObject({ name: 'shop', zones: ['c'], replicas: null });
    expect(Object.hasOwn(run.body.variables, 'tier'), 'what was absent stays absent').toBe(false);
    expect(run.body).toMatchObject({ variables_reset: [], requeued_from: null });
  });

  test('leaves out the variables that it omits, and says that they are reset', async () => {
    const instance = await deployed(chosen);
    const run = await again(instance, {}, { omit: ['zones'] });
    expect(run.body.variables.zones).toEqual([]);
    expect(run.body.variables_reset).toEqual([
      { variable: 'zones', cause: 'default', before: shown(['a', 'b']), after: shown([]) },
    ]);
    const both = await again(instance, { name: 'other' }, { omit: ['name'] });
    expect([both.status, both.text]).toEqual([400, expect.stringContaining('name it in variables or in omit')]);
    expect((await ask({ name: 'x' }, { instance, omit: ['zones'] })).text).toContain('name variables_from as well');
    const destroy = await again(instance, {}, { operation: 'destroy', omit: ['zones'] });
    expect([destroy.status, destroy.text]).toEqual([202, expect.stringContaining('"zones":[]')]);
  });

  test('may omit a variable that only its version has, and is refused with the name of one that neither version nor deployment has', async () => {
    const instance = await deployed({ ...chosen, token: 'hidden-token' });
    const absent = await again(instance, {}, { omit: ['tier'] });
    expect(await inputsOf(absent), 'leaving out nothing changes nothing').toMatchObject({ token: 'hidden-token' });
    const refused = await again(instance, {}, { omit: ['tier', 'nowhere', 'legazy'] });
    expect([refused.status, refused.headers['x-error-code']]).toEqual([422, 'variables_invalid']);
    expect(refused.text).toContain('/nowhere is named in omit, but neither');
    expect(refused.text).toContain('/legazy is named in omit, but neither');
    expect(refused.text).not.toContain('/tier');
    const dropped = await again(instance, { token: 'new' }, { omit: ['legacy'], version: '2.0.0' });
    expect([dropped.status, dropped.text]).toEqual([422, expect.stringContaining('/legacy')]);
  });

  test('is refused as a destroy with the names to omit that neither version nor deployment has', async () => {
    const instance = await deployed(chosen);
    const refused = await again(instance, {}, { operation: 'destroy', omit: ['tier', 'legazy'] });
    expect([refused.status, refused.headers['x-error-code']]).toEqual([422, 'variables_invalid']);
    expect(refused.text).toContain('/legazy is named in omit, but neither the deployment nor version');
    expect(refused.text).not.toContain('/tier');
  });

  test('is the same request with an empty list of variables to omit as without one', async () => {
    const instance = await deployed(chosen);
    const key = randomUUID();
    const body = { template_id: template, environment_id: stage.tenant.environment, instance, version: '1.0.0' };
    const send = (rest: object) => stage.tenant.owner.post('/runs', { ...body, ...rest }, { 'idempotency-key': key });
    const first = await send({ variables_from: 'deployed' });
    const repeated = await send({ variables_from: 'deployed', omit: [] });
    expect([repeated.status, repeated.body.id], repeated.text).toEqual([202, first.body.id]);
  });

  test('uses the latest version by default, takes its new defaults, and lists the variables that this version dropped', async () => {
    const instance = await deployed({ ...chosen, legacy: 'yes' });
    const { body, status, text } = await again(instance, {}, { version: undefined });
    expect(status, text).toBe(202);
    expect(body).toMatchObject({ template_version: '2.0.0', variables: { zones: ['a', 'b'], size: 3 } });
    expect(body.variables_reset).toEqual([
      { variable: 'legacy', cause: 'not_declared', before: shown('yes'), after: null },
    ]);
  });

  test('is refused with the name of a deployed variable that does not fit the version', async () => {
    const refused = await again(await deployed({ ...chosen, tier: 'gold' }), {}, { version: '2.0.0' });
    expect([refused.status, refused.headers['x-error-code']]).toEqual([422, 'variables_invalid']);
    expect(refused.text).toMatch(/\/tier .*the value is the one that is deployed/);
  });

  test('keeps a secret without showing it, whatever else changes', async () => {
    for (const [variables, rest] of [
      [{}, {}],
      [{ zones: ['elsewhere'] }, {}],
      [{}, { version: '2.0.0' }],
      [{}, { omit: ['zones'] }],
    ]) {
      const run = await again(await deployed({ ...chosen, token: 'hidden-token' }), variables, rest);
      expect(run.text).not.toContain('hidden-token');
      expect(await inputsOf(run)).toMatchObject({ token: 'hidden-token' });
    }
    const instance = await deployed({ ...chosen, token: 'hidden-token' });
    const free = await deployed({ ...chosen, token: 'hidden-token' });
    const given = await again(free, { zones: [], token: 'another' });
    expect(await inputsOf(given)).toMatchObject({ token: 'another', replicas: null });
    const omitted = await again(instance, {}, { omit: ['token'] });
    expect(omitted.body.variables_reset).toEqual([
      { variable: 'token', cause: 'not_set', before: hidden, after: null },
    ]);
  });

  test('keeps references and resolves them anew, and keeps escaped references as text', async () => {
    const source = await stage.deploy({ instance: 'named' }, { zone: plain('a') });
    await stage.allow(source, { environment_ids: [stage.tenant.environment] });
    const reference = '${instances.shared/named.outputs.zone}';
    const instance = await deployed({ ...chosen, zones: [reference, '$${instances.shared/named.outputs.zone}'] });
    await stage.deploy({ instance: 'named' }, { zone: plain('b') });
    const { body } = await again(instance);
    expect(body.variables.zones).toEqual(['b', reference]);
    expect(body.reads).toMatchObject([{ variable: 'zones', path: '/0', reference, copied: false }]);
    await stage.allow(source, {});
    const refused = await again(instance);
    expect([refused.status, refused.headers['x-error-code']]).toEqual([422, 'reference_unresolved']);
  });

  test('keeps a secret besides a reference that is resolved anew', async () => {
    const source = await stage.deploy({ instance: 'address' }, { host: plain('one.example') });
    await stage.allow(source, { environment_ids: [stage.tenant.environment] });
    const name = '${instances.shared/address.outputs.host}';
    const instance = await deployed({ ...chosen, name, token: 'hidden-token' });
    await stage.deploy({ instance: 'address' }, { host: plain('two.example') });
    const run = await again(instance);
    expect(run.text).not.toContain('hidden-token');
    expect(await inputsOf(run)).toMatchObject({ name: 'two.example', token: 'hidden-token' });
  });

  test('is refused if nothing is deployed, even after a destroy', async () => {
    const instance = await deployed(chosen);
    const { body } = await ask({}, { instance, operation: 'destroy' });
    await stage.finish(body.id);
    for (const each of [instance, 'nowhere']) {
      const refused = await again(each);
      expect([refused.status, refused.headers['x-error-code']]).toEqual([422, 'nothing_deployed']);
    }
  });
});

describe('a run that does not name what is deployed', () => {
  test('lists the variables that it resets, secrets without their values', async () => {
    const instance = await deployed({ ...chosen, tier: 'gold', token: 'hidden-token' });
    const { body, text } = await ask({ name: 'shop' }, { instance, version: '1.0.0' });
    expect(body.variables_reset).toEqual([
      { variable: 'zones', cause: 'default', before: shown(['a', 'b']), after: shown([]) },
      { variable: 'replicas', cause: 'default', before: shown(null), after: shown(1) },
      { variable: 'tier', cause: 'not_set', before: shown('gold'), after: null },
      { variable: 'token', cause: 'not_set', before: hidden, after: null },
    ]);
    expect(text).not.toContain('hidden-token');
  });

  test('lists a secret as reset only if the environment sets another value than the deployed one', async () => {
    const instance = await deployed({ ...chosen, token: 'hidden-token' });
    const set = async (value: unknown) => {
      const path = `/environments/${stage.tenant.environment}/variables/token`;
      const answer = await stage.tenant.owner.put(path, { value, category: 'template', sensitive: true });
      expect(answer.status, answer.text).toBeLessThan(300);
    };
    await set('hidden-token');
    expect((await ask(chosen, { instance, version: '1.0.0' })).body.variables_reset).toEqual([]);
    await set('another-token');
    expect((await ask(chosen, { instance, version: '1.0.0' })).body.variables_reset).toEqual([
      { variable: 'token', cause: 'environment', before: hidden, after: hidden },
    ]);
    await set(12345678);
    expect(await inputsOf(await ask(chosen, { instance: 'digits' })), 'a number for a text').toMatchObject({
      token: '12345678',
    });
    const { status } = await stage.tenant.owner.delete(`/environments/${stage.tenant.environment}/variables/token`);
    expect(status).toBeLessThan(300);
  });

  test('resets nothing if it names the same values, or if nothing was deployed before', async () => {
    const instance = await deployed(chosen);
    expect((await ask(chosen, { instance, version: '1.0.0' })).body.variables_reset).toEqual([]);
    expect((await ask(chosen, { instance: 'new' })).body.variables_reset).toEqual([]);
  });
});

const shown = (value: unknown) => ({ value, sensitive: false, truncated: false });
const hidden = { sensitive: true, truncated: false };
