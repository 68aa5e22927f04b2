import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { RunSteps } from '#test/support/runs/run-steps.ts';

let api: TestApi;
let admin: ApiUser;
let tenant: Tenant;
let template: string;
let versions = 0;

const tofu = (version: string) => ({ name: 'opentofu', version });
const terraform = (version: string) => ({ name: 'terraform', version });

beforeAll(async () => {
  api = await startApi();
  admin = await api.addUser('admin');
  tenant = await makeTenant(api);
  const steps = new RunSteps(api, admin);
  await admin.make('/worker-pools', { name: 'fitting' });
  await admin.make('/worker-pools', { name: 'closed', team_ids: [] });
  await steps.worker('none', 'fitting', [tofu('1.12.6'), terraform('1.11.4')]);
  await steps.worker('none', 'fitting', [terraform('1.11.4')]);
  await steps.worker('none', 'closed', [tofu('1.12.6')]);
  const made = await tenant.owner.make('/registry/templates', { name: 'Fit', team_id: tenant.team });
  template = made.id;
});
afterAll(() => api?.close());

const specOf = (more: object = {}, text = '') => ({
  pool: 'fitting',
  executor: { kind: 'opentofu', files: { 'main.tf': text } },
  ...more,
});

async function publish(spec: object, caller = tenant.owner) {
  const version = `1.0.${++versions}`;
  return (await caller.post(`/registry/templates/${template}/versions`, { version, spec })).body;
}

const check = async (spec: object) =>
  (await tenant.owner.post(`/registry/templates/${template}/versions/check`, { spec })).body;

it('the form for a run warns of a tool that its environment requires and no live worker has', async () => {
  const visitor = await signInVisitor(api, tenant.owner);
  const { id } = await tenant.owner.make('/registry/templates', { name: 'Form', team_id: tenant.team });
  const spec = specOf();
  await tenant.owner.make(`/registry/templates/${id}/versions`, { version: '1.0.0', spec });
  const form = `/catalog/${id}/run?environment_id=${tenant.environment}`;
  expect(await visitor.page(form)).not.toContain('No live worker of the pool');
  const { revision } = (await tenant.owner.get(`/environments/${tenant.environment}`)).body;
  const tool = { name: 'opentofu', version: '~> 1.9.0' };
  const { status, text } = await tenant.owner.patch(`/environments/${tenant.environment}`, {
    tool,
    expected_revision: revision,
  });
  expect(status, text).toBe(200);
  expect(await visitor.page(form)).toMatch(
    /No live worker of the pool <span class="foreign">fitting<\/span> has OpenTofu ~&gt; 1.9.0/,
  );
  await api.rows('update environments set tool = null where id = ?', [tenant.environment]);
});

it('the form for a run reveals nothing of an instance in an environment that its visitor may not read', async () => {
  const { id } = await admin.make('/registry/templates', { name: 'For every team' });
  await admin.make(`/registry/templates/${id}/versions`, { version: '1.0.0', spec: specOf() });
  const wantedTool = JSON.stringify({ name: 'opentofu', version: '~> 1.9.0' });
  await api.rows(
    `insert into instances (id, team_id, environment_id, template_id, name, wanted_tool, outputs, created_at)
     values (gen_random_uuid(), ?, ?, ?, 'backbone', ?, '{}', now())`,
    [tenant.team, tenant.environment, id, wantedTool],
  );
  const stranger = (await makeTenant(api)).owner;
  const form = `/catalog/${id}/run?environment_id=${tenant.environment}&instance=backbone`;
  const warning = 'OpenTofu ~&gt; 1.9.0';
  expect(await (await signInVisitor(api, tenant.owner)).page(form)).toContain(warning);
  const { text: shown } = await (await signInVisitor(api, stranger)).get(form);
  expect(shown).toContain('For every team');
  expect(shown).not.toContain(warning);
});

describe('the answer of a publication', () => {
  it('says which tool a run would use, on how many workers of the pool', async () => {
    const { version, workers } = await publish(specOf({ tool: { name: 'terraform' } }));
    expect(workers).toEqual({
      pool: 'fitting',
      wanted: [{ name: 'terraform', version: '' }],
      tool: terraform('1.11.4'),
      workers: 2,
      offered: [
        { ...tofu('1.12.6'), workers: 1 },
        { ...terraform('1.11.4'), workers: 2 },
      ],
    });
    const read = await tenant.owner.get(`/registry/templates/${template}/versions/${version}`);
    expect(read.body.workers).toEqual(workers);
  });

  it('says that no worker fits, as a warning of the check does', async () => {
    const spec = specOf({ tool: { name: 'opentofu', version: '~> 1.9.0' } });
    expect(await check(spec)).toMatchObject({
      valid: true,
      warnings: [
        {
          path: '/tool',
          message:
            'no worker of the pool fitting has OpenTofu ~> 1.9.0, so runs will wait; its workers have OpenTofu 1.12.6, Terraform 1.11.4',
        },
      ],
    });
    expect((await publish(spec)).workers).toMatchObject({ tool: null, workers: 0 });
    expect((await check(specOf())).warnings).toEqual([]);
  });

  it('has no statement on a pool that its team cannot use, except to users who may see workers', async () => {
    const { id } = await admin.make('/registry/templates', { name: 'For everybody' });
    const version = { version: '1.0.0', spec: specOf({ pool: 'closed' }) };
    const published = await admin.post(`/registry/templates/${id}/versions`, version);
    expect(published.body.workers).toMatchObject({ tool: tofu('1.12.6') });
    const reader = await api.addUser('requester');
    const seen = await reader.get(`/registry/templates/${id}/versions/1.0.0`);
    expect([seen.status, seen.body.workers]).toEqual([200, null]);
  });

  it('has no statement for command templates', async () => {
    const executor = { kind: 'command', apply: [{ name: 'go', run: ['true'] }] };
    expect((await publish({ executor })).workers).toBeNull();
  });
});

it('a version whose files and spec require different tools is refused', async () => {
  const executor = {
    kind: 'opentofu',
    files: { 'main.tf': '', 'main.tofu': 'terraform {\n  required_version = "< 1.5"\n}' },
  };
  const spec = { executor, tool: { name: 'opentofu', version: '>= 1.9' } };
  const refused = await tenant.owner.post(`/registry/templates/${template}/versions`, { version: '9.0.0', spec });
  expect([refused.status, refused.headers['x-error-code']]).toEqual([422, 'configuration_invalid']);
  expect(refused.text).toContain('no version of opentofu is in all of');
  expect((await check(spec)).errors).toMatchObject([{ path: '/tool' }]);
});
