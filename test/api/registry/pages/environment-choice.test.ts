import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { publishTemplate } from '#test/support/api/publish-template.ts';
import { textOf } from '#test/support/browser/page-text.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { sendForm } from './deploy-form-page.ts';

/** A template is deployed in an environment, which is passed on from the environment's page, or outside any. */

const executor = { kind: 'command', apply: [{ name: 'go', run: ['true'] }] };
const variables = { type: 'object', properties: { size: { type: 'integer' } } };

let api: TestApi;
let tenant: Tenant;
let visitor: Awaited<ReturnType<typeof signInVisitor>>;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  visitor = await signInVisitor(api, tenant.owner);
});
afterAll(() => api?.close());

const publish = (approval?: object) =>
  publishTemplate(tenant.owner, { variables, executor, approval }, { team_id: tenant.team });

const send = (id: string, fields: Record<string, string>) =>
  sendForm(visitor, `/catalog/${id}/run`, { version: '', environment_id: 'none', ...fields });
const demanded = { required: 2, when: 'changes' };

describe('the choice to run outside any environment', () => {
  test('says at its field what such a run does not have', async () => {
    const text = textOf((await visitor.get(`/catalog/${await publish()}/run`)).text);
    expect(text).toContain('None: outside any environment');
    expect(text).toContain('A run outside any environment gets none of them');
    expect(text).not.toContain('This run is outside any environment.');
  });

  test('names the approvals that such a run requires, and whether the template requires them', async () => {
    const shown = async (approval?: object) =>
      textOf((await visitor.get(`/catalog/${await publish(approval)}/run?environment_id=none`)).text);
    const without = await shown();
    expect(without).toContain('It gets no variables, secrets or connections of an environment');
    expect(without).toContain('Only what the installation demands by default applies: No approval needed.');
    const own = 'Only what the template demands applies: 2 people approve, if a plan changes something.';
    expect(await shown(demanded)).toContain(own);
  });

  test('is repeated on the confirmation', async () => {
    const id = await publish(demanded);
    const admin = await api.addUser('admin');
    await admin.make('/instances', { template_id: id, name: 'web' });
    const shown = await send(id, { operation: 'destroy', instance: 'web' });
    expect(shown.status, shown.text).toBe(200);
    const step = textOf(/role="status".*?<\/section>/s.exec(shown.text)?.[0] ?? '');
    expect(step).toMatch(/Nothing has started yet\..*This run is outside any environment\..*2 people approve/);
    expect(shown.text.split('This run is outside any environment.')).toHaveLength(2);
  });

  test('is in the form for a template of a team', async () => {
    expect((await visitor.get('/catalog/new')).text).toContain(
      'only in the environments of that team, or outside any environment.',
    );
  });
});

describe('the catalog that is opened from an environment', () => {
  const at = () => `/catalog?environment_id=${tenant.environment}`;

  test('names the environment, lists what can run there, and passes the environment to the form for a run', async () => {
    const id = await publish();
    const page = await visitor.get(`/environments/${tenant.environment}`);
    const { name } = (await tenant.owner.get(`/environments/${tenant.environment}`)).body;
    expect(page.text).toContain(`href="${at()}"`);
    const catalog = await visitor.get(at());
    expect(catalog.text).toContain(`<h1>Deploy to ${name}</h1>`);
    expect(catalog.text).toContain(`name="environment_id" value="${tenant.environment}"`);
    const template = `/catalog/${id}?environment_id=${tenant.environment}`;
    expect(catalog.text).toContain(`href="${template}"`);
    const run = `/catalog/${id}/run?environment_id=${tenant.environment}`;
    const shown = await visitor.get(template);
    expect(shown.text).toContain(`href="${run}"`);
    expect(shown.text).toContain(`href="${at()}">Catalog`);
    expect((await visitor.get(run)).text).toMatch(new RegExp(`<option value="${tenant.environment}"[^>]* selected`));
  });

  test('passes the environment by the page of a version to the form for a run', async () => {
    const id = await publish();
    const version = `/catalog/${id}/versions/1.0.0?environment_id=${tenant.environment}`;
    const template = await visitor.get(`/catalog/${id}?environment_id=${tenant.environment}`);
    expect(template.text).toContain(`href="${version}"`);
    const run = `/catalog/${id}/run?version=1.0.0&amp;environment_id=${tenant.environment}`;
    expect((await visitor.get(version)).text).toContain(`href="${run}"`);
  });

  test('offers no template of another team', async () => {
    const other = await makeTenant(api);
    const { id } = await other.owner.make('/registry/templates', { name: 'Theirs', team_id: other.team });
    const admin = await signInVisitor(api, await api.addUser('admin'));
    expect((await admin.get('/catalog')).text).toContain(`/catalog/${id}`);
    expect(await admin.page(at())).not.toContain(`/catalog/${id}`);
  });

  test('answers 404 if the visitor may not read the environment', async () => {
    const other = await makeTenant(api);
    expect((await visitor.get(`/catalog?environment_id=${other.environment}`)).status).toBe(404);
  });
});
