import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#domain/shared/ids.ts';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';

/** A refused form shows the problems that the page finds together with those that the schema of the operation finds. */
let api: TestApi;
let tenant: Tenant;
let admin: Visitor;
let owner: Visitor;

beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  admin = await signInVisitor(api, await api.addUser('admin'));
  owner = await signInVisitor(api, tenant.owner);
});
afterAll(() => api?.close());

interface Shown {
  readonly status: number;
  /** The names of the fields that have a problem beside them. */
  readonly fields: readonly string[];
  readonly text: string;
}

async function sendWrong(visitor: Visitor, path: string, typed: Record<string, string>): Promise<Shown> {
  const { status, text } = await visitor.submit(path, typed);
  const fields = [...text.matchAll(/ id="field-([\w.-]+)-problem"/g)].map(([, name = '']) => name).sort();
  // The summary leads to each of them, and names nothing else.
  const summary = /<div class="notice notice-problem" role="alert"[\s\S]*?<\/div><\/div>/.exec(text)?.[0] ?? '';
  const linked = [...summary.matchAll(/<li><a href="#field-([\w.-]+)"/g)].map(([, name = '']) => name).sort();
  expect(linked, `${path}: ${summary}`).toEqual(fields);
  expect(summary, path).not.toMatch(/<p>/);
  return { status, fields, text };
}

const work = (kind: string, fields: Record<string, string>) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [`work.${kind}.${name}`, value]));

describe('a form with several faults names each of them', () => {
  it('making an environment with several faults names each of them, such as versions without a tool', async () => {
    const wrong = { name: '', kind: 'none', ttl: 'soon', 'tool.version': '1.9' };
    const policy = { 'approval_policy.when': 'changes', 'approval_policy.required': '9' };
    const { fields } = await sendWrong(admin, '/environments/new', { ...wrong, ...policy });
    expect(fields).toEqual(['approval_policy-required', 'kind', 'name', 'project_id', 'tool-name', 'ttl']);
  });

  it('making a schedule of a run with nothing names each fault', async () => {
    const { fields } = await sendWrong(owner, '/schedules/new', { name: '', ...work('run', { operation: 'none' }) });
    const missing = ['environment_id', 'operation', 'template_id'].map((name) => `work-run-${name}`);
    expect(fields).toEqual(['name', 'schedule-cron', ...missing]);
  });

  it('making a schedule of an assembly with only invalid JSON as variables names each fault', async () => {
    const typed = work('assembly_run', { operation: 'none', variables: 'size = 3' });
    const { fields } = await sendWrong(owner, '/schedules/new?starts=assembly_run', { name: '', ...typed });
    const missing = ['assembly_id', 'environment_id', 'operation', 'variables'].map(
      (name) => `work-assembly_run-${name}`,
    );
    expect(fields).toEqual(['name', 'schedule-cron', ...missing]);
  });

  it('adding a weekly freeze window with several faults names each of them', async () => {
    const typed = {
      do: 'weekly',
      name: '',
      start_day: '',
      start_time: '25:00',
      end_day: '',
      end_time: '',
      time_zone: 'Mars',
    };
    const path = `/environments/${tenant.environment}/freeze-windows`;
    const { fields } = await sendWrong(owner, path, { ...typed, expected_revision: '1' });
    const of = ['end_day', 'end_time', 'name', 'start_day', 'start_time', 'time_zone'];
    expect(fields).toEqual(of.map((name) => `weekly-${name}`));
  });

  it('adding a freeze window between two times with several faults names each of them', async () => {
    const typed = { do: 'once', name: '', starts_at: '', ends_at: 'x', reason: 'r'.repeat(1001) };
    const path = `/environments/${tenant.environment}/freeze-windows`;
    const { fields } = await sendWrong(owner, path, { ...typed, expected_revision: '1' });
    expect(fields).toEqual(['ends_at', 'name', 'reason', 'starts_at'].map((name) => `once-${name}`));
  });

  it.each([
    ['an organization', () => `/organizations/${tenant.organization}/members`],
    ['a team', () => `/organizations/${tenant.organization}/teams/${tenant.team}/members`],
    ['a team while it is set up', () => `/organizations/${tenant.organization}/teams/${tenant.team}/setup/people`],
  ])('adding somebody who is unknown to %s without a role names each fault', async (_to, path) => {
    for (const user_id of ['Not a person', '']) {
      const { fields } = await sendWrong(owner, path(), { user_id, role: '' });
      expect([user_id, ...fields]).toEqual([user_id, 'role', 'user_id']);
    }
  });

  it('making a webhook names an invalid URL and an unknown event at once', async () => {
    const typed = { name: 'Chat', url: 'chat', events: 'run.invented' };
    const { fields, text } = await sendWrong(admin, '/admin/webhooks/new', typed);
    expect(fields.filter((name) => name !== 'owner')).toEqual(['events', 'url']);
    expect(text).toContain('run.invented');
  });

  it('making a notification channel names an empty name and an invalid URL at once', async () => {
    const typed = { name: '', 'config.url': 'slack' };
    const { fields } = await sendWrong(admin, '/admin/notification-channels/new?of=slack', typed);
    expect(fields.filter((name) => name !== 'owner')).toEqual(['config-url', 'name']);
  });

  it('transferring an organization to somebody who is unknown with several faults names each of them', async () => {
    const typed = { new_owner_user_id: 'Not a person', confirmation: 'Other', expected_revision: '1' };
    const { fields } = await sendWrong(owner, `/organizations/${tenant.organization}/transfer`, typed);
    expect(fields).toEqual(['confirmation', 'new_owner_user_id']);
  });

  it('typing an unknown name in place of a choice names each fault of the form', async () => {
    const ids = Array.from({ length: 201 }, () => newId());
    await api.rows(
      `insert into projects (id, team_id, name, slug, description, created_at, revision)
       select id, '${tenant.team}', 'Project ' || id, id::text, '', now(), 1 from unnest('{${ids.join(',')}}'::uuid[]) as id`,
      [],
    );
    const wrong = { name: '', kind: 'none', project_id: 'Not there', ttl: 'soon' };
    const { fields } = await sendWrong(owner, '/environments/new', wrong);
    expect(fields).toEqual(['kind', 'name', 'project_id', 'ttl']);
    const webhook = { name: '', url: '', events: 'Nothing', owner: 'Not there' };
    expect((await sendWrong(owner, '/admin/webhooks/new', webhook)).fields).toEqual(['events', 'name', 'owner', 'url']);
  });
});

describe('a template and an environment of different teams', () => {
  it('are refused at the field of the environment, beside the other faults', async () => {
    const { body: second } = await tenant.owner.post(`/organizations/${tenant.organization}/teams`, { name: 'Second' });
    const template = await tenant.owner.make('/registry/templates', { name: 'Of the second', team_id: second.id });
    const fields = { template_id: template.id, environment_id: tenant.environment };
    const typed = { name: '', 'schedule.cron': '0 1 * * *', ...work('run', { ...fields, operation: 'plan' }) };
    const shown = await sendWrong(owner, '/schedules/new', typed);
    expect(shown.fields).toEqual(['name', 'work-run-environment_id']);
    expect(shown.text).toContain(
      'Belongs to another team than the template: choose an environment of the team Second.',
    );
    const instance = await sendWrong(owner, '/workloads/instances/new', { ...fields, name: '' });
    expect(instance.fields).toEqual(['environment_id', 'name']);
    expect(instance.text).toContain('choose an environment of the team Second.');
  });
});
