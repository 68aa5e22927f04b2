import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#domain/shared/ids.ts';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi, testPassword } from '#test/support/api/in-process-api.ts';
import { Visitor } from '#test/support/browser/visitor.ts';

let api: TestApi;
let tenant: Tenant;
let visitor: Visitor;

beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  visitor = new Visitor(api.app);
  await visitor.submit('/login', { email: tenant.owner.email, password: testPassword });
});
afterAll(() => api?.close());

describe('a choice among more things than a form can offer', () => {
  it('is a select while all of them are offered', async () => {
    const { text } = await visitor.get('/environments/new');
    expect(text).toContain('<select id="field-project_id"');
    expect(text).not.toContain('are offered');
  });

  it('says that there are more, and takes the id of one that is not offered', async () => {
    const ids = await addProjects(201);
    const { text } = await visitor.get('/environments/new');
    expect(text).toContain('Only the first 200 are listed.');
    expect(text.match(/<option value="[0-9a-f-]{36}"/g)).toHaveLength(200);
    const missing = ids.find((id) => !text.includes(id)) ?? '';
    const fields = { name: 'Far away', kind: 'development', project_id: missing };
    const created = await visitor.submit('/environments/new', fields);
    expect(created.status, created.text).toBe(303);
    const page = await visitor.get(created.location ?? '');
    expect(page.text).toContain(`/projects/${missing}`);
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
