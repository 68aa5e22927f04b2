import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { addAssembly, addTemplate } from '#test/support/assemblies/assemblies.ts';

/** Which templates the nodes of an assembly may name, and which version of them they get. */
let api: TestApi;
let tenant: Tenant;
let admin: ApiUser;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  admin = await api.addUser('admin');
});
afterAll(() => api?.close());

/** Publishes an assembly of one node, and answers the template and the version that the node got. */
async function publishWith(node: object, of: Tenant = tenant) {
  const path = await addAssembly(of, { nodes: { a: node } });
  const { status, body, text } = await of.owner.post(`${path}/publish`, { version: '1.0.0' });
  if (status !== 201) return { status, text };
  return { status, template: body.templates.a.template_id, version: body.templates.a.version };
}

describe('a node', () => {
  it("names a template by id or slug, and its team's template before the installation's with the same slug", async () => {
    const shared = await addTemplate(admin, { slug: 'shared-name' });
    expect(await publishWith({ template: 'shared-name' })).toMatchObject({ template: shared.id });
    const own = await addTemplate(tenant.owner, { team: tenant.team, slug: 'shared-name' });
    expect(await publishWith({ template: 'shared-name' })).toMatchObject({ template: own.id });
    expect(await publishWith({ template: own.id })).toMatchObject({ template: own.id });
    expect(await publishWith({ template: shared.id })).toMatchObject({ template: shared.id });
  });

  it('cannot name a template of another team, with the same error as for a missing one', async () => {
    const other = await makeTenant(api);
    const foreign = await addTemplate(other.owner, { team: other.team });
    const path = await addAssembly(tenant);
    const ask = async (template: string) => {
      const { body } = await tenant.owner.post(`${path}/validate`, { spec: { nodes: { a: { template } } } });
      return JSON.stringify(body.errors).replaceAll(template, 'NAME');
    };
    const missing = await ask('00000000-0000-4000-8000-000000000000');
    expect(missing).toContain('/nodes/a/template');
    expect(await ask(foreign.id)).toBe(missing);
    expect(await ask(foreign.slug)).toContain('/nodes/a/template');
  });

  it('keeps the version to which its range or `latest` was resolved at publication', async () => {
    const { id } = await addTemplate(tenant.owner, { team: tenant.team, versions: ['1.0.0', '1.4.0', '2.0.0'] });
    expect(await publishWith({ template: id })).toMatchObject({ version: '2.0.0' });
    expect(await publishWith({ template: id, version: '^1.0' })).toMatchObject({ version: '1.4.0' });
    expect(await publishWith({ template: id, version: '3.0.0' })).toMatchObject({ status: 422 });
  });

  it('gets a yanked version only by its exact name', async () => {
    const { id } = await addTemplate(tenant.owner, { team: tenant.team, versions: ['1.0.0', '1.1.0'] });
    await tenant.owner.post(`/registry/templates/${id}/versions/1.1.0/yank`);
    expect(await publishWith({ template: id })).toMatchObject({ version: '1.0.0' });
    expect(await publishWith({ template: id, version: '1.1.0' })).toMatchObject({ version: '1.1.0' });
    expect(await publishWith({ template: id, version: '^1.1' })).toMatchObject({ status: 422 });
  });

  it('cannot name an archived template', async () => {
    const { id } = await addTemplate(tenant.owner, { team: tenant.team });
    await tenant.owner.post(`/registry/templates/${id}/archive`);
    expect(await publishWith({ template: id })).toMatchObject({
      status: 422,
      text: expect.stringContaining('archived'),
    });
  });

  it('cannot name a deleted template', async () => {
    const { id } = await addTemplate(tenant.owner, { team: tenant.team });
    expect((await tenant.owner.delete(`/registry/templates/${id}`)).status).toBe(204);
    expect(await publishWith({ template: id })).toMatchObject({ status: 422 });
  });
});
