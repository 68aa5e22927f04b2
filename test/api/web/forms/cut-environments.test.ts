import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPageStage, type PageStage, signIn } from '#test/support/assemblies/page-stage.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';

let stage: PageStage;
let visitor: Visitor;
let template: string;
let shops: readonly Shop[];

/** A project of this name with an environment "Production". */
interface Shop {
  readonly name: string;
  readonly environment: string;
}

beforeAll(async () => {
  stage = await openPageStage();
  visitor = await signIn(stage, stage.tenant.owner);
  template = (await stage.tenant.owner.get('/registry/templates')).body.templates[0].id;
  shops = await addShops(230);
});
afterAll(() => stage?.api.close());

/** Each has an environment like the first one of the tenant. */
async function addShops(count: number): Promise<Shop[]> {
  const { tenant, api } = stage;
  const made = Array.from({ length: count }, (_, index) => ({
    project: randomUUID(),
    environment: randomUUID(),
    name: `Shop ${index}`,
  }));
  await api.rows(
    `with shop as (select * from jsonb_to_recordset(?::jsonb) as s(project uuid, environment uuid, name text)),
     project as (
       insert into projects select (jsonb_populate_record(p, jsonb_build_object('id', shop.project, 'name', shop.name, 'slug', shop.project))).*
       from projects p, shop where p.id = ?)
     insert into environments select (jsonb_populate_record(e, jsonb_build_object('id', shop.environment, 'project_id', shop.project, 'name', 'Production'))).*
     from environments e, shop where e.id = ?`,
    [JSON.stringify(made), tenant.project, tenant.environment],
  );
  return made;
}

/** A shop whose environment the page offers, and one whose it does not. */
function pick(text: string): { offered: Shop; missing: Shop } {
  expect(text).toContain('Only the first 200 are listed.');
  const isOffered = ({ name }: Shop) => text.includes(`"${name} / Production"`);
  return { offered: shops.find(isOffered) as Shop, missing: shops.find((shop) => !isOffered(shop)) as Shop };
}

const refusals = { nothing: 'Is the name of nothing that you may choose.', several: 'Is the name of several things' };

describe('the form that imports an instance, among more environments than it can offer', () => {
  const create = (environment: string) =>
    visitor.submit('/workloads/instances/new', {
      template_id: template,
      environment_id: environment,
      name: `web-${randomUUID()}`,
    });

  it('takes the name of an environment behind that of its project although many have the same name', async () => {
    const { missing } = pick((await visitor.get('/workloads/instances/new')).text);
    const created = await create(`${missing.name} / production`);
    expect(created.status, created.text).toBe(303);
    expect((await visitor.get(created.location ?? '')).text).toContain(missing.environment);
    const several = await create('Production');
    expect([several.status, several.text.includes(refusals.several)]).toEqual([400, true]);
  });

  it('takes the name of an environment although a project has the same name', async () => {
    const { project } = stage.tenant;
    const { id } = await stage.tenant.owner.make('/environments', {
      project_id: project,
      name: 'Edge',
      kind: 'development',
    });
    await stage.tenant.owner.make('/projects', { team_id: stage.tenant.team, name: 'Edge' });
    const created = await create('Edge');
    expect(created.status, created.text).toBe(303);
    expect((await visitor.get(created.location ?? '')).text).toContain(id);
  });
});
