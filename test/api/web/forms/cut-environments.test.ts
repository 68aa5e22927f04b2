import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addAssembly, openPageStage, type PageStage, threeNodes } from '#test/support/assemblies/page-stage.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
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
  visitor = await signInVisitor(stage.api, stage.tenant.owner);
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
  expect(text).toMatch(/Only the first 20[01] are listed/);
  const isOffered = ({ name }: Shop) => text.includes(`"${name} / Production"`);
  return { offered: shops.find(isOffered) as Shop, missing: shops.find((shop) => !isOffered(shop)) as Shop };
}

/** The value of the field of the environment, as the page shows it. */
const shownIn = (text: string) => /<input[^>]*name="environment_id"[^>]* value="([^"]*)"/.exec(text)?.[1];

const refusals = { nothing: 'Matches nothing that you may choose.', several: 'Matches several' };

describe('the form that imports an instance, with more environments than it can offer', () => {
  const create = (environment: string) =>
    visitor.submit('/workloads/instances/new', {
      template_id: template,
      environment_id: environment,
      name: `web-${randomUUID()}`,
    });

  it('accepts the name of an environment after the name of its project if many environments have that name', async () => {
    const { missing } = pick((await visitor.get('/workloads/instances/new')).text);
    const created = await create(`${missing.name} / production`);
    expect(created.status, created.text).toBe(303);
    expect((await visitor.get(created.location ?? '')).text).toContain(missing.environment);
    const several = await create('Production');
    expect([several.status, several.text.includes(refusals.several)]).toEqual([400, true]);
  });

  it('accepts the name of an environment even if a project has the same name', async () => {
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

describe('the form for a run, with more environments than it can offer', () => {
  const path = () => `/catalog/${template}/run`;
  const send = (environment: string, fields: Record<string, string> = {}) =>
    visitor.submit(path(), {
      shown: '1.0.0',
      operation: 'apply',
      instance: `web-${randomUUID()}`,
      key: randomUUID(),
      environment_id: environment,
      ...fields,
    });
  const environmentOf = async (location = '') => {
    const id = /runs\/([0-9a-f-]{36})\?done=admitted/.exec(location)?.[1];
    return (await stage.tenant.owner.get(`/runs/${id}`)).body.environment_id;
  };

  it('accepts an environment that it offers, another one by name or id, and no environment', async () => {
    const { offered, missing } = pick((await visitor.get(path())).text);
    for (const [typed, expected] of [
      [`${offered.name} / Production`, offered.environment],
      [`${missing.name} / Production`, missing.environment],
      [missing.environment, missing.environment],
      ['None: outside any environment', null],
    ] as const) {
      const sent = await send(typed);
      expect(sent.status, sent.text).toBe(303);
      expect(await environmentOf(sent.location)).toBe(expected);
    }
  });

  it("shows the name of the environment in the page's address, and accepts it", async () => {
    const { missing } = pick((await visitor.get(path())).text);
    const { text, status } = await visitor.get(`${path()}?environment_id=${missing.environment}`);
    expect([status, shownIn(text)]).toEqual([200, `${missing.name} / Production`]);
    const sent = await visitor.submit(`${path()}?environment_id=${missing.environment}`, {
      shown: '1.0.0',
      operation: 'apply',
      key: randomUUID(),
      environment_id: shownIn(text) ?? '',
    });
    expect(sent.status, sent.text).toBe(303);
    expect(await environmentOf(sent.location)).toBe(missing.environment);
  });

  it.each([
    ['Nowhere', refusals.nothing],
    ['Production', refusals.several],
  ])('says at the field what is wrong with the name %s, and keeps it', async (typed, problem) => {
    for (const edit of ['', 'show:0@']) {
      const sent = await send(typed, { do: edit });
      expect([sent.status, sent.text.includes(problem), shownIn(sent.text)]).toEqual([422, true, typed]);
    }
  });
});

describe('the form for an assembly run, with more environments than it can offer', () => {
  let path: string;
  beforeAll(async () => {
    path = `/assemblies/${await addAssembly(stage, threeNodes(stage.template))}/run`;
  });
  const send = (environment: string) =>
    visitor.submit(path, {
      version: '',
      shown: '1.0.0',
      operation: 'apply',
      message: '',
      do: '',
      key: randomUUID(),
      environment_id: environment,
      'v/name': 'shop',
    });

  it('accepts an environment that it offers, and another one by its name', async () => {
    const { offered, missing } = pick((await visitor.get(path)).text);
    for (const { name, environment } of [offered, missing]) {
      const sent = await send(`${name} / Production`);
      expect(sent.location, sent.text).toMatch(/done=admitted$/);
      expect((await visitor.get(sent.location ?? '')).text).toContain(environment);
    }
    const named = await visitor.get(`${path}?environment_id=${missing.environment}`);
    expect(shownIn(named.text)).toBe(`${missing.name} / Production`);
  });

  it.each([
    ['Nowhere', refusals.nothing],
    ['Production', refusals.several],
  ])('says at the field what is wrong with the name %s, and keeps it', async (typed, problem) => {
    const sent = await send(typed);
    expect([sent.status, sent.text.includes(problem), shownIn(sent.text)]).toEqual([400, true, typed]);
  });
});

describe('the form for a version, with more environments than it can offer', () => {
  const publish = async (version: string, environment: string) => {
    const form = new FormData();
    form.append('version', version);
    form.append('spec', JSON.stringify({ executor: { kind: 'command', apply: [{ name: 'say', run: ['true'] }] } }));
    form.append('source', 'spec');
    form.append('check_environment_id', environment);
    const request = new Request('http://service.invalid', { method: 'POST', body: form });
    const type = request.headers.get('content-type') ?? '';
    return visitor.submit(`/catalog/${template}/publish`, await request.text(), { 'content-type': type });
  };

  it('accepts the name of an environment for its check, and says at the field what is wrong with another text', async () => {
    const { missing } = pick((await visitor.get(`/catalog/${template}/publish`)).text);
    const several = await publish('2.0.0', 'Production');
    expect([several.status, several.text.includes(refusals.several)]).toEqual([400, true]);
    const sent = await publish('2.0.0', `${missing.name} / Production`);
    expect(sent.location, sent.text).toMatch(/2\.0\.0\?done=published$/);
  });
});

describe('the filters of the list of runs, with more environments than they can offer', () => {
  it('accept the name of an environment', async () => {
    const { missing } = pick((await visitor.get('/workloads/runs')).text);
    const { id } = (
      await stage.tenant.owner.post('/runs', {
        template_id: template,
        environment_id: missing.environment,
        instance: 'listed',
        version: '1.0.0',
        operation: 'apply',
      })
    ).body;
    const list = (name: string) => visitor.get(`/workloads/runs?${new URLSearchParams({ environment_id: name })}`);
    const found = await list(`${missing.name} / Production`);
    expect([found.status, found.text.includes(id)]).toEqual([200, true]);
    expect(shownIn(found.text)).toBe(`${missing.name} / Production`);
    const none = await list('Network / Development');
    expect([none.status, none.text.includes(id)]).toEqual([200, false]);
    const several = await list('Production');
    expect([several.status, several.text.includes(refusals.several)]).toEqual([400, true]);
  });
});

describe('the form that invites into an organization, with more teams than it can offer', () => {
  it('accepts the name of a team', async () => {
    const { tenant, api } = stage;
    const ids = Array.from({ length: 201 }, () => randomUUID());
    await api.rows(
      `insert into teams select (jsonb_populate_record(t, jsonb_build_object('id', made.id, 'name', 'Team ' || made.id, 'slug', made.id))).*
       from teams t, unnest(?::uuid[]) as made(id) where t.id = ?`,
      [`{${ids.join(',')}}`, tenant.team],
    );
    const path = `/organizations/${tenant.organization}/invitations`;
    const { text } = await visitor.get(path);
    const missing = ids.find((id) => !text.includes(`Team ${id}`));
    const offered = ids.find((id) => text.includes(`Team ${id}`));
    for (const id of [missing, offered]) {
      const email = `${id}@example.com`;
      const fields = { email, role: 'member', team_id: `Team ${id}`, team_role: 'member', expires_in: 'P7D' };
      const sent = await visitor.submit(path, fields);
      expect(sent.status, sent.text).toBe(201);
      const [row] = await api.rows<{ team_id: string }>('select team_id from invitations where email = ?', [email]);
      expect(row?.team_id).toBe(id);
    }
  });
});
