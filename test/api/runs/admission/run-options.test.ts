import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { network } from '#test/support/templates.ts';

let api: TestApi;
let tenant: Tenant;
let template: string;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  const made = await tenant.owner.make('/registry/templates', { name: 'Network', team_id: tenant.team });
  template = made.id;
  const version = await tenant.owner.post(`/registry/templates/${template}/versions`, {
    version: '1.0.0',
    spec: network,
  });
  expect(version.status, version.text).toBe(201);
});
afterAll(() => api?.close());

let instances = 0;
const ask = (body: object, user: ApiUser = tenant.owner) =>
  user.post('/runs', {
    template_id: template,
    environment_id: tenant.environment,
    instance: `net-${++instances}`,
    ...body,
  });
const finish = async (run: string, more = '') => {
  await api.rows(`update runs set status = 'failed', phase = 'finished', finished_at = now() ${more} where id = ?`, [
    run,
  ]);
};

const usual = { replace: [], target: [], exclude: [], refresh: true, parallelism: null, log_level: null };
const options = { target: ['terraform_data.network'], refresh: false, parallelism: 3 };

describe('a run with options', () => {
  it('shows its options and whether it is partial, and shows the defaults if it has none', async () => {
    const { status, body, text } = await ask({ options });
    expect(status, text).toBe(202);
    expect(body).toMatchObject({ options: { ...usual, ...options }, partial: true });
    expect((await ask({})).body.options).toEqual(usual);
    expect((await ask({ options: { refresh: true, target: [] } })).body.options).toEqual(usual);
    const wide = await ask({ options: { parallelism: 20 } });
    expect(wide.body).toMatchObject({ options: { ...usual, parallelism: 20 }, partial: false });
  });

  it('accepts replace in the body or in its options, and refuses two different lists, or target with exclude', async () => {
    const { body } = await ask({ options: { replace: ['a.b'] } });
    expect([body.replace, body.options.replace]).toEqual([['a.b'], ['a.b']]);
    const both = await ask({ replace: ['a.b'], options: { replace: ['a.c'] } });
    expect([both.status, both.body.error]).toEqual([
      400,
      'options.replace: the run names other resources to replace: name them in one of the two',
    ]);
    expect((await ask({ replace: [], options: { replace: ['a.c'] } })).status).toBe(400);
    const narrowed = await ask({ options: { target: ['a.b'], exclude: ['a.c'] } });
    expect([narrowed.status, narrowed.body.error]).toEqual([
      400,
      'options.exclude: name either target or exclude, not both',
    ]);
    for (const wrong of [{ parallelism: 0 }, { parallelism: 257 }, { target: [''] }, { unknown: 1 }])
      expect((await ask({ options: wrong })).status).toBe(400);
  });

  it('shows options that another request may send unchanged, and treats null as the default', async () => {
    for (const request of [{ options }, { replace: ['a.b'] }, {}]) {
      const { body: shown } = await ask(request);
      const again = await ask({ replace: shown.replace, options: shown.options });
      expect(again.status, again.text).toBe(202);
      expect(again.body.options).toEqual(shown.options);
    }
    const more = await ask({ replace: ['a.b'], options: usual });
    expect(more.body.options, more.text).toEqual({ ...usual, replace: ['a.b'] });
    const none = Object.fromEntries(Object.keys(usual).map((name) => [name, null]));
    expect((await ask({ options: none })).body.options).toEqual(usual);
  });

  it('is refused if template, operation or tool do not support an option', async () => {
    const { id: command } = await tenant.owner.make('/registry/templates', { name: 'Steps', team_id: tenant.team });
    const spec = { executor: { kind: 'command', apply: [{ name: 'go', run: ['true'] }] } };
    await tenant.owner.make(`/registry/templates/${command}/versions`, { version: '1.0.0', spec });
    const ofCommand = await ask({ template_id: command, options: { target: ['a.b'] } });
    expect([ofCommand.status, ofCommand.headers['x-error-code']]).toEqual([422, 'operation_unsupported']);
    expect(ofCommand.body.error).toMatch(/^options\.target: /);
    const refresh = await ask({ operation: 'refresh', options: { refresh: false } });
    expect([refresh.status, refresh.headers['x-error-code']]).toEqual([422, 'operation_unsupported']);
    const first = await ask({ instance: 'by-terraform' });
    await api.rows(`update instances set tool = 'terraform' where id = ?`, [first.body.instance_id]);
    const excluded = await ask({ instance: 'by-terraform', options: { exclude: ['a.b'] } });
    expect([excluded.status, excluded.headers['x-error-code']]).toEqual([422, 'option_unknown']);
    expect(excluded.body.error).toBe(
      'options.exclude: it needs opentofu 1.9 or newer, and the run may use only terraform',
    );
  });

  it('is refused if the required tool cannot support an option, and not because of a tool without state', async () => {
    const { id } = await tenant.owner.make('/registry/templates', { name: 'Terraform', team_id: tenant.team });
    const executor = { kind: 'opentofu', files: { 'main.tf': '' } };
    const spec = { executor, tool: { name: 'terraform' } };
    await tenant.owner.make(`/registry/templates/${id}/versions`, { version: '1.0.0', spec });
    const excluding = { options: { exclude: ['a.b'] } };
    const unfit = await ask({ template_id: id, ...excluding });
    expect([unfit.status, unfit.headers['x-error-code']]).toEqual([422, 'option_unknown']);
    const { body } = await ask({ instance: 'emptied' });
    const emptied = `update instances set tool = 'terraform', state_serial = 3, resource_count = 0 where id = ?`;
    await api.rows(emptied, [body.instance_id]);
    expect((await ask({ instance: 'emptied', ...excluding })).status).toBe(202);
    await api.rows(`update instances set outputs = '{"a": {"value": 1, "sensitive": false}}' where id = ?`, [
      body.instance_id,
    ]);
    expect((await ask({ instance: 'emptied', ...excluding })).status).toBe(422);
  });

  it('is requeued with its options, and a copy has them unless it names others or another operation', async () => {
    const { body: run } = await ask({ options });
    await finish(run.id);
    const requeued = await tenant.owner.post(`/runs/${run.id}/requeue`);
    expect(requeued.body.options).toEqual(run.options);
    const copied = await tenant.owner.post(`/runs/${run.id}/copy`, {});
    expect(copied.body.options).toEqual(run.options);
    const changed = await tenant.owner.post(`/runs/${run.id}/copy`, { options: { exclude: ['a.b'] } });
    expect(changed.body.options).toEqual({ ...usual, exclude: ['a.b'] });
    const whole = await tenant.owner.post(`/runs/${run.id}/copy`, { options: {} });
    expect(whole.body.options).toEqual(usual);
    const other = await tenant.owner.post(`/runs/${run.id}/copy`, { operation: 'plan' });
    expect(other.body.options).toEqual(usual);
  });

  it('is scheduled with its options', async () => {
    const work = { run: { template_id: template, environment_id: tenant.environment, options } };
    const made = await tenant.owner.post('/schedules', {
      team_id: tenant.team,
      name: 'Nightly',
      schedule: { every: 'PT6H' },
      work,
    });
    expect(made.status, made.text).toBe(201);
    expect(made.body.work.run.options).toEqual({
      target: options.target,
      exclude: [],
      refresh: false,
      parallelism: 3,
      log_level: null,
    });
    const started = await tenant.owner.post(`/schedules/${made.body.id}/trigger`);
    expect(started.status, started.text).toBe(202);
  });

  it('has a warning on its page, above its plan', async () => {
    const { body: run } = await ask({ options });
    const visitor = await signInVisitor(api, tenant.owner);
    const { text } = await visitor.get(`/workloads/runs/${run.id}`);
    expect(text).toContain(
      'This run is partial: only terraform_data.network and what they depend on, without looking at what is really there.',
    );
    const whole = await visitor.get(`/workloads/runs/${(await ask({})).body.id}`);
    expect(whole.text).not.toContain('is partial');
  });
});

describe('an environment', () => {
  it('allows the options in allowed_options, and refuses others by name, for requeues too', async () => {
    const { body: run } = await ask({ options });
    await finish(run.id);
    const path = `/environments/${tenant.environment}`;
    const strict = await tenant.owner.patch(path, { allowed_options: ['parallelism', 'replace'] });
    expect(strict.body.allowed_options).toEqual(['replace', 'parallelism']);
    const refused = [await ask({ options }), await tenant.owner.post(`/runs/${run.id}/requeue`)];
    for (const { status, headers, body } of refused) {
      expect([status, headers['x-error-code']]).toEqual([422, 'option_forbidden']);
      expect(body.error).toBe(
        'options.target: the environment does not allow this option for its runs (allowed_options: replace, parallelism)',
      );
    }
    expect((await ask({ options: { parallelism: 2 } })).status).toBe(202);
    const teamAdmin = await api.addUser('maintainer');
    await join(tenant, teamAdmin, 'member', 'admin');
    expect((await teamAdmin.patch(path, { allowed_options: ['parallelism'] })).status).toBe(200);
    const loosened = await teamAdmin.patch(path, { allowed_options: null });
    expect([loosened.status, loosened.body.error]).toEqual([403, expect.stringContaining('may allow more options')]);
    expect((await tenant.owner.patch(path, { allowed_options: null })).body.allowed_options).toBeNull();
    expect((await ask({ options })).status).toBe(202);
  });
});
