import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openInputs } from '#domain/runs/admission/inputs/inputs.ts';
import { Run } from '#domain/runs/entity.ts';
import { fireSchedule } from '#domain/schedules/fire-schedule.ts';
import { join } from '#test/support/access/tenancy.ts';
import type { ApiUser } from '#test/support/api/in-process-api.ts';
import { Following, outputOf } from '#test/support/references/following.ts';
import { openReadingStage, plain, type ReadingStage } from '#test/support/references/reading-stage.ts';
import { deployShop, publishShop } from '#test/support/references/shop.ts';
import { readInputs } from '#test/support/runs/run-inputs.ts';

/** Secrets that one person set in a deployment, and runs of another person with the deployed values. */

let stage: ReadingStage;
let template: string;
let other: ApiUser;
beforeAll(async () => {
  stage = await openReadingStage();
  template = await publishShop(stage);
  other = await stage.api.addUser('maintainer');
  await join(stage.tenant, other, 'member', 'owner');
});
afterAll(() => stage?.api.close());

const typed = { name: 'shop.example', colour: 'blue', api_key: 'typed-by-hand' };

const deployed = (variables: object = typed) => deployShop(stage, template, variables, other);

async function admitted({ body, status, text }: Awaited<ReturnType<typeof stage.ask>>) {
  expect(status, text).toBe(202);
  return (await readInputs(stage.api, body.id)).variables;
}

function expectRefused({ status, headers, text }: Awaited<ReturnType<typeof stage.ask>>) {
  expect([status, headers['x-error-code']], text).toEqual([422, 'variables_invalid']);
  expect(text).toContain('/api_key is a secret that another person gave the deployment');
  expect(text).not.toMatch(/typed-by-hand|of-the-environment/);
}

describe('a run of another person that starts from what is deployed', () => {
  test('keeps the secret while nothing else changes', async () => {
    expect(await admitted(await (await deployed()).run())).toEqual(typed);
  });

  test.each([
    ['names another value', { name: 'attacker.example' }, {}],
    ['names another secret', { token: 'guess' }, {}],
    ['has another version', {}, { version: '2.0.0' }],
    ['omits another variable', {}, { omit: ['colour'] }],
  ])('is refused with the name of the secret if it %s', async (_what, given, rest) => {
    const { give, run } = await deployed();
    expectRefused(await run(given, rest));
    await give('api_key', 'of-the-environment');
    expectRefused(await run(given, rest));
  });

  test('is refused if the environment has a new variable for the tools', async () => {
    const { give, run } = await deployed();
    await give('PROXY', 'attacker.example', 'env', false);
    expectRefused(await run());
  });

  test('is refused if the environment has rotated another secret', async () => {
    const { give, run, deploy } = await deployed();
    await give('token', 'token-1111');
    await deploy(typed);
    await give('token', 'token-2222');
    expectRefused(await run());
  });

  test('is refused if a reference resolves to another value', async () => {
    const source = await stage.deploy({ instance: 'address' }, { host: plain('one.example') });
    const { place, run, deploy } = await deployed();
    await stage.allow(source, { environment_ids: [place] });
    const name = outputOf('shared', 'address', 'host');
    await deploy({ ...typed, name });
    expect(await admitted(await run())).toMatchObject({ name: 'one.example', api_key: 'typed-by-hand' });
    const again = await deployed();
    await stage.allow(source, { environment_ids: [again.place] });
    await again.deploy({ ...typed, name });
    await stage.deploy({ instance: 'address' }, { host: plain('attacker.example') });
    expectRefused(await again.run());
  });

  test("gets the secret that it names, or the environment's secret if it omits the deployed one", async () => {
    const { run, deploy } = await deployed();
    await deploy({ colour: 'red', api_key: 'own-key' }, { variables_from: 'deployed' }, other);
    expect(await admitted(await run({ colour: 'green' }))).toEqual({ ...typed, colour: 'green', api_key: 'own-key' });
    const second = await deployed();
    await second.give('api_key', 'of-the-environment');
    const inputs = await admitted(await second.run({ colour: 'red' }, { omit: ['api_key'] }));
    expect(inputs).toMatchObject({ colour: 'red', api_key: 'of-the-environment' });
  });

  test('does not make this person the owner of the kept secret', async () => {
    const { run, deploy } = await deployed();
    const { id } = await deploy({}, { variables_from: 'deployed' }, other);
    const copy = await other.post(`/runs/${id}/requeue`, {});
    expect(copy.status, copy.text).toBe(202);
    await stage.finish(copy.body.id);
    expectRefused(await run({ name: 'attacker.example' }));
    const inputs = await admitted(await run({ name: 'new.example' }, {}, stage.tenant.owner));
    expect(inputs).toMatchObject({ name: 'new.example', api_key: 'typed-by-hand' });
  });

  test('is refused in the same way for inputs that an earlier release stored', async () => {
    const { run, first: deployment } = await deployed();
    const { orm, keyRing } = stage.api.services;
    const em = orm.em.fork();
    const row = await em.findOneOrFail(Run, { id: deployment.id });
    const { secretGivers: _, ...earlier } = openInputs(keyRing, row.id, row.sealedInputs);
    const sealed = keyRing.sealJson(['run-inputs', row.id], earlier);
    await em.nativeUpdate(Run, { id: row.id }, { sealedInputs: sealed });
    expectRefused(await run({ name: 'attacker.example' }));
    const inputs = await admitted(await run({ name: 'new.example' }, {}, stage.tenant.owner));
    expect(inputs).toMatchObject({ api_key: 'typed-by-hand' });
  });
});

describe('a schedule of another person that keeps the deployed values', () => {
  test('starts while nothing else changes, and otherwise fails with the name of the secret', async () => {
    const { at, give } = await deployed();
    const work = { run: { ...at, version: '1.0.0', variables_from: 'deployed' } };
    const schedule = { team_id: stage.tenant.team, name: 'Nightly', schedule: { every: 'PT6H' }, work };
    const made = await other.post('/schedules', schedule);
    expect(made.status, made.text).toBe(201);
    const deps = { ...stage.api.services, bindingKey: stage.api.services.installation.bindingKey };
    const fire = async () => {
      await fireSchedule(deps, made.body.id, new Date());
      return (await other.get(`/schedules/${made.body.id}`)).body.last_results;
    };
    const [started] = await fire();
    expect(started).toMatchObject({ outcome: 'started' });
    expect((await readInputs(stage.api, started.run_id)).variables).toEqual(typed);
    await stage.finish(started.run_id);
    await give('PROXY', 'attacker.example', 'env', false);
    const results = await fire();
    expect(results[0]).toMatchObject({ outcome: 'failed', run_id: null });
    expect(JSON.stringify(results[0])).toContain('/api_key is a secret that another person gave the deployment');
  });
});

describe('an instance that follows an output on behalf of another person', () => {
  test('starts no run, and names the secret in its history', async () => {
    const following = new Following(stage);
    const source = await stage.deploy({ instance: 'host' }, { host: plain('one.example') });
    const { place, deploy } = await deployed();
    await stage.allow(source, { environment_ids: [place] });
    const { instance_id: reader } = await deploy({ ...typed, name: outputOf('shared', 'host', 'host') });
    expect((await following.follow(reader, true, other)).status).toBe(200);
    await following.redeploy('host', { host: plain('attacker.example') });
    expect(await following.runsOf(reader)).toEqual([]);
    expect(JSON.stringify(await following.read(reader))).toContain('/api_key is a secret that another person gave');
  });
});

describe.each(['copy', 'destroy'] as const)('a %s by another person that changes something', (kind) => {
  const place = async (variables: object = typed) => {
    const { at, give, first: run } = await deployed(variables);
    const ask = (changes: object, caller = other) =>
      kind === 'copy'
        ? caller.post(`/runs/${run.id}/copy`, changes)
        : caller.post('/runs', {
            ...at,
            operation: 'destroy',
            ...('omit' in changes && { variables_from: 'deployed' }),
            ...changes,
          });
    return { give, ask };
  };
  const changed = { variables: { name: 'attacker.example' } };
  const refusal = '/api_key is a secret that another person or an output gave';

  test('is refused with the name of the secret, even if the environment has another value', async () => {
    const { give, ask } = await place();
    const refused = await ask(changed);
    expect([refused.status, refused.headers['x-error-code']], refused.text).toEqual([422, 'variables_invalid']);
    expect(refused.text).toContain(refusal);
    await give('api_key', 'of-the-environment');
    expect((await ask(changed)).text).toContain(refusal);
  });

  test('gets the secret that it names, or that of the environment if it omits the other one', async () => {
    const { ask } = await place();
    const variables = { ...changed.variables, api_key: 'own-key' };
    expect(await admitted(await ask({ variables }))).toMatchObject(variables);
    const second = await place();
    await second.give('api_key', 'of-the-environment');
    const inputs = await admitted(await second.ask({ ...changed, omit: ['api_key'] }));
    expect(inputs).toMatchObject({ ...changed.variables, api_key: 'of-the-environment' });
  });

  test('keeps the secret if the caller is the person who set it', async () => {
    const { give, ask } = await place();
    await give('api_key', 'of-the-environment');
    const inputs = await admitted(await ask(changed, stage.tenant.owner));
    expect(inputs).toMatchObject({ ...changed.variables, api_key: 'typed-by-hand' });
  });

  test('keeps the secret if nothing changes', async () => {
    const { ask } = await place();
    expect(await admitted(await ask({}))).toMatchObject(typed);
  });
});
