import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ReadsRefused } from '#domain/runs/errors.ts';
import { openReadingStage, plain, type ReadingStage, secret } from '#test/support/references/reading-stage.ts';
import { aPlan, executing } from '#test/support/runs/run-steps.ts';

/** Data sources `terraform_remote_state` read outputs of instances in place of a state somewhere else. */

let stage: ReadingStage;
let worker: string;
beforeAll(async () => {
  stage = await openReadingStage();
  worker = await stage.steps.worker('none', 'default', [...tools]);
});
afterAll(() => stage?.api.close());

const tools = [{ name: 'opentofu', version: '1.12.6' }] as const;
const reading = (name: string) => `data "terraform_remote_state" "${name}" {
  backend = "s3"
  config  = { bucket = "b", key = "k", region = "r" }
}
`;
const specOf = (remote_states: object, more: object = {}) => ({
  executor: { kind: 'opentofu', files: { 'main.tf': reading('net'), ...more } },
  remote_states,
});

async function ask(spec: object, rest: object = {}) {
  const template = await stage.steps.publish(spec);
  const body = { template_id: template, environment_id: stage.tenant.environment, instance: 'reader', ...rest };
  return stage.tenant.owner.post('/runs', { ...body, instance: `r-${template}` });
}

async function claim(runId: string) {
  const planning = executing(await stage.steps.next({ runId }));
  return stage.steps.claim(planning, worker, 'none', tools);
}

async function importState(name: string): Promise<string> {
  const place = { template_id: stage.template, environment_id: stage.shared, name };
  const { id } = await stage.tenant.owner.make('/instances', place);
  const outputs = {
    ids: { value: ['a'], type: ['set', 'string'] },
    token: { value: 'hidden-in-a-state', type: 'string', sensitive: true },
  };
  const state = { version: 4, terraform_version: '1.5.0', serial: 3, lineage: 'x', outputs, resources: [] };
  const answer = await stage.tenant.owner.post(`/instances/${id}/state`, state);
  expect(answer.status, answer.text).toBe(201);
  return id;
}

describe('a version with remote states', () => {
  test('is refused for command templates, which read no states', async () => {
    const { owner, team } = stage.tenant;
    const { id } = await owner.make('/registry/templates', { name: 'Steps', team_id: team });
    const executor = { kind: 'command', apply: [{ name: 'go', run: ['true'] }] };
    const spec = { executor, remote_states: { net: 'shared/typed' } };
    for (const [path, more] of [
      ['versions', { version: '1.0.0' }],
      ['versions/check', {}],
    ] as const) {
      const { status, text } = await owner.post(`/registry/templates/${id}/${path}`, { spec, ...more });
      expect([status, text]).toEqual([400, expect.stringContaining('spec.remote_states')]);
    }
  });

  test('passes the outputs of the instance to its runs with their types, and nothing else of its state', async () => {
    const id = await importState('typed');
    await stage.allow(id, { environment_ids: [stage.tenant.environment] });
    const { status, body, text } = await ask(specOf({ net: 'shared/typed' }));
    expect(status, text).toBe(202);
    expect(body.reads).toMatchObject([
      { variable: 'data.terraform_remote_state.net', reference: 'shared/typed', output: '*', sensitive: true },
    ]);
    const work = await claim(body.id);
    expect(JSON.parse(work?.inputs.remoteStates?.['net'] ?? '')).toEqual({
      version: 4,
      terraform_version: '1.0.0',
      serial: 1,
      lineage: id,
      outputs: {
        ids: { value: ['a'], type: ['set', 'string'] },
        token: { value: 'hidden-in-a-state', type: 'string', sensitive: true },
      },
      resources: [],
    });
    const rows = await stage.api.rows('select r::text as row from runs r where id = ?', [body.id]);
    expect(JSON.stringify([rows, body])).not.toContain('hidden-in-a-state');
    expect((await stage.tenant.owner.get(`/instances/${id}/dependencies`)).status).toBe(200);
  });

  test('prevents undoing the import of the state without despite_dependents', async () => {
    const id = await importState('forgotten');
    await stage.allow(id, { environment_ids: [stage.tenant.environment] });
    const { body } = await ask(specOf({ net: 'shared/forgotten' }));
    await stage.api.rows('update instances set deployed_run_id = ? where id = ?', [body.id, body.instance_id]);
    const { owner } = stage.tenant;
    const refused = await owner.delete(`/instances/${id}/state`);
    expect([refused.status, refused.headers['x-error-code']]).toEqual([409, 'has_dependents']);
    const forgotten = await owner.send('DELETE', `/instances/${id}/state`, { despite_dependents: true });
    expect(forgotten.status, forgotten.text).toBe(204);
  });

  test("infers types if commands deployed the instance, and finds it by its name in the run's environment", async () => {
    const { environment } = stage.tenant;
    const id = await stage.deploy(
      { environment, instance: 'beside' },
      { size: plain(1), of: plain({ a: [true] }), none: plain(null), token: secret('hidden') },
    );
    await stage.allow(id, { environment_ids: [environment] });
    const { body } = await ask(specOf({ net: 'beside' }));
    const { outputs } = JSON.parse((await claim(body.id))?.inputs.remoteStates?.['net'] ?? '');
    expect(outputs).toEqual({
      size: { value: 1, type: 'number' },
      of: { value: { a: [true] }, type: ['object', { a: ['tuple', ['bool']] }] },
      token: { value: 'hidden', type: 'string', sensitive: true },
    });
  });

  test('is refused for runs that may not read the instance, at admission and when a worker claims them', async () => {
    const refused = await ask(specOf({ net: 'shared/nowhere' }));
    expect([refused.status, refused.headers['x-error-code']]).toEqual([422, 'reference_unresolved']);
    const id = await importState('lent');
    const closed = await ask(specOf({ net: 'shared/lent' }));
    expect(closed.body.error.replace('lent', 'nowhere')).toBe(refused.body.error);
    await stage.allow(id, { team_ids: [stage.tenant.team] });
    const { body } = await ask(specOf({ net: 'shared/lent' }));
    await stage.allow(id, {});
    await expect(claim(body.id)).rejects.toThrow(ReadsRefused);
  });

  test('after a revocation passes to a destroy the deployed outputs, unless it has another version', async () => {
    const id = await importState('revoked');
    await stage.allow(id, { environment_ids: [stage.tenant.environment] });
    const { body } = await ask(specOf({ net: 'shared/revoked' }));
    const { template_id: template, instance } = body;
    const planning = executing(await stage.steps.next({ runId: body.id }));
    await stage.steps.claim(planning, worker, 'none', tools);
    await stage.steps.complete(planning, { outcome: 'planned', plan: aPlan() });
    const applying = executing(await stage.steps.next({ runId: body.id, executed: planning }));
    await stage.steps.claim(applying, worker, 'none', tools);
    await stage.steps.complete(applying, { outcome: 'applied', outputs: {}, resourceCount: 1 });
    await stage.steps.next({ runId: body.id, executed: applying });
    await stage.allow(id, {});
    const path = `/registry/templates/${template}/versions`;
    const other = { version: '9.0.0', spec: specOf({ net: 'shared/revoked' }, { 'more.tf': '# Prints it.\n' }) };
    const admin = await stage.api.addUser('admin');
    const { status, text } = await admin.post(path, other);
    expect(status, text).toBe(201);
    const destroy = { template_id: template, environment_id: stage.tenant.environment, instance, operation: 'destroy' };
    const refused = await stage.tenant.owner.post('/runs', { ...destroy, version: '9.0.0' });
    expect([refused.status, refused.headers['x-error-code']]).toEqual([422, 'reference_unresolved']);
    const same = await stage.tenant.owner.post('/runs', destroy);
    expect(same.status, same.text).toBe(202);
    expect(same.body.reads).toMatchObject([{ variable: 'data.terraform_remote_state.net', copied: true }]);
    expect((await claim(same.body.id))?.inputs.remoteStates?.['net']).toContain('hidden-in-a-state');
  });

  test('is published only if the root module has the data sources, and other data sources get a note', async () => {
    const { owner, team } = stage.tenant;
    const { id } = await owner.make('/registry/templates', { name: 'Noted', team_id: team });
    const path = `/registry/templates/${id}/versions`;
    const wrong = await owner.post(path, { version: '1.0.0', spec: specOf({ other: 'shared/typed' }) });
    expect([wrong.status, wrong.headers['x-error-code']]).toEqual([422, 'configuration_invalid']);
    expect(wrong.text).toContain('no data source');
    const inside = { 'in/main.tf': reading('inner'), 'extra.tf.json': '{"data":{"terraform_remote_state":{"x":{}}}}' };
    const { body, status, text } = await owner.post(`${path}/check`, { spec: specOf({ net: 'a/b' }, inside) });
    expect(status, text).toBe(200);
    const said = JSON.stringify(body.warnings);
    expect(said).toContain('data.terraform_remote_state.inner');
    expect(said).toContain('data.terraform_remote_state.x');
    expect(said).not.toContain('data.terraform_remote_state.net');
  });
});
