import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi, type TestApi, testPassword } from '#test/support/api/in-process-api.ts';
import { Visitor } from '#test/support/browser/visitor.ts';
import { seedInstallation } from '#test/support/pages/realistic-installation.ts';

let api: TestApi;
let admin: Visitor;
let reader: Visitor;
/** An instance that is deployed and idle. */
let instance: { id: string; environment_id: string };

beforeAll(async () => {
  api = await startApi();
  const { people } = await seedInstallation(api);
  admin = await signIn(people.admin.email);
  reader = await signIn(people.requester.email);
  const [row] = await api.rows<{ id: string; environment_id: string }>(
    `select i.id, i.environment_id from instances i join runs d on d.id = i.deployed_run_id join template_versions v on v.id = d.template_version_id
     where i.environment_id is not null and d.operation = 'apply' and v.spec #>> '{executor,kind}' = 'opentofu'
       and not exists (select 1 from runs r where r.instance_id = i.id and r.finished_at is null) order by i.id limit 1`,
  );
  instance = row!;
  await api.rows(`update instances set tool = 'terraform', tool_version = '1.11.4', resource_count = 3 where id = ?`, [
    instance.id,
  ]);
});
afterAll(() => api?.close());

async function signIn(email: string): Promise<Visitor> {
  const visitor = new Visitor(api.app);
  expect((await visitor.submit('/login', { email, password: testPassword })).status).toBe(303);
  return visitor;
}

describe('the tool of an instance', () => {
  it('is switched by a button of its page, and the page of the run says what it does', async () => {
    const path = `/workloads/instances/${instance.id}`;
    expect((await admin.get(path)).text).toContain('Switch to OpenTofu');
    const form = await admin.get(`${path}/tool`);
    expect(form.text).toContain('Terraform 1.11.4 wrote its state.');
    const wrong = await admin.submit(`${path}/tool`, { 'tool.name': 'opentofu', 'tool.version': 'newest' });
    expect(wrong.status).toBe(400);
    expect(/id="field-tool.version-problem"[^>]*>([\s\S]{0,300})/.exec(wrong.text)?.[1] ?? wrong.text).toContain(
      'such as',
    );
    const done = await admin.submit(`${path}/tool`, { 'tool.name': 'opentofu', 'tool.version': '~> 1.12' });
    expect(done.location).toMatch(/^\/workloads\/runs\/[0-9a-f-]{36}$/);
    const run = await admin.get(done.location!);
    expect(run.text).toContain('This run switches the instance to OpenTofu ~&gt; 1.12.');
  });

  it('warns in the form of a switch that no live worker has the tool, until one has it', async () => {
    const path = `/workloads/instances/${instance.id}/tool`;
    const tools = (names: string[]) =>
      api.rows('update workers set tools = ?', [JSON.stringify(names.map((name) => ({ name, version: '1.11.4' })))]);
    await tools(['terraform']);
    const warned = (await admin.get(path)).text;
    expect(warned).toContain('No live worker has OpenTofu.');
    expect(warned).toContain('All other runs of the instance would wait behind it');
    expect(warned).toContain('OpenTofu (no live worker has it)');
    await tools(['terraform', 'opentofu']);
    expect((await admin.get(path)).text).not.toContain('o live worker has');
  });

  it('cannot be switched by a visitor who may not change it, and the form says why', async () => {
    const form = await reader.get(`/workloads/instances/${instance.id}/tool`);
    expect([200, 403, 404]).toContain(form.status);
    expect(form.text).not.toContain('Plan the switch</button>');
  });
});

it('the form of an environment sets its required tool, and its page shows it', async () => {
  const path = `/environments/${instance.environment_id}`;
  await api.rows(`update workers set tools = '[{"name":"opentofu","version":"1.12.6"}]'`);
  expect((await admin.get('/environments/new')).text).toContain('Terraform (no live worker has it)');
  const form = await admin.get(`${path}/edit`);
  const value = (name: string) => new RegExp(`name="${name}"[^>]*value="([^"]*)"`).exec(form.text)?.[1] ?? '';
  const typed = {
    name: value('name'),
    slug: value('slug'),
    kind: /<select[^>]*name="kind"[\s\S]*?value="(\w+)" selected/.exec(form.text)?.[1] ?? '',
    'approval_policy.when': 'never',
    'approval_policy.required': '0',
    expected_revision: value('expected_revision'),
  };
  const wrong = await admin.submit(`${path}/edit`, { ...typed, 'tool.version': '~> 1.9' });
  expect(wrong.text).toContain('Choose the tool that these versions are of');
  const done = await admin.submit(`${path}/edit`, { ...typed, 'tool.name': 'terraform', 'tool.version': '~> 1.9' });
  expect(done.status, done.text).toBe(303);
  expect((await admin.get(`${path}?tab=protection`)).text).toContain('Runs use Terraform ~&gt; 1.9');
});
