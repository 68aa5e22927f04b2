import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#domain/shared/ids.ts';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
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

describe('the choice of a resource in a form', () => {
  it('is a select while it offers all of them', async () => {
    const { text } = await visitor.get('/environments/new');
    expect(text).toContain('<select id="field-project_id"');
    expect(text).not.toContain('are offered');
  });

  it('offers the first 200 names if there are more, and accepts the name of another one', async () => {
    const ids = await addProjects(201);
    const { text } = await visitor.get('/environments/new');
    expect(text).toContain('Only the first 200 are listed.');
    expect(text.match(/<option value="Project [0-9a-f-]{36}"/g)).toHaveLength(200);
    const missing = ids.find((id) => !text.includes(id)) ?? '';
    const offered = ids.find((id) => text.includes(id)) ?? '';
    for (const [index, typed] of [`project ${offered}`, `Project ${missing}`, missing].entries()) {
      const fields = { name: `Far away ${index}`, kind: 'development', project_id: typed };
      const created = await visitor.submit('/environments/new', fields);
      expect(created.status, created.text).toBe(303);
      const page = await visitor.get(created.location ?? '');
      expect(page.text).toContain(`/projects/${index === 0 ? offered : missing}`);
    }
  });

  it('keeps a name that matches nothing or several things, with the problem', async () => {
    await tenant.owner.make('/projects', { team_id: tenant.team, name: 'Zulu', slug: 'zulu-one' });
    const create = (typed: string) =>
      visitor.submit('/environments/new', { name: 'Nowhere', kind: 'development', project_id: typed });
    const unknown = await create('Not there');
    expect([unknown.status, unknown.text.includes('value="Not there"')]).toEqual([400, true]);
    expect(unknown.text).toContain('Matches nothing that you may choose.');
    expect((await create('Zulu')).status).toBe(303);
    await tenant.owner.make('/projects', { team_id: tenant.team, name: 'Zulu', slug: 'zulu-two' });
    const several = await create('Zulu');
    expect([several.status, several.text.includes('Matches several')]).toEqual([400, true]);
    expect(several.text).toContain('enter the ID of the one that you mean');
  });

  it('accepts the name of a resource that it does not offer, even if another kind of resource has that name', async () => {
    const project = await tenant.owner.make('/projects', { team_id: tenant.team, name: 'Zebra' });
    await tenant.owner.make('/registry/templates', { team_id: tenant.team, name: 'Zebra' });
    const { text } = await visitor.get('/environments/new');
    expect(text).not.toContain(project.id);
    expect(text).toContain('or enter the name or the ID of another one');
    for (const [index, typed] of ['zebra', 'Core / Zebra'].entries()) {
      const fields = { name: `Stripes ${index}`, kind: 'development', project_id: typed };
      const created = await visitor.submit('/environments/new', fields);
      expect(created.status, created.text).toBe(303);
      expect((await visitor.get(created.location ?? '')).text).toContain(`/projects/${project.id}`);
    }
    const elsewhere = await visitor.submit('/environments/new', {
      name: 'Nowhere',
      kind: 'development',
      project_id: 'Other / Zebra',
    });
    expect([elsewhere.status, elsewhere.text.includes('Matches nothing')]).toEqual([400, true]);
  });

  it('does not find a resource of another tenant', async () => {
    const other = await makeTenant(api);
    const foreign = await other.owner.make('/projects', { team_id: other.team, name: 'Secret merger' });
    const refused = await visitor.submit('/environments/new', {
      name: 'Nowhere',
      kind: 'development',
      project_id: 'Secret merger',
    });
    expect([refused.status, refused.text.includes(foreign.id)]).toEqual([400, false]);
    expect(refused.text).toContain('Matches nothing that you may choose.');
  });
});

/** Their names come before the first project's, so that the last of them are not offered. */
async function addProjects(count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId());
  await api.services.orm.em.getConnection().execute(
    `insert into projects (id, team_id, name, slug, description, created_at, revision)
     select id, '${tenant.team}', 'Project ' || id, id::text, '', now(), 1 from unnest('{${ids.join(',')}}'::uuid[]) as id`,
  );
  return ids;
}
