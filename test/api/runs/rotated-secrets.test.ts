import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openReadingStage, type ReadingStage, secret } from '#test/support/references/reading-stage.ts';
import { readInputs } from '#test/support/runs/run-inputs.ts';

/** Secrets of an environment or a variable set that somebody rotates after a run has deployed them. */

let stage: ReadingStage;
let template: string;
let set: string;
beforeAll(async () => {
  stage = await openReadingStage();
  template = await stage.steps.publish({
    variables: {
      type: 'object',
      properties: {
        name: { type: 'string' },
        region: { type: 'string' },
        token: { type: 'string', writeOnly: true },
        login: { type: 'object', properties: { user: { type: 'string' }, port: { type: 'integer', default: 5432 } } },
        own: { type: 'string', writeOnly: true },
        shared: { type: 'string' },
      },
      additionalProperties: false,
    },
    executor: { kind: 'command', apply: [{ name: 'go', run: ['true'] }], destroy: [{ name: 'no', run: ['true'] }] },
  });
  const { owner, project } = stage.tenant;
  set = (await owner.make('/variable-sets', { project_id: project, name: 'Shared secrets' })).id;
  const places = { project_ids: [project], environment_ids: [] };
  expect((await owner.put(`/variable-sets/${set}/attachments`, places)).status).toBe(200);
});
afterEach(async () => {
  const { owner, environment } = stage.tenant;
  for (const holder of [`/environments/${environment}`, `/variable-sets/${set}`])
    expect((await owner.put(`${holder}/variables`, { variables: [] })).status).toBe(200);
});
afterAll(() => stage?.api.close());

let instances = 0;
const ask = (variables: object, rest: object) => stage.ask(variables, { template_id: template, ...rest });
async function deployed(variables: object) {
  const instance = `rotated-${++instances}`;
  const { body, status, text } = await ask(variables, { instance });
  expect(status, text).toBe(202);
  await stage.finish(body.id);
  return { instance, id: body.id as string };
}
const again = (instance: string, variables: object = {}) => ask(variables, { instance, variables_from: 'deployed' });
const copy = (id: string, body: object = {}) => stage.tenant.owner.post(`/runs/${id}/copy`, body);
async function put(path: string, value: unknown, sensitive = true) {
  const answer = await stage.tenant.owner.put(path, { value, category: 'template', sensitive });
  expect(answer.status, answer.text).toBeLessThan(300);
}
const give = (name: string, value: unknown, sensitive = true) =>
  put(`/environments/${stage.tenant.environment}/variables/${name}`, value, sensitive);
async function takeAway(name: string) {
  const { status } = await stage.tenant.owner.delete(`/environments/${stage.tenant.environment}/variables/${name}`);
  expect(status).toBeLessThan(300);
}

/** What a run was admitted with. */
async function inputsOf({ body, status, text }: Awaited<ReturnType<typeof ask>>) {
  expect(status, text).toBe(202);
  return (await readInputs(stage.api, body.id)).variables;
}
const hidden = { sensitive: true, truncated: false };
const rotated = (variable: string) => [{ variable, cause: 'environment', before: hidden, after: hidden }];

describe('a run that starts from what is deployed, after the environment has rotated a secret', () => {
  test("gets the environment's present secret, and lists it as reset, as a copy does", async () => {
    await give('token', 'token-1111');
    const { instance, id } = await deployed({ name: 'a' });
    await give('token', 'token-2222');
    for (const variables of [{}, { name: 'a' }, { name: 'b' }]) {
      const run = await again(instance, variables);
      expect(run.body.variables_reset).toEqual(rotated('token'));
      expect(run.text).not.toMatch(/token-(1111|2222)/);
      expect(run.body.variable_sources).toMatchObject([{ variable: 'token', kind: 'environment' }]);
      expect(await inputsOf(run)).toMatchObject({ token: 'token-2222' });
    }
    expect(await inputsOf(await copy(id))).toMatchObject({ name: 'a', token: 'token-2222' });
  });

  test('keeps a secret that the run itself named, whatever value the environment has', async () => {
    await give('token', 'token-1111');
    const { instance, id } = await deployed({ name: 'a', token: 'of-the-run' });
    await give('token', 'token-2222');
    const run = await again(instance);
    expect(run.body.variables_reset).toEqual([]);
    expect(await inputsOf(run)).toMatchObject({ token: 'of-the-run' });
    expect(await inputsOf(await copy(id))).toMatchObject({ token: 'of-the-run' });
  });

  test('keeps all values if the environment sets the same value again, even if the schema adds defaults to it', async () => {
    await give('token', 'token-1111');
    await give('login', { user: 'root' });
    await give('shared', '$${instances.x/y.outputs.z}');
    const { instance, id } = await deployed({ name: 'a', own: 'of-the-run' });
    await give('token', 'token-1111');
    await give('login', { user: 'root' });
    await give('shared', '$${instances.x/y.outputs.z}');
    const inputs = { token: 'token-1111', own: 'of-the-run', login: { user: 'root', port: 5432 } };
    const run = await again(instance);
    expect(run.body.variables_reset).toEqual([]);
    expect(await inputsOf(run)).toMatchObject(inputs);
    expect(await inputsOf(await copy(id))).toMatchObject(inputs);
    await give('login', { user: 'other' });
    expect(await inputsOf(await again(instance))).toMatchObject({ ...inputs, login: { user: 'other', port: 5432 } });
  });

  test('keeps a secret that the run named besides the rotated one', async () => {
    await give('token', 'token-1111');
    const { instance } = await deployed({ name: 'a', own: 'of-the-run' });
    await give('token', 'token-2222');
    expect(await inputsOf(await again(instance))).toMatchObject({ token: 'token-2222', own: 'of-the-run' });
    expect(await inputsOf(await again(instance, { own: 'again' }))).toMatchObject({
      token: 'token-2222',
      own: 'again',
    });
  });

  test('is refused with the name of a secret that the environment no longer has', async () => {
    await give('token', 'token-1111');
    const { instance } = await deployed({ name: 'a' });
    await takeAway('token');
    const refused = await again(instance);
    expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('/token is a secret')]);
  });

  test('gets the secret of the variable set that now has it', async () => {
    await give('token', 'token-1111');
    const { instance } = await deployed({ name: 'a' });
    await takeAway('token');
    await put(`/variable-sets/${set}/variables/token`, 'token-of-set');
    const run = await again(instance);
    expect(run.body.variable_sources).toMatchObject([
      { variable: 'token', kind: 'variable_set', name: 'Shared secrets' },
    ]);
    expect(await inputsOf(run)).toMatchObject({ token: 'token-of-set' });
    await put(`/variable-sets/${set}/variables/token`, 'token-of-set-2');
    const other = await deployed({ name: 'b' });
    await put(`/variable-sets/${set}/variables/token`, 'token-of-set-3');
    expect(await inputsOf(await again(other.instance))).toMatchObject({ token: 'token-of-set-3' });
  });
});

describe('a secret of the environment that is a reference', () => {
  test('is resolved anew at each run, and from another output once the environment refers to that', async () => {
    const source = await stage.deploy({ instance: 'keys' }, { one: secret('key-1111'), two: secret('key-2222') });
    await stage.allow(source, { environment_ids: [stage.tenant.environment] });
    await give('token', '${instances.shared/keys.outputs.one}');
    const { instance, id } = await deployed({ name: 'a' });
    const same = await again(instance);
    expect(await inputsOf(same)).toMatchObject({ token: 'key-1111' });
    expect(same.body.variables_reset).toEqual([]);
    await give('token', '${instances.shared/keys.outputs.two}');
    expect(await inputsOf(await again(instance))).toMatchObject({ token: 'key-2222' });
    expect(await inputsOf(await again(instance, { name: 'b' }))).toMatchObject({ name: 'b', token: 'key-2222' });
    expect(await inputsOf(await copy(id))).toMatchObject({ token: 'key-2222' });
    await give('token', 'typed-3333');
    expect(await inputsOf(await again(instance))).toMatchObject({ token: 'typed-3333' });
  });
});

describe('a run that does not name a rotated variable of the environment', () => {
  test('lists the secret besides the plain variable, without its values', async () => {
    await give('token', 'token-1111');
    await give('region', 'us', false);
    const { instance } = await deployed({ name: 'a' });
    expect((await ask({ name: 'a' }, { instance })).body.variables_reset, 'nothing was rotated').toEqual([]);
    await give('token', 'token-2222');
    await give('region', 'ap', false);
    const { body, text } = await ask({ name: 'a' }, { instance });
    expect(body.variables_reset).toEqual(
      expect.arrayContaining([
        ...rotated('token'),
        {
          variable: 'region',
          cause: 'environment',
          before: { value: 'us', sensitive: false, truncated: false },
          after: { value: 'ap', sensitive: false, truncated: false },
        },
      ]),
    );
    expect(text).not.toMatch(/token-(1111|2222)/);
  });
});
