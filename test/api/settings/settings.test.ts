import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { sendAtOnce } from '#test/support/api/at-once.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { Visitor } from '#test/support/browser/visitor.ts';

/** The settings of the installation, and their effects. */
let api: TestApi;
let admin: ApiUser;
let tenant: Tenant;

beforeAll(async () => {
  api = await startApi();
  admin = await api.addUser('admin');
  tenant = await makeTenant(api);
});
afterAll(() => api?.close());

const path = '/admin/settings';
const change = async (body: object) => {
  const answer = await admin.patch(path, body);
  expect(answer.status, answer.text).toBe(200);
  return answer;
};
const turnOff = (...names: string[]) =>
  change({ features: Object.fromEntries(names.map((name) => [name, { enabled: false, reason: 'costs too much' }])) });
const turnOn = (...names: string[]) =>
  change({ features: Object.fromEntries(names.map((name) => [name, { enabled: true }])) });

describe('the settings', () => {
  it('restore the defaults of a whole group by null', async () => {
    await change({ default_quotas: { runs_per_day: 10 }, retention: { drift_scans: 30 } });
    await turnOff('drift');
    const { body } = await change({ default_quotas: null, retention: null, features: null });
    expect(body).toMatchObject({
      default_quotas: {},
      retention: { drift_scans: 90 },
      features: { drift: { enabled: true } },
    });
  });

  it('accept gates as they were read, and null turns one feature on', async () => {
    await turnOff('drift', 'schedules');
    const { features } = (await admin.get(path)).body;
    expect((await change({ features })).body.features).toEqual(features);
    const { body } = await change({ features: { drift: null } });
    expect([body.features.drift.enabled, body.features.schedules.enabled]).toEqual([true, false]);
    await change({ features: null });
  });

  it.each([
    ['a notice', { sign_in_notice: 'x'.repeat(2001) }],
    ['a reason', { features: { drift: { enabled: false, reason: 'x'.repeat(501) } } }],
  ])('refuse %s that is too long with only this problem', async (_what, body) => {
    const { status, text } = await admin.patch(path, body);
    expect([status, text]).toEqual([400, expect.stringMatching(/at most/)]);
    expect(text).not.toContain('plain text');
  });

  it('show the effective values, and null restores a default', async () => {
    const before = (await admin.get(path)).body;
    expect(before).toMatchObject({
      name: 'global',
      default_pool: 'default',
      allowed_tools: null,
      retention: { audit: 'forever', drift_scans: 90 },
    });
    const { body } = await change({ retention: { drift_scans: 30, audit: 400 }, sign_in_notice: ' For staff. ' });
    expect(body).toMatchObject({
      retention: { drift_scans: 30, audit: 400, drift_findings: 365 },
      sign_in_notice: 'For staff.',
    });
    const { body: restored } = await change({ retention: { drift_scans: null, audit: null }, sign_in_notice: null });
    expect(restored).toMatchObject({ retention: before.retention, sign_in_notice: null });
    expect(restored.revision).toBe(before.revision + 2);
    expect((await change({ sign_in_notice: null })).body.revision).toBe(restored.revision);
  });

  it('are reserved for administrators, and refuse invalid values', async () => {
    expect(await tenant.owner.get(path)).toMatchObject({ status: 403 });
    expect(await tenant.owner.patch(path, { sign_in_notice: 'mine' })).toMatchObject({ status: 403 });
    const wrong = [
      { features: { audit: { enabled: false, reason: 'x' } } },
      { features: { drift: { enabled: false } } },
      { allowed_tools: { opentofu: ['newest'] } },
      { allowed_tools: {} },
      { retention: { audit: 0 } },
      { sign_in_notice: 'x'.repeat(2001) },
      { default_quotas: { runs: 1 } },
    ];
    for (const body of wrong) expect((await admin.patch(path, body)).status, JSON.stringify(body)).toBe(400);
    expect((await admin.patch(path, { default_pool: 'nobody-made-it' })).headers['x-error-code']).toBe(
      'unknown_reference',
    );
  });

  it('settings that somebody else has changed are not overwritten, and every change is in the audit with before and after', async () => {
    const { revision } = (await admin.get(path)).body;
    await change({ default_quotas: { runs_per_day: 10 }, expected_revision: revision });
    const stale = await admin.patch(path, { default_quotas: { runs_per_day: 20 }, expected_revision: revision });
    expect(stale.headers['x-error-code']).toBe('stale_revision');
    const records = (await admin.get('/audit?resource_type=settings&outcome=committed')).body.audit_records;
    expect(records[0]).toMatchObject({
      action: 'settings.updated',
      resource: { type: 'settings', id: 'global' },
      before: { default_quotas: null },
      after: { default_quotas: { runs_per_day: 10 } },
    });
    const [event] = await api.rows(
      "select data from domain_events where type = 'settings.changed' order by sequence desc limit 1",
    );
    expect(event).toMatchObject({ data: { changed: ['default_quotas'] } });
    await change({ default_quotas: { runs_per_day: null } });
  });

  it('are changed by only one of fifty simultaneous requests for the same revision', async () => {
    const { revision } = (await admin.get(path)).body;
    const answers = await sendAtOnce(50, (n) =>
      admin.patch(path, { sign_in_notice: `${n}`, expected_revision: revision }),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(49);
    await change({ sign_in_notice: null });
  });

  it('may name a pool, which then cannot be deleted', async () => {
    await admin.make('/worker-pools', { name: 'usual' });
    await change({ default_pool: 'usual' });
    expect((await admin.delete('/worker-pools/usual')).headers['x-error-code']).toBe('pool_required');
    await change({ default_pool: null });
    expect((await admin.delete('/worker-pools/usual')).status).toBe(204);
  });
});

describe('an area that is off', () => {
  const question = (resource: string, verb: string, more: object = {}) =>
    tenant.owner.post('/auth/can-i', {
      resource_attributes: { group: 'delivery.coordinator', version: 'v1', resource, verb, ...more },
    });

  it('refuses its operations with the reason, after checks of authority and before its own rules, until it is on', async () => {
    await turnOff('schedules');
    const refused = await tenant.owner.get('/schedules');
    expect(refused).toMatchObject({ status: 403, headers: { 'x-error-code': 'feature_disabled' } });
    expect(refused.text).toContain('costs too much');
    const outsider = await api.addUser('requester');
    const hidden = await outsider.get(`/schedules?team_id=${tenant.team}`);
    expect([hidden.status, hidden.headers['x-error-code']]).toEqual([404, 'not_found']);
    expect((await outsider.get(`/schedules/${crypto.randomUUID()}`)).status).toBe(404);
    expect((await question('schedules', 'list', { team_id: tenant.team })).body.status).toMatchObject({
      denied: true,
      reason: { code: 'permission_denied', message: expect.stringContaining('costs too much') },
    });
    await turnOn('schedules');
    expect((await tenant.owner.get('/schedules')).status).toBe(200);
    expect((await question('schedules', 'list', { team_id: tenant.team })).body.status).toMatchObject({
      allowed: true,
    });
  });

  it('is still off if the settings are damaged, while users can sign in and read everything else', async () => {
    const [{ document } = { document: null }] = await api.rows<{ document: object }>('select document from settings');
    await api.rows(`update settings set document = '{"features": [1]}'`);
    expect((await tenant.owner.get('/assemblies')).headers['x-error-code']).toBe('feature_disabled');
    expect((await tenant.owner.get('/projects')).status).toBe(200);
    expect((await admin.get(path)).status).toBe(503);
    await api.rows('update settings set document = ?', [JSON.stringify(document)]);
  });

  it('is not in the navigation, and its pages answer 403 with the reason', async () => {
    await turnOff('drift', 'assemblies', 'schedules', 'selective_undo');
    const visitor = await signInVisitor(api, tenant.owner);
    const home = await visitor.get('/');
    expect(home.status).toBe(200);
    expect(home.text).not.toContain('href="/schedules"');
    const page = await visitor.get('/schedules');
    expect([page.status, page.text.includes('costs too much')]).toEqual([403, true]);
    await turnOn('drift', 'assemblies', 'schedules', 'selective_undo');
  });
});

describe('defaults of the settings', () => {
  const strict = { required: 2, when: 'always', allow_self: true };
  const policyOf = async (kind: string, more: object = {}) => {
    const made = await tenant.owner.make('/environments', {
      project_id: tenant.project,
      name: `E ${++count}`,
      kind,
      ...more,
    });
    return made['approval_policy'];
  };
  let count = 0;

  it('give a policy to environments without one, and production keeps its protection', async () => {
    await change({ default_approval_policy: strict });
    expect(await policyOf('staging')).toEqual(strict);
    expect(await policyOf('production')).toEqual({ ...strict, allow_self: false });
    await change({ default_approval_policy: { required: 0, when: 'never' } });
    expect(await policyOf('production')).toEqual({ required: 1, when: 'changes', allow_self: false });
    expect(await policyOf('staging', { approval_policy: strict })).toEqual(strict);
    await change({ default_approval_policy: null });
  });

  it.each([
    ['^1.8', '">= 1.8.0, < 2.0.0", or "*" for all'],
    ['1.7.x || >=1.9 <3', '">= 1.7.0, < 1.8.0" or ">= 1.9.0, < 3.0.0", or "*" for all'],
    ['newest', 'such as "~> 1.9", ">= 1.5, < 2.0" or "1.12.6", or "*" for all'],
  ])('refuse the range "%s" of a tool with what is accepted', async (range, expected) => {
    const { status, text } = await admin.patch(path, { allowed_tools: { opentofu: ['~> 1.9', range] } });
    expect([status, JSON.parse(text).error]).toEqual([400, expect.stringContaining(expected)]);
  });

  it("show ranges of an earlier release in the tools' notation, and keep them when other settings change", async () => {
    const saved = { allowed_tools: { opentofu: ['~> 1.9', '1.7.x || 1.8.2', '*'] } };
    await api.rows('update settings set document = ?', [JSON.stringify(saved)]);
    const shown = { opentofu: ['>= 1.9.0, < 1.10.0', '>= 1.7.0, < 1.8.0', '= 1.8.2', '*'] };
    expect((await admin.get(path)).body.allowed_tools).toEqual(shown);
    await change({ sign_in_notice: 'We move.' });
    expect((await admin.get(path)).body.allowed_tools).toEqual(shown);
    await change({ allowed_tools: null, sign_in_notice: null });
  });

  it('are unreadable if a stored range is invalid', async () => {
    await api.rows(`update settings set document = '{"allowed_tools": {"opentofu": ["newest"]}}'`);
    expect((await admin.get(path)).status).toBe(503);
    await api.rows(`update settings set document = '{}'`);
  });

  it('refuse publications and runs that no allowed tool can execute, and give runs the default pool', async () => {
    const template = await tenant.owner.make('/registry/templates', { name: 'Tools', team_id: tenant.team });
    const versions = `/registry/templates/${template.id}/versions`;
    const spec = { executor: { kind: 'command', apply: [{ name: 'go', run: ['true'] }] } };
    await tenant.owner.make(versions, { version: '1.0.0', spec });
    const run = () => tenant.owner.post('/runs', { template_id: template.id, environment_id: tenant.environment });
    await change({ allowed_tools: { opentofu: ['>=1.8'] } });
    for (const answer of [await tenant.owner.post(versions, { version: '1.1.0', spec }), await run()])
      expect([answer.status, answer.headers['x-error-code']], answer.text).toEqual([422, 'tool_not_allowed']);
    const configured = { executor: { kind: 'opentofu', files: { 'main.tf': '' } }, tool: { name: 'terraform' } };
    const ownFiles = { executor: { kind: 'opentofu', files: { 'main.tf': '', 'more.tofu': '' } } };
    for (const [spec, tools] of [
      [configured, { opentofu: ['>=1.8'] }],
      [ownFiles, { terraform: ['>=1.8'] }],
    ] as const) {
      await change({ allowed_tools: tools });
      const answer = await tenant.owner.post(versions, { version: '1.2.0', spec });
      expect([answer.status, answer.headers['x-error-code']], answer.text).toEqual([422, 'tool_not_allowed']);
    }
    await admin.make('/worker-pools', { name: 'second' });
    await change({ allowed_tools: null, default_pool: 'second' });
    const { body } = await run();
    expect(await api.rows('select pool from runs where id = ?', [body.id])).toEqual([{ pool: 'second' }]);
    await change({ default_pool: null });
  });
});

describe('the pages of the settings', () => {
  it('show the effective values, change only edited fields, and the sign-in page shows the notice as text', async () => {
    const visitor = await signInVisitor(api, admin);
    const sections: Record<string, Record<string, string>> = {
      '/admin/settings': {},
      '/admin/settings/sign-in': { sign_in_notice: '<script>alert(1)</script>' },
      '/admin/settings/retention': { 'retention.drift_scans': '45' },
      '/admin/settings/features': { 'features.drift.enabled': '', 'features.drift.reason': 'being moved' },
      '/admin/settings/tools': { allowed_tools: 'opentofu >= 1.8, < 2.0\nterraform\nopentofu ~> 1.7.2' },
      '/admin/settings/quotas': { 'default_quotas.runs_per_day': '500' },
    };
    for (const [path, typed] of Object.entries(sections)) {
      const page = await visitor.get(path);
      expect(page.status, path).toBe(200);
      const fields = Object.fromEntries(
        [...page.text.matchAll(/<input[^>]*name="([^"]+)"[^>]*value="([^"]*)"/g)]
          .map(([, name, value]) => [name, value])
          .filter(([name]) => name !== 'q'),
      );
      const chosen = { 'default_approval_policy.when': 'never', 'default_approval_policy.allow_self': '' };
      const sent = await visitor.submit(path, { ...fields, ...(path === '/admin/settings' && chosen), ...typed });
      expect([sent.status, sent.location]).toEqual([303, `${path}?done=saved`]);
      expect((await visitor.get(`${path}?done=saved`)).text).toContain('Settings saved.');
    }
    expect((await api.rows('select document from settings'))[0]).toEqual({
      document: {
        sign_in_notice: '<script>alert(1)</script>',
        retention: { drift_scans: 45 },
        features: { drift: { enabled: false, reason: 'being moved' } },
        allowed_tools: { opentofu: [{ range: '>= 1.8, < 2.0' }, { range: '~> 1.7.2' }], terraform: [{ range: '*' }] },
        default_quotas: { runs_per_day: 500 },
      },
    });
    const login = await new Visitor(api.app).get('/login');
    expect(login.text).toContain('&lt;script&gt;alert(1)');
    expect(login.text).not.toContain('<script>alert(1)');
    await api.rows(`update settings set document = '{}'`);
  });
});
