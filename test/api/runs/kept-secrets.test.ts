import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fireSchedule } from '#domain/schedules/fire-schedule.ts';
import { Following, outputOf } from '#test/support/references/following.ts';
import { openReadingStage, plain, type ReadingStage } from '#test/support/references/reading-stage.ts';
import { deployShop, publishShop } from '#test/support/references/shop.ts';
import { readInputs } from '#test/support/runs/run-inputs.ts';

/** Secrets that a person or a request set in a deployment, and that runs with the deployed values keep. */

let stage: ReadingStage;
let template: string;
let set: string;
beforeAll(async () => {
  stage = await openReadingStage();
  template = await publishShop(stage);
  set = (await stage.tenant.owner.make('/variable-sets', { team_id: stage.tenant.team, name: 'shop-common' })).id;
});
afterAll(() => stage?.api.close());

const typed = { name: 'shop', colour: 'blue', api_key: 'typed-by-hand' };

const deployed = (variables: object = typed) => deployShop(stage, template, variables);

/** Attaches the set, which gives `api_key`, to the environment. */
async function attachSet(place: string) {
  const { owner } = stage.tenant;
  const value = { value: 'of-the-set', category: 'template', sensitive: true };
  expect((await owner.put(`/variable-sets/${set}/variables/api_key`, value)).status).toBeLessThan(300);
  const places = { project_ids: [], environment_ids: [place] };
  expect((await owner.put(`/variable-sets/${set}/attachments`, places)).status).toBe(200);
}

async function admitted({ body, status, text }: Awaited<ReturnType<typeof stage.ask>>) {
  expect(status, text).toBe(202);
  expect(text).not.toMatch(/typed-by-hand|of-the-set/);
  return { resets: body.variables_reset, inputs: (await readInputs(stage.api, body.id)).variables };
}

describe('a run that starts from what is deployed', () => {
  test('keeps a typed secret after a variable set with another value was attached', async () => {
    const { place, run } = await deployed();
    await attachSet(place);
    expect(await admitted(await run())).toEqual({ resets: [], inputs: typed });
  });

  test('keeps a typed secret after an environment variable for the tools changed', async () => {
    const { place, give, run } = await deployed();
    await attachSet(place);
    await give('REGION', 'eu-west-1', 'env', false);
    expect(await admitted(await run())).toEqual({ resets: [], inputs: typed });
  });

  test.each([
    ['the request names another variable', { colour: 'red' }, {}],
    ['the run has another version', {}, { version: '2.0.0' }],
    ['the request omits another variable', {}, { omit: ['colour'] }],
  ])('keeps a typed secret when %s, although the environment has another value', async (_when, given, rest) => {
    const { place, run } = await deployed();
    await attachSet(place);
    expect((await admitted(await run(given, rest))).inputs).toMatchObject({ api_key: 'typed-by-hand' });
  });

  test('keeps a typed secret besides one that the environment rotated, and lists only the rotated one', async () => {
    const { deploy, give, run } = await deployed();
    await give('token', 'token-1111');
    await deploy(typed);
    await give('token', 'token-2222');
    await give('api_key', 'of-the-environment');
    const hidden = { sensitive: true, truncated: false };
    expect(await admitted(await run())).toEqual({
      resets: [{ variable: 'token', cause: 'environment', before: hidden, after: hidden }],
      inputs: { ...typed, token: 'token-2222' },
    });
  });

  test('keeps a typed secret through several runs', async () => {
    const { place, deploy, run } = await deployed();
    await attachSet(place);
    await deploy({ colour: 'red' }, { variables_from: 'deployed' });
    expect((await admitted(await run())).inputs).toEqual({ ...typed, colour: 'red' });
  });

  test('takes the secret of the set once the request omits the typed one', async () => {
    const { place, run } = await deployed();
    await attachSet(place);
    const { inputs } = await admitted(await run({}, { omit: ['api_key'] }));
    expect(inputs).toMatchObject({ api_key: 'of-the-set' });
  });

  test('is refused with the names of the secrets if no key decrypts the deployed inputs', async () => {
    const { place, run, first } = await deployed();
    await attachSet(place);
    await stage.api.rows(`update runs set sealed_inputs = set_byte(sealed_inputs, 2, 33) where id = ?`, [first.id]);
    const { status, headers, text } = await run();
    expect([status, headers['x-error-code']], text).toEqual([422, 'variables_invalid']);
    expect(text).toContain('/api_key is deployed, but no key of the service opens the deployed values');
  });
});

describe('a schedule that keeps the deployed values', () => {
  test('starts a run with the typed secret after a variable set with another value was attached', async () => {
    const { at, place, give } = await deployed();
    const work = { run: { ...at, variables_from: 'deployed' } };
    const { team, owner } = stage.tenant;
    const made = await owner.post('/schedules', { team_id: team, name: 'Nightly', schedule: { every: 'PT6H' }, work });
    expect(made.status, made.text).toBe(201);
    await attachSet(place);
    await give('REGION', 'eu-west-1', 'env', false);
    const deps = { ...stage.api.services, bindingKey: stage.api.services.installation.bindingKey };
    await fireSchedule(deps, made.body.id, new Date());
    const { last_results: results } = (await owner.get(`/schedules/${made.body.id}`)).body;
    expect(results[0]).toMatchObject({ outcome: 'started' });
    expect((await owner.get(`/runs/${results[0].run_id}`)).body.variables_reset).toEqual([]);
    expect((await readInputs(stage.api, results[0].run_id)).variables).toEqual({ ...typed, size: 3 });
  });
});

describe('an instance that follows an output', () => {
  test('keeps its typed secret although its environment has another value', async () => {
    const following = new Following(stage);
    const source = await stage.deploy({ instance: 'host' }, { host: plain('one') });
    const { place, deploy } = await deployed();
    await stage.allow(source, { environment_ids: [place] });
    const { instance_id: reader } = await deploy({ ...typed, name: outputOf('shared', 'host', 'host') });
    expect((await following.follow(reader)).status).toBe(200);
    await attachSet(place);
    await following.redeploy('host', { host: plain('two') });
    const [run] = await following.runsOf(reader);
    expect((await readInputs(stage.api, run?.id ?? '')).variables).toMatchObject({
      name: 'two',
      api_key: 'typed-by-hand',
    });
  });
});
