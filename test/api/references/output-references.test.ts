import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ReadsRefused } from '#domain/runs/errors.ts';
import { SourceOutputs } from '#domain/runs/references/source-outputs.ts';
import { findSourcesById } from '#domain/runs/references/sources-store.ts';
import { parseExactJson } from '#domain/shared/values/exact-json.ts';
import { makeTenant } from '#test/support/access/tenancy.ts';
import { openReadingStage, plain, type ReadingStage, secret } from '#test/support/references/reading-stage.ts';

/** References to outputs of other instances in the variables of runs. */

let stage: ReadingStage;
beforeAll(async () => {
  stage = await openReadingStage();
});
afterAll(() => stage?.api.close());

const hidden = 'password-of-the-network';
const size = '${instances.shared/network.outputs.size}';
const outputs = {
  size: plain(3),
  exact: plain(parseExactJson('9007199254740993')),
  nothing: plain(null),
  subnets: plain([{ id: 'a' }, '${instances.shared/network.outputs.password}']),
  password: secret(hidden),
};
let network: string;
beforeAll(async () => {
  network = await stage.deploy({ instance: 'network' }, outputs);
  await stage.allow(network, { environment_ids: [stage.tenant.environment] });
});

const show = async (id: string) => (await stage.tenant.owner.get(`/runs/${id}`)).body;
const refused = async (answer: ReturnType<ReadingStage['ask']>) => {
  const { status, body, headers } = await answer;
  expect([status, headers['x-error-code']], JSON.stringify(body)).toEqual([422, 'reference_unresolved']);
  return body.error as string;
};

describe('a reference to an output', () => {
  test('is replaced by the value, at any depth, and the run shows its state and run', async () => {
    const { status, body, text } = await stage.ask({
      size,
      net: { all: ['${instances.shared/network.outputs.subnets}'] },
    });
    expect(status, text).toBe(202);
    // What an output holds is a value: a text in it that looks like a reference is none.
    expect(body.variables).toEqual({ size: 3, net: { all: [outputs.subnets.value] } });
    const [first] = (await show(body.id)).reads;
    const deployed = (await stage.tenant.owner.get(`/instances/${network}`)).body;
    expect(first).toEqual({
      variable: 'size',
      path: '',
      reference: size,
      instance_id: network,
      instance: 'network/shared/network',
      output: 'size',
      sensitive: false,
      state_serial: deployed.state_serial,
      run_id: deployed.deployed_run_id,
      read_at: expect.any(String),
      copied: false,
    });
    expect((await show(body.id)).reads).toMatchObject([{}, { variable: 'net', path: '/all/0', output: 'subnets' }]);
    expect((await stage.claimPlan(body.id)).inputs.variables).toEqual({
      size: 3,
      net: { all: [outputs.subnets.value] },
    });
  });

  test('keeps every digit of a number, and null', async () => {
    const { body } = await stage.ask({
      size: '${instances.network/shared/network.outputs.exact}',
      net: '${instances.shared/network.outputs.nothing}',
    });
    const { inputs } = await stage.claimPlan(body.id);
    expect(JSON.stringify(inputs.variables)).toBe('{"size":9007199254740993,"net":null}');
  });

  test('a reference to a secret output masks the variable everywhere except for the worker', async () => {
    const { body } = await stage.ask({ net: { password: '${instances.shared/network.outputs.password}' }, size: 1 });
    expect(body.variables).toEqual({ net: { sensitive: true }, size: 1 });
    const { inputs } = await stage.claimPlan(body.id);
    expect(inputs.variables).toEqual({ net: { password: hidden }, size: 1 });
    expect(inputs.sensitive).toContain('net');
    const rows = await stage.api.rows('select r::text as row from runs r where id = ?', [body.id]);
    const events = await stage.api.rows('select e::text as row from domain_events e where subject_id = ?', [body.id]);
    expect(JSON.stringify([rows, events])).not.toContain(hidden);
  });

  test('must be the whole text, and is escaped by a second dollar sign', async () => {
    const { body } = await stage.ask({
      size: `at ${size}`,
      net: `$${size}`,
      token: ['$${other}', '${var.x}', `$$${size}`],
    });
    expect(body.variables).toEqual({ size: `at ${size}`, net: size, token: ['$${other}', '${var.x}', `$${size}`] });
    expect(body.reads).toEqual([]);
  });

  test('a reference to an output that does not exist is refused with its place, and names no other output', async () => {
    const message = await refused(
      stage.ask({ size: '${instances.shared/network.outputs.sise}', net: { a: '${instances.network}' } }),
    );
    expect(message).toContain('the instance network/shared/network has no output "sise"');
    for (const name of ['exact', 'nothing', 'subnets', 'password']) expect(message).not.toContain(name);
    expect(message).toContain('/net/a is no reference');
  });

  test('a reference that is malformed in a thousand places is refused with the first hundred places', async () => {
    const message = await refused(stage.ask({ net: Array.from({ length: 1_000 }, () => '${instances.}') }));
    expect(message).toContain('/net/99 is no reference');
    expect(message).not.toContain('/net/100 ');
    expect(message).toContain('/ has 900 more errors');
  });

  test('is valid for any type if variables are only validated, unless it is malformed', async () => {
    const counts = { type: 'object', properties: { count: { type: 'integer' }, name: { type: 'string' } } };
    const executor = { kind: 'command', apply: [{ name: 'go', run: ['true'] }] };
    const template = await stage.steps.publish({ variables: counts, executor });
    const validate = async (variables: object) => {
      const path = `/registry/templates/${template}/versions/latest/validate`;
      const { valid, errors } = (await stage.tenant.owner.post(path, { variables })).body;
      return { valid, paths: errors.map((error: { path: string }) => error.path) };
    };
    expect(await validate({ count: size })).toEqual({ valid: true, paths: [] });
    expect(await validate({ count: size, name: 3 })).toEqual({ valid: false, paths: ['/name'] });
    expect(await validate({ name: '${instances.network}' })).toEqual({ valid: false, paths: ['/name'] });
    expect(await validate({ count: `$${size}` })).toEqual({ valid: false, paths: ['/count'] });
  });

  test('a reference to an output without permission gets the same answer whether or not the instance exists', async () => {
    const foreign = await makeTenant(stage.api);
    await stage.deploy({ environment: stage.tenant.environment, instance: 'closed' }, outputs);
    const say = async (name: string) =>
      (await refused(stage.ask({ size: `\${instances.${name}.outputs.size}` }))).replaceAll(name, 'it');
    const missing = await say('shared/missing');
    expect(await say('development/closed')).toBe(missing);
    const answer = stage.ask({ size }, { environment_id: foreign.environment }, foreign.owner);
    expect((await refused(answer)).replaceAll('shared/network', 'it')).toBe(missing);
    expect(await say('network/development/closed')).toBe(missing);
  });

  test('a reference to an output of a destroyed instance is refused', async () => {
    const gone = await stage.deploy({ instance: 'gone' }, outputs);
    await stage.allow(gone, { team_ids: [stage.tenant.team] });
    const at = { environment_id: stage.shared, instance: 'gone' };
    const { body } = await stage.ask({}, { ...at, operation: 'destroy' });
    await stage.finish(body.id);
    expect(await refused(stage.ask({ size: '${instances.shared/gone.outputs.size}' }))).toContain('is not deployed');
  });

  test('a reference to an output in a variable of the environment is resolved for each run that does not set the variable', async () => {
    const [place, path] = [{ project_id: stage.tenant.project, name: 'Reading', kind: 'development' }, ''];
    const { id } = await stage.tenant.owner.make('/environments', place);
    await stage.allow(network, { environment_ids: [stage.tenant.environment, id] });
    const variable = { value: size, category: 'template', sensitive: false };
    expect((await stage.tenant.owner.put(`/environments/${id}/variables/size`, variable)).status).toBeLessThan(300);
    const { body } = await stage.ask({}, { environment_id: id });
    expect([body.variables, body.reads.length, path]).toEqual([{ size: 3 }, 1, '']);
    expect((await stage.ask({ size: 5 }, { environment_id: id })).body.reads).toEqual([]);
  });
});

describe('a run that repeats another one', () => {
  test('keeps the resolved values and says so, unless a copy names the reference again', async () => {
    const source = await stage.deploy({ instance: 'moving' }, { size: plain(1) });
    await stage.allow(source, { team_ids: [stage.tenant.team] });
    const reference = '${instances.shared/moving.outputs.size}';
    const first = (await stage.ask({ size: reference })).body;
    await stage.finish(first.id);
    await stage.deploy({ instance: 'moving' }, { size: plain(2) });
    const requeued = (await stage.tenant.owner.post(`/runs/${first.id}/requeue`)).body;
    expect([requeued.variables, requeued.reads]).toEqual([{ size: 1 }, [{ ...first.reads[0], copied: true }]]);
    const copy = (await stage.tenant.owner.post(`/runs/${first.id}/copy`, { variables: { size: reference } })).body;
    expect([copy.variables, copy.reads[0].copied]).toEqual([{ size: 2 }, false]);
    await stage.allow(source, {});
    const again = await stage.tenant.owner.post(`/runs/${first.id}/requeue`);
    expect(again.headers['x-error-code']).toBe('reference_unresolved');
  });
});

describe('an owner who revokes the permission to read outputs', () => {
  const admit = async () => {
    const source = await stage.deploy({ instance: 'lent' }, { size: plain(1) });
    await stage.allow(source, { environment_ids: [stage.tenant.environment] });
    return { source, id: (await stage.ask({ size: '${instances.shared/lent.outputs.size}' })).body.id };
  };

  test('between admission and plan, or plan and apply, ends the run before its worker gets the value', async () => {
    const waiting = await admit();
    await stage.allow(waiting.source, { team_ids: [] });
    await expect(stage.claimPlan(waiting.id)).rejects.toThrow(ReadsRefused);
    const planned = await admit();
    const takeBack = () => stage.allow(planned.source, {});
    await expect(stage.claimApply(planned.id, takeBack)).rejects.toThrow(ReadsRefused);
  });

  test('does not prevent a destroy of instances that use them', async () => {
    const { source, id } = await admit();
    await stage.finish(id);
    await stage.allow(source, {});
    const { instance } = await show(id);
    const destroy = (await stage.ask({}, { instance, operation: 'destroy' })).body;
    expect(destroy.reads).toMatchObject([{ copied: true }]);
    expect((await stage.claimPlan(destroy.id)).inputs.variables).toEqual({ size: 1 });
  });

  test('does not prevent a destroy although the environment now has a reference to them', async () => {
    const { id: environment } = await stage.tenant.owner.make('/environments', {
      ...{ project_id: stage.tenant.project, name: 'Later', kind: 'development' },
    });
    const at = { environment_id: environment, instance: 'older' };
    await stage.finish((await stage.ask({ net: 1 }, at)).body.id);
    const variable = { value: '${instances.dev/nosuch.outputs.size}', category: 'template', sensitive: false };
    const set = await stage.tenant.owner.put(`/environments/${environment}/variables/size`, variable);
    expect(set.status, set.text).toBeLessThan(300);
    await refused(stage.ask({}, at));
    const destroy = await stage.ask({}, { ...at, operation: 'destroy' });
    expect([destroy.status, destroy.body.variables], destroy.text).toEqual([202, { net: 1 }]);
  });
});

test('a malformed reference in a variable of an environment or of a variable set is refused when it is saved', async () => {
  const variable = { value: { deep: ['${instances.}'] }, category: 'template', sensitive: false };
  const answer = await stage.tenant.owner.put(`/environments/${stage.shared}/variables/size`, variable);
  expect([answer.status, answer.body.error], answer.text).toEqual([
    400,
    expect.stringContaining('value/deep/0 is no reference'),
  ]);
  const text = { ...variable, value: '$${instances.}' };
  expect((await stage.tenant.owner.put(`/environments/${stage.shared}/variables/size`, text)).status).toBeLessThan(300);
  const shell = { ...variable, category: 'env', value: '${instances.}' };
  expect(
    (await stage.tenant.owner.put(`/environments/${stage.shared}/variables/SHELL_LIKE`, shell)).status,
  ).toBeLessThan(300);
});

describe('what one request decrypts', () => {
  test('is decrypted once, and no more than the limit', async () => {
    const { orm, keyRing } = stage.api.services;
    const em = orm.em.fork();
    const ids = [network, await stage.deploy({}, { size: plain(1) }), await stage.deploy({}, { size: plain(2) })];
    const half = 40 * 1024 * 1024;
    const [first, second, third] = (await findSourcesById(em, ids, false)).map((source) => ({
      ...source,
      bytes: half,
    }));
    if (!first || !second || !third) throw new Error('an instance is missing');
    const opened = new SourceOutputs(em, keyRing);
    const outputsOfFirst = await opened.open(first);
    expect(outputsOfFirst).not.toBeNull();
    expect(await opened.open(first)).toBe(outputsOfFirst);
    expect(await opened.open(second)).toBeNull();
    expect(await opened.open({ ...third, bytes: 1 })).not.toBeNull();
  });
});
