import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sayHello } from '#test/support/access/people.ts';
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

const variable = { category: 'env', plan: 'yes', apply: 'yes' };

/** Creates a set of the tenant's team with the form, and returns the path of its page. */
async function makeSet(name: string, owner = tenant.team): Promise<string> {
  const made = await visitor.submit('/variable-sets/new', { owner, name, description: '' });
  expect(made.status, made.text).toBe(303);
  return /^\/variable-sets\/[0-9a-f-]{36}/.exec(made.location ?? '')?.[0] ?? '';
}

async function revisionOf(path: string): Promise<string> {
  return String((await tenant.owner.get(path)).body.revision);
}

async function attach(path: string, ...places: string[]): Promise<void> {
  const chosen = Object.fromEntries(places.map((id) => [`place-${id}`, 'yes']));
  const sent = await visitor.submit(`${path}/attachments`, { ...chosen, expected_revision: await revisionOf(path) });
  expect(sent.location, sent.text).toBe(`${path}?tab=attachments&done=attached`);
}

describe('the pages of variable sets', () => {
  it('create a set of each kind of owner, and show names as text', async () => {
    const owners = [
      [tenant.organization, 'organization_id'],
      [tenant.team, 'team_id'],
      [tenant.project, 'project_id'],
    ] as const;
    for (const [owner, field] of owners) {
      const path = await makeSet('Common <b>', owner);
      expect((await tenant.owner.get(path)).body).toMatchObject({ name: 'Common <b>', [field]: owner });
      expect((await visitor.get(path)).text).toContain('<h1>Common &lt;b&gt;</h1>');
    }
    expect((await visitor.get('/variable-sets')).text.match(/>Common &lt;b&gt;</g)).toHaveLength(3);
    const taken = await visitor.submit('/variable-sets/new', { owner: tenant.team, name: 'Common <b>' });
    expect([taken.status, /id="field-name-problem"/.test(taken.text)]).toEqual([409, true]);
    const nobody = await visitor.submit('/variable-sets/new', { owner: '', name: 'Lost' });
    expect([nobody.status, /id="field-owner-problem"/.test(nobody.text)]).toEqual([400, true]);
  });

  it('add, change and remove variables, and never show a secret', async () => {
    const path = await makeSet('Secrets');
    const secret = { ...variable, name: 'TOKEN', value: 'hunter2', sensitive: 'yes' };
    expect((await visitor.submit(`${path}/new-variable`, secret)).location).toBe(`${path}?done=variable`);
    await visitor.submit(`${path}/new-variable`, { ...variable, name: 'REGION', value: '<eu>' });
    const shown = await visitor.get(path);
    expect(shown.text).toContain('&lt;eu&gt;');
    expect(shown.text).toContain('Secret, not shown');
    const form = await visitor.get(`${path}/variables/TOKEN`);
    expect([shown.text, form.text].join()).not.toContain('hunter2');
    const twice = await visitor.submit(`${path}/new-variable`, { ...secret, value: 'swordfish' });
    expect([twice.status, /id="field-name-problem"/.test(twice.text)]).toEqual([400, true]);
    expect(twice.text).not.toContain('swordfish');
    const misnamed = await visitor.submit(`${path}/new-variable`, { ...secret, name: 'A B' });
    expect(misnamed.text).toMatch(/id="field-name-problem".*?Use letters/s);
    expect(misnamed.text).not.toMatch(/path parameter/i);
    const { revision } = (await tenant.owner.get(`${path}/variables/TOKEN`)).body;
    const kept = { ...secret, value: '', plan: '', expected_revision: String(revision) };
    expect((await visitor.submit(`${path}/variables/TOKEN`, kept)).status).toBe(303);
    expect((await tenant.owner.get(`${path}/variables/TOKEN`)).body.phases).toEqual(['apply']);
    const stale = await visitor.submit(`${path}/variables/TOKEN`, kept);
    expect([stale.status, stale.text.includes('Another person changed this')]).toEqual([409, true]);
    const removed = await visitor.submit(`${path}/variables/TOKEN/delete`, {});
    expect(removed.location).toBe(`${path}?done=variable-removed`);
    expect((await visitor.get(`${path}/variables/TOKEN`)).status).toBe(404);
  });

  it('attach a set to the checked places, detach it from the others, and refuse a form that is out of date', async () => {
    const path = await makeSet('Attached');
    const revision = await revisionOf(path);
    await attach(path, tenant.project, tenant.environment);
    const read = async () =>
      (await tenant.owner.get(`${path}/attachments`)).body.attachments.map(({ id }: { id: string }) => id).sort();
    expect(await read()).toEqual([tenant.project, tenant.environment].sort());
    const place = `/environments/${tenant.environment}?tab=variables`;
    expect((await visitor.get(`${path}?tab=attachments`)).text).toContain(`href="${place}"`);
    expect((await visitor.get(`${path}/attachments`)).text.match(/ checked/g)).toHaveLength(2);
    const late = await visitor.submit(`${path}/attachments`, { expected_revision: revision });
    expect([late.status, late.text.includes('Another person changed this')]).toEqual([409, true]);
    await attach(path, tenant.environment);
    expect(await read()).toEqual([tenant.environment]);
  });

  it('do not attach a set again to a project that was transferred and came back, unless its box is checked', async () => {
    const path = await makeSet('Left behind', tenant.organization);
    await attach(path, tenant.project);
    await api.rows('update variable_set_attachments set void_since = now() where variable_set_id = ?', [
      path.split('/').at(-1),
    ]);
    const form = (await visitor.get(`${path}/attachments`)).text;
    expect(form).toContain('These were transferred after they were attached');
    expect(form).toMatch(new RegExp(`name="place-${tenant.project}"`));
    expect(form).not.toMatch(new RegExp(`name="place-${tenant.project}"[^>]*checked`));
  });

  it('rename, describe and delete a set', async () => {
    const path = await makeSet('Renamed');
    const change = { name: 'New', description: 'Of <i>all</i>', expected_revision: await revisionOf(path) };
    expect((await visitor.submit(`${path}/edit`, change)).location).toBe(`${path}?done=saved`);
    expect((await visitor.get(path)).text).toContain('Of &lt;i&gt;all&lt;/i&gt;');
    const cleared = { ...change, description: '', expected_revision: await revisionOf(path) };
    expect((await visitor.submit(`${path}/edit`, cleared)).status).toBe(303);
    expect((await tenant.owner.get(path)).body.description).toBe('');
    expect((await visitor.submit(`${path}/delete`, {})).location).toBe('/variable-sets?done=deleted');
    expect((await visitor.get(path)).status).toBe(404);
  });

  it('show on an environment and its project which sets have which variables, and which takes precedence', async () => {
    const other = await makeTenant(api);
    tenant = other;
    visitor = await signInVisitor(api, other.owner);
    const [far, near, elsewhere] = [
      await makeSet('Far away', tenant.organization),
      await makeSet('Near'),
      await makeSet('Elsewhere'),
    ];
    for (const name of ['A', 'B', 'C'])
      await visitor.submit(`${far}/new-variable`, { ...variable, name, value: 'from far' });
    await visitor.submit(`${near}/new-variable`, { ...variable, name: 'B', value: 'from near' });
    await visitor.submit(`${near}/new-variable`, { ...variable, category: 'template', name: 'D', value: 'near' });
    await visitor.submit(`/environments/${tenant.environment}/new-variable`, { ...variable, name: 'C', value: 'own' });
    await attach(far, tenant.project, tenant.environment);
    await attach(near, tenant.project);
    const environment = (await visitor.get(`/environments/${tenant.environment}?tab=variables`)).text;
    // The organization's set is attached to the environment itself, so it wins over the team's.
    expect(environment.indexOf('>Far away</a>')).toBeLessThan(environment.indexOf('>Near</a>'));
    expect(environment).toMatch(
      />B<\/span> <span class="muted">environment variable, overridden by <span class="foreign">Far away</,
    );
    expect(environment).toMatch(/>C<\/span> <span class="muted">environment variable, overridden by the environment</);
    expect(environment).toMatch(/>A<\/span> <span class="muted">environment variable<\/span><\/li>/);
    expect(environment).toMatch(/>D<\/span> <span class="muted">default of the template<\/span><\/li>/);
    expect(environment.match(/class="mono">B<\/span>/g)).toHaveLength(2);
    const project = (await visitor.get(`/projects/${tenant.project}`)).text;
    expect(project.indexOf('>Near</a>')).toBeLessThan(project.indexOf('>Far away</a>'));
    for (const page of [environment, project]) expect(page).not.toContain(elsewhere);
    const list = (await visitor.get(`/variable-sets?environment_id=${tenant.environment}`)).text;
    expect([list.includes('>Near</a>'), list.includes('>Elsewhere</a>')]).toEqual([true, false]);
  });

  it('link from a run to the set of a variable', async () => {
    const path = await makeSet('Giver');
    await visitor.submit(`${path}/new-variable`, { ...variable, name: 'GIVEN', value: '1' });
    await attach(path, tenant.environment);
    const template = await tenant.owner.make('/registry/templates', { name: 'Web', team_id: tenant.team });
    await tenant.owner.make(`/registry/templates/${template.id}/versions`, { version: '1.0.0', spec: sayHello });
    const run = await tenant.owner.post('/runs', { template_id: template.id, environment_id: tenant.environment });
    expect(run.status, run.text).toBe(202);
    const page = await visitor.get(`/workloads/runs/${run.body.id}?tab=details`);
    expect(page.text).toContain(`from the set <a class="foreign" href="${path}">Giver</a>`);
  });

  it('disable changes for a reader, with the reason, and answer 404 to a stranger', async () => {
    const path = await makeSet('Read');
    await visitor.submit(`${path}/new-variable`, { ...variable, name: 'A', value: '1' });
    const reader = await api.addUser('maintainer');
    await join(tenant, reader, 'member', 'viewer');
    const reading = await signInVisitor(api, reader);
    const page = await reading.get(path);
    expect([page.status, page.text.match(/aria-disabled="true"/g)?.length]).toEqual([200, 4]);
    expect(page.text).not.toContain(`${path}/variables/A`);
    for (const form of ['edit', 'attachments', 'delete', 'new-variable', 'variables/A'])
      expect((await reading.get(`${path}/${form}`)).text, form).toContain('notice-problem');
    expect((await reading.submit(`${path}/delete`, {})).status).toBe(403);
    const stranger = await signInVisitor(api, (await makeTenant(api)).owner);
    expect((await stranger.get(path)).status).toBe(404);
    expect(await stranger.page('/variable-sets')).not.toContain(path);
    expect((await stranger.get(`/variable-sets?environment_id=${tenant.environment}`)).status).toBe(404);
  });
});
