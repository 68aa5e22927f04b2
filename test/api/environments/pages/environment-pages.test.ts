import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';

let api: TestApi;
let tenant: Tenant;
let visitor: Visitor;

beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  visitor = await signInVisitor(api, tenant.owner);
});
afterAll(() => api?.close());

const fields = {
  name: 'Shop <b>',
  kind: 'production',
  'approval_policy.when': '',
  'approval_policy.required': '',
  'approval_policy.allow_self': '',
  ttl: '',
  isolation: '',
};

describe('the pages of environments', () => {
  it('create an environment with the policy of its kind, and show its name as text', async () => {
    const created = await visitor.submit('/environments/new', { project_id: tenant.project, ...fields });
    expect(created.status, created.text).toBe(303);
    const page = await visitor.get(created.location ?? '');
    expect(page.text).toContain('Shop &lt;b&gt;');
    expect(page.text).toContain('Environment created.');
    const id = /environments\/([0-9a-f-]{36})/.exec(created.location ?? '')?.[1];
    const { body } = await tenant.owner.get(`/environments/${id}`);
    expect(body.approval_policy).toEqual({ required: 1, when: 'changes', allow_self: false });
    expect((await visitor.get('/environments')).text).toContain('1 for changes');
  });

  it('require one approval if the form of a new environment has no number, and use every part of a policy', async () => {
    const form = { project_id: tenant.project, ...fields, kind: 'development', name: 'Optional' };
    const asked = { ...form, 'approval_policy.when': 'changes' };
    const created = await visitor.submit('/environments/new', asked);
    expect(created.status, created.text).toBe(303);
    const path = /\/environments\/[0-9a-f-]{36}/.exec(created.location ?? '')?.[0] ?? '';
    const { body } = await tenant.owner.get(path);
    expect(body.approval_policy).toEqual({ required: 1, when: 'changes', allow_self: false });
    for (const part of [{ 'approval_policy.required': '2' }, { 'approval_policy.allow_self': 'yes' }]) {
      const { status, text } = await visitor.submit('/environments/new', { ...form, ...part });
      expect([status, text.includes('id="field-approval_policy-when-problem"')], text).toEqual([400, true]);
    }
    const { project_id: _project, ...kept } = asked;
    const edit = { ...kept, slug: body.slug, expected_revision: String(body.revision) };
    const { status, text } = await visitor.submit(`${path}/edit`, edit);
    expect([status, text.includes('id="field-approval_policy-required-problem"')], text).toEqual([400, true]);
  });

  it('keep what was typed, and show each problem at its field', async () => {
    const refused = await visitor.submit('/environments/new', {
      project_id: tenant.project,
      ...fields,
      ttl: 'soon',
      name: 'Kept',
    });
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('value="Kept"');
    expect(refused.text).toMatch(/id="field-ttl-problem"/);
    expect(refused.text).toContain('<title>Error: New environment');
  });

  it('show who blocks applies, and unlock', async () => {
    const path = `/environments/${tenant.environment}`;
    const { body } = await tenant.owner.get(path);
    const locked = await visitor.submit(`${path}/lock`, {
      reason: 'An <i>incident</i>',
      until: '',
      expected_revision: String(body.revision),
    });
    expect(locked.location).toBe(`${path}?done=locked`);
    expect((await visitor.get(path)).text).toContain('An &lt;i&gt;incident&lt;/i&gt;');
    expect((await visitor.get(`${path}/unlock`)).text).toContain('Waiting applies start immediately.');
    expect((await visitor.submit(`${path}/unlock`, {})).location).toBe(`${path}?done=unlocked`);
  });

  it('add a variable, never show a secret, and keep it when the field stays empty', async () => {
    const path = `/environments/${tenant.environment}`;
    const secret = {
      name: 'TOKEN',
      category: 'env',
      value: 'hunter2',
      sensitive: 'yes',
      plan: 'yes',
      apply: 'yes',
    };
    expect((await visitor.submit(`${path}/new-variable`, secret)).location).toContain('done=variable');
    const form = await visitor.get(`${path}/variables/TOKEN`);
    expect(form.text).not.toContain('hunter2');
    const { body } = await tenant.owner.get(`${path}/variables/TOKEN`);
    const kept = await visitor.submit(`${path}/variables/TOKEN`, {
      ...secret,
      value: '',
      plan: '',
      expected_revision: String(body.revision),
    });
    expect(kept.status, kept.text).toBe(303);
    expect((await tenant.owner.get(`${path}/variables/TOKEN`)).body.phases).toEqual(['apply']);
    const stale = await visitor.submit(`${path}/variables/TOKEN`, {
      ...secret,
      value: '',
      expected_revision: String(body.revision),
    });
    expect(stale.status).toBe(409);
    // Without scripts, what has several lines comes from a field of its own.
    expect(form.text).toMatch(/<noscript>.*<textarea[^>]*name="value\.lines"/s);
    const open = { ...secret, sensitive: '', value: '', 'value.lines': 'one\r\ntwo' };
    expect((await visitor.submit(`${path}/variables/TOKEN`, open)).status).toBe(303);
    expect((await tenant.owner.get(`${path}/variables/TOKEN`)).body.value).toBe('one\ntwo');
    expect((await visitor.submit(`${path}/variables/TOKEN/delete`, {})).location).toContain('done=variable-removed');
  });

  it('refuse a default that begins like a list and is not valid JSON, and accept it as text in quotes', async () => {
    const path = `/environments/${tenant.environment}`;
    const sizes = { name: 'sizes', category: 'template', plan: 'yes', apply: 'yes' };
    for (const value of ['["a",]', ' {"a": }', '["a"] and more', '[12345678901234567890]']) {
      const { status, text } = await visitor.submit(`${path}/new-variable`, { ...sizes, value });
      expect([status, /id="field-value-problem"[^§]*?write a text in quotes/.test(text)], value).toEqual([400, true]);
    }
    const isText = { ...sizes, category: 'env', name: 'SIZES', value: '["a",]' };
    expect((await visitor.submit(`${path}/new-variable`, isText)).status).toBe(303);
    for (const text of ['["a",]', '3']) {
      const quoted = JSON.stringify(text);
      await visitor.submit(`${path}/variables/sizes`, { ...sizes, value: quoted });
      await visitor.submit(`${path}/new-variable`, { ...sizes, value: quoted });
      expect((await tenant.owner.get(`${path}/variables/sizes`)).body.value).toBe(text);
      const shown = quoted.replaceAll('"', '&quot;');
      expect((await visitor.get(`${path}/variables/sizes`)).text).toContain(`>\n${shown}</textarea>`);
    }
  });

  it('show and change the value for planning, and keep a secret one if its field stays empty', async () => {
    const path = `/environments/${tenant.environment}`;
    const fields = {
      name: 'KEY',
      category: 'env',
      value: 'writes',
      sensitive: '',
      plan: 'yes',
      apply: 'yes',
    };
    const set = { ...fields, has_plan_value: 'yes', plan_value: 'reads' };
    const unticked = await visitor.submit(`${path}/new-variable`, { ...set, has_plan_value: '' });
    expect([unticked.status, /id="field-has_plan_value-problem"/.test(unticked.text)]).toEqual([400, true]);
    const wrong = await visitor.submit(`${path}/new-variable`, { ...fields, plan_value: 'reads', plan: '', apply: '' });
    for (const field of ['plan', 'has_plan_value']) expect(wrong.text).toContain(`id="field-${field}-problem"`);
    expect((await visitor.submit(`${path}/new-variable`, set)).location).toContain('done=variable');
    const read = async () => (await tenant.owner.get(`${path}/variables/KEY`)).body;
    expect(await read()).toMatchObject({ plan_value: 'reads', has_plan_value: true });
    expect((await visitor.get(`${path}?tab=variables`)).text).toContain('planning gets');
    const empty = { ...set, name: 'EMPTY', plan_value: '' };
    expect((await visitor.submit(`${path}/new-variable`, empty)).status).toBe(303);
    expect((await visitor.get(`${path}?tab=variables`)).text).toMatch(/planning gets<\/span> <[^>]*>an empty text</);
    expect((await visitor.get(`${path}/variables/KEY`)).text).toMatch(/name="plan_value"[^>]*>\nreads</);
    const secret = { ...set, sensitive: 'yes' };
    expect((await visitor.submit(`${path}/variables/KEY`, secret)).status).toBe(303);
    expect(await visitor.page(`${path}/variables/KEY`)).not.toContain('reads');
    expect((await visitor.submit(`${path}/variables/KEY`, { ...secret, value: '', plan_value: '' })).status).toBe(303);
    expect(await read()).toMatchObject({ has_plan_value: true });
    const none = { ...secret, value: '', has_plan_value: '', plan_value: '' };
    expect((await visitor.submit(`${path}/variables/KEY`, none)).status).toBe(303);
    expect(await read()).toMatchObject({ has_plan_value: false });
    const ofTemplate = await visitor.submit(`${path}/new-variable`, { ...set, name: 'size', category: 'template' });
    expect([ofTemplate.status, /id="field-has_plan_value-problem"/.test(ofTemplate.text)]).toEqual([400, true]);
  });

  it('say which freeze window blocks applies now, and until when', async () => {
    const path = `/environments/${tenant.environment}`;
    const { body } = await tenant.owner.get(`${path}/freeze-windows`);
    const at = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
    const fair = { name: 'The <b>fair</b>', reason: 'Nobody deploys', starts_at: at(-1), ends_at: at(5) };
    const put = { freeze_windows: [fair], expected_revision: body.revision };
    expect((await tenant.owner.put(`${path}/freeze-windows`, put)).status).toBe(200);
    const page = await visitor.get(path);
    expect(page.text).toContain('Frozen</span>');
    expect(page.text).toContain('The &lt;b&gt;fair&lt;/b&gt;');
    expect(page.text).toContain('Nobody deploys');
    const again = (await tenant.owner.get(`${path}/freeze-windows`)).body.revision;
    await tenant.owner.put(`${path}/freeze-windows`, { freeze_windows: [], expected_revision: again });
    expect(await visitor.page(path)).not.toContain('Frozen</span>');
  });

  it('link to the history of the environment, and select no project in advance', async () => {
    const page = await visitor.get(`/environments/${tenant.environment}`);
    expect(page.text).toContain(`/audit?resource_type=environments&amp;resource_id=${tenant.environment}`);
    await tenant.owner.post('/projects', { team_id: tenant.team, name: 'Another' });
    const form = await visitor.get('/environments/new');
    expect(form.text).toMatch(/name="project_id"[^>]*><option value="" selected>Choose…/);
  });

  it('add and remove freeze windows, with a problem at the field of the new one', async () => {
    const path = `/environments/${tenant.environment}/freeze-windows`;
    const revision = async () => String((await tenant.owner.get(path)).body.revision);
    const weekly = {
      do: 'weekly',
      name: 'Weekend',
      reason: '',
      start_day: 'friday',
      start_time: '16:00',
      end_day: 'monday',
      end_time: '07:00',
      time_zone: 'Europe/Berlin',
    };
    const wrong = await visitor.submit(path, { ...weekly, start_time: '25:00', expected_revision: await revision() });
    expect(wrong.status).toBe(400);
    expect(wrong.text).toMatch(/id="field-weekly-start_time-problem"/);
    expect((await visitor.submit(path, { ...weekly, expected_revision: await revision() })).status).toBe(303);
    expect((await visitor.get(path)).text).toContain('Every Friday 16:00 to Monday 07:00, Europe/Berlin');
    await visitor.submit(path, { do: 'remove', name: 'Weekend', expected_revision: await revision() });
    expect((await tenant.owner.get(path)).body.freeze_windows).toEqual([]);
  });

  it('disable the actions that a viewer may not take, with the reason', async () => {
    const viewer = await api.addUser('requester');
    await join(tenant, viewer, 'member', 'viewer');
    const page = await (await signInVisitor(api, viewer)).get(`/environments/${tenant.environment}`);
    expect(page.status).toBe(200);
    expect(page.text).toMatch(/aria-disabled="true" aria-describedby="why-not-update"/);
    expect(page.text).toContain('Permission denied: this needs the platform role maintainer.');
  });

  it('ask before they archive and delete, and name the obstacles', async () => {
    const path = `/environments/${tenant.environment}`;
    expect((await visitor.submit(`${path}/archive`, {})).location).toBe(`${path}?done=archived`);
    expect((await visitor.get(path)).text).toContain('Archived');
    expect((await visitor.submit(`${path}/unarchive`, {})).location).toBe(`${path}?done=unarchived`);
    const { body } = await tenant.owner.get(path);
    expect(body.archived_at).toBeNull();
    const form = await visitor.get(`${path}/delete`);
    const key = /name="key" value="([^"]+)"/.exec(form.text)?.[1] ?? '';
    expect((await visitor.submit(`${path}/delete`, { key })).location).toBe('/environments?done=deleted');
  });

  it('answer the same to a stranger whether an environment exists or not', async () => {
    const other = await makeTenant(api);
    const stranger = await signInVisitor(api, other.owner);
    const [hidden, missing] = [
      await stranger.get(`/environments/${tenant.environment}`),
      await stranger.get(`/environments/${crypto.randomUUID()}`),
    ];
    expect([hidden.status, missing.status]).toEqual([404, 404]);
  });
});
