import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { textOf } from '#test/support/browser/page-text.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';

/** An environment that hides the secrets of its applies from plans. */
let api: TestApi;
let tenant: Tenant;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
});
afterAll(() => api?.close());

const files = (more = '') => ({
  'main.tf': `variable "password" {\n  sensitive = true\n  default = ""\n  ${more}\n}\n`,
});
const password = { type: 'object', properties: { password: { type: 'string', writeOnly: true } } };
const tofu = (more?: string) => ({ executor: { kind: 'opentofu', files: files(more) }, variables: password });
const command = { executor: { kind: 'command', apply: [{ name: 'apply', run: ['true'] }] } };
let made = 0;

/** A run of a new template in a new environment that requires weaker secrets for plans and has these variables. */
async function request(variables: object[], spec: object = command, body: object = {}) {
  const { owner } = tenant;
  const place = { project_id: tenant.project, name: `Weaker ${++made}`, kind: 'staging', plan_secrets: 'weaker' };
  const environment = await owner.make('/environments', place);
  expect(environment).toMatchObject({ plan_secrets: 'weaker' });
  const set = await owner.put(`/environments/${environment.id}/variables`, { variables });
  expect(set.status, set.text).toBe(200);
  const template = await owner.make('/registry/templates', { name: `T ${made}`, team_id: tenant.team });
  const version = await owner.post(`/registry/templates/${template.id}/versions`, { version: '1.0.0', spec });
  expect(version.status, version.text).toBe(201);
  const wanted = { template_id: template.id, environment_id: environment.id, ...body };
  return { environment: environment.id, wanted, answer: await owner.post('/runs', wanted) };
}

const key = { name: 'KEY', value: 'may-write', category: 'env', sensitive: true };

describe('an environment that requires weaker secrets for plans', () => {
  it.each<[what: string, ...Parameters<typeof request>]>([
    ['a secret of the tools with another value for planning', [{ ...key, plan_value: 'may-read' }]],
    ['a secret of the tools for applying only', [{ ...key, phases: ['apply'] }]],
    ['a secret of the tools for planning only', [{ ...key, phases: ['plan'] }]],
    ['a variable that is no secret', [{ ...key, sensitive: false }]],
    [
      'a secret that the template declares as ephemeral',
      [],
      tofu('ephemeral = true'),
      { variables: { password: 'x12345' } },
    ],
    ['a secret of the template that has no value', [], tofu()],
  ])('admits a run with %s', async (_, ...given) => {
    const { answer } = await request(...given);
    expect(answer.status, answer.text).toBe(202);
  });

  it.each<[what: string, names: string[], ...Parameters<typeof request>]>([
    ['a secret of the tools', ['KEY'], [key, { ...key, name: 'OTHER', plan_value: 'may-read' }]],
    ['a secret of the template', ['password'], [], tofu(), { variables: { password: 'x12345' } }],
    [
      'a secret that the environment gives the template',
      ['password'],
      [{ name: 'password', value: 'x12345', category: 'template', sensitive: true }],
      tofu('ephemeral = false'),
    ],
  ])('refuses a run with %s, and names it', async (_, names, ...given) => {
    const { answer } = await request(...given);
    expect([answer.status, answer.headers['x-error-code']], answer.text).toEqual([422, 'plan_secrets_required']);
    for (const name of names) expect(answer.text).toContain(name);
    expect(answer.text).not.toMatch(/may-|x12345|OTHER/);
  });

  it('refuses a run if a value for planning was later set to the secret for applying', async () => {
    const { environment, wanted, answer } = await request([{ ...key, plan_value: 'may-read' }]);
    expect(answer.status, answer.text).toBe(202);
    const { category, sensitive } = key;
    const path = `/environments/${environment}/variables/KEY`;
    const changed = await tenant.owner.put(path, { category, sensitive, plan_value: key.value });
    expect(changed.status, changed.text).toBe(200);
    const refused = await tenant.owner.post('/runs', wanted, { accept: 'application/problem+json' });
    const problem = JSON.parse(refused.text);
    expect([refused.status, problem.code]).toEqual([422, 'plan_secrets_required']);
    expect(problem.errors).toEqual([{ path: '', message: expect.stringMatching(/^KEY: give it another value/) }]);
    expect(refused.text).not.toContain(key.value);
  });

  it('suggests a solution that fits the source of the secret', async () => {
    const { environment, wanted } = await request([], tofu());
    const path = `/environments/${environment}`;
    await tenant.owner.patch(path, { plan_secrets: null });
    const { body: run } = await tenant.owner.post('/runs', { ...wanted, variables: { password: 'x12345' } });
    await api.rows(`update runs set status = 'succeeded', phase = 'done', finished_at = now() where id = ?`, [run.id]);
    await api.rows(`update instances set deployed_run_id = ? where environment_id = ?`, [run.id, environment]);
    await tenant.owner.patch(path, { plan_secrets: 'weaker' });
    const headers = { accept: 'application/problem+json' };
    for (const [asked, remedy] of [
      [tenant.owner.post('/runs', { ...wanted, operation: 'destroy' }, headers), /the destroy must name that version/],
      [tenant.owner.post('/runs', { ...wanted, variables_from: 'deployed' }, headers), /or name it in omit$/],
      [tenant.owner.post(`/runs/${run.id}/copy`, {}, headers), /or name it in omit$/],
      [tenant.owner.post(`/runs/${run.id}/requeue`, {}, headers), /or copy the run and name it in omit$/],
      [tenant.owner.post('/runs', { ...wanted, variables: { password: 'x' } }, headers), /or leave it out$/],
    ] as const) {
      const { status, text } = await asked;
      const { code, errors } = JSON.parse(text);
      expect([status, code], text).toEqual([422, 'plan_secrets_required']);
      expect(errors).toEqual([{ path: '/password', message: expect.stringMatching(remedy) }]);
    }
    const template = `/registry/templates/${wanted.template_id}/versions`;
    await tenant.owner.make(template, { version: '1.1.0', spec: tofu('ephemeral = true') });
    const followed = { ...wanted, operation: 'destroy', version: '1.1.0', variables: { password: 'x12345' } };
    expect((await tenant.owner.post('/runs', followed)).status, 'the remedy works').toBe(202);
  });

  it('refuses a requeue and a copy of a run that was admitted before the requirement', async () => {
    const { environment, wanted } = await request([key]);
    const path = `/environments/${environment}`;
    await tenant.owner.patch(path, { plan_secrets: null });
    const { body: admitted } = await tenant.owner.post('/runs', wanted);
    await api.rows(`update runs set status = 'failed', phase = 'done', finished_at = now() where id = ?`, [
      admitted.id,
    ]);
    await tenant.owner.patch(path, { plan_secrets: 'weaker' });
    const again = await tenant.owner.post(`/runs/${admitted.id}/requeue`);
    const copy = await tenant.owner.post(`/runs/${admitted.id}/copy`, {});
    for (const { status, headers, text } of [again, copy])
      expect([status, headers['x-error-code']], text).toEqual([422, 'plan_secrets_required']);
  });

  it('loses the requirement only by users who may weaken its protection, and publishes an event', async () => {
    const { environment } = await request([]);
    const admin = await api.addUser('maintainer');
    await join(tenant, admin, 'member', 'admin');
    const refused = await admin.patch(`/environments/${environment}`, { plan_secrets: null });
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('plan_secrets')]);
    expect((await tenant.owner.patch(`/environments/${environment}`, { plan_secrets: null })).status).toBe(200);
    const [event] = await api.rows<{ data: object }>(
      `select data from domain_events where subject_id = ? and type = 'environment.protection_changed'`,
      [environment],
    );
    expect(event?.data).toMatchObject({ weakened: ['plan_secrets'], after: { plan_secrets: null } });
  });
});

it('a variable says whether planning gets its secret', async () => {
  const path = `/environments/${tenant.environment}/variables`;
  const variables = [
    key,
    { ...key, name: 'WEAKER', plan_value: 'may-read' },
    { ...key, name: 'LATER', phases: ['apply'] },
    { ...key, name: 'OPEN', sensitive: false },
    { ...key, name: 'region', category: 'template' },
  ];
  const { body } = await tenant.owner.put(path, { variables });
  const shown = body.variables.map((each: { name: string; plan_gets_secret: boolean }) => [
    each.name,
    each.plan_gets_secret,
  ]);
  expect(Object.fromEntries(shown)).toEqual({ KEY: true, WEAKER: false, LATER: false, OPEN: false, region: true });
});

it('the page of an environment names the secrets that plans get, in production or if it requires weaker ones', async () => {
  const visitor = await signInVisitor(api, tenant.owner);
  const warning = 'Plans get the same secrets as applies: <span class="mono">KEY</span>.';
  for (const [rules, isWarned] of [
    [{ kind: 'staging' }, false],
    [{ kind: 'production' }, true],
    [{ kind: 'staging', plan_secrets: 'weaker' }, true],
  ] as const) {
    const place = { project_id: tenant.project, name: `Shown ${++made}`, ...rules };
    const { id } = await tenant.owner.make('/environments', place);
    await tenant.owner.put(`/environments/${id}/variables`, {
      variables: [key, { ...key, name: 'X', phases: ['plan'] }],
    });
    const { text } = await visitor.get(`/environments/${id}?tab=variables`);
    expect(text.includes(warning), JSON.stringify(rules)).toBe(isWarned);
    expect(text).toContain('planning gets it too');
  }
});

it('the warning of secrets that plans get names those of variable sets, and says what helps for those of templates', async () => {
  const visitor = await signInVisitor(api, tenant.owner);
  const place = { project_id: tenant.project, name: `Shown ${++made}`, kind: 'staging', plan_secrets: 'weaker' };
  const { id } = await tenant.owner.make('/environments', place);
  const password = { ...key, name: 'password', category: 'template' };
  await tenant.owner.put(`/environments/${id}/variables`, { variables: [password] });
  const set = await tenant.owner.make('/variable-sets', { team_id: tenant.team, name: 'Shared' });
  await tenant.owner.put(`/variable-sets/${set.id}/variables`, {
    variables: [key, { ...key, name: 'LATER', phases: ['apply'] }, { ...password, value: 'overridden' }],
  });
  await tenant.owner.put(`/variable-sets/${set.id}/attachments`, { project_ids: [], environment_ids: [id] });
  const { text } = await visitor.get(`/environments/${id}?tab=variables`);
  const words = textOf(/notice notice-wait.*?<\/div><\/div>/s.exec(text.slice(text.indexOf('Plans get') - 400))?.[0]);
  expect(words).toContain('Plans get the same secrets as applies: KEY of the set Shared, password.');
  expect(words).toContain('Give environment variables (KEY of the set Shared) another value for planning');
  expect(words).toContain('Variables of templates (password) are part of what is planned');
  expect(words).toContain('declare them as ephemeral in the template, or use environment variables instead.');
  const form = (await visitor.get(`/environments/${id}/variables/password`)).text;
  expect(form).not.toMatch(/name="(has_)?plan_value"|type="checkbox"[^>]*name="(plan|apply)"/);
  const fields = { category: 'template', name: 'other', value: 'x', sensitive: 'yes', plan: '', apply: 'yes' };
  const refused = await visitor.submit(`/environments/${id}/new-variable`, fields);
  expect([refused.status, /id="field-plan-problem"/.test(refused.text)]).toEqual([400, true]);
  expect(refused.text).not.toContain('Phases:');
  const kept = { category: 'template', value: '', sensitive: 'yes', plan: 'yes', apply: 'yes' };
  expect((await visitor.submit(`/environments/${id}/variables/password`, kept)).status).toBe(303);
});
