import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { join, makeTenant } from '#test/support/access/tenancy.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { openReadingStage, plain, type ReadingStage } from '#test/support/references/reading-stage.ts';

/** Who may read the outputs of an instance. */

let stage: ReadingStage;
beforeAll(async () => {
  stage = await openReadingStage();
});
afterAll(() => stage?.api.close());

const asking = (name: string) => stage.ask({ size: `\${instances.shared/${name}.outputs.size}` });

describe('the form of the readers of an instance', () => {
  test('shows and accepts names of teams and environments, and refuses names of another tenant', async () => {
    const { owner, environment, team } = stage.tenant;
    const id = await stage.deploy({ instance: 'formed' }, { size: plain(1) });
    const other = await makeTenant(stage.api);
    await other.owner.make('/projects', { team_id: other.team, name: 'Secret merger' });
    const visitor = await signInVisitor(stage.api, owner);
    const path = `/workloads/instances/${id}/readers`;
    const wrong = await visitor.edit(path, { team_ids: 'Nowhere', environment_ids: 'Secret merger / Development' });
    for (const field of ['team_ids', 'environment_ids']) expect(wrong.text).toContain(`id="field-${field}-problem"`);
    const [named] = await stage.api.rows<{ team: string; environment: string }>(
      `select t.name as team, p.name || ' / ' || e.name as environment from environments e
       join projects p on p.id = e.project_id join teams t on t.id = p.team_id where e.id = ?`,
      [environment],
    );
    const sent = await visitor.edit(path, { team_ids: named?.team ?? '', environment_ids: named?.environment ?? '' });
    expect(sent.status, sent.text).toBe(303);
    expect((await owner.get(path.replace('/workloads', ''))).body).toMatchObject({
      team_ids: [team],
      environment_ids: [environment],
    });
    const { text } = await visitor.get(path);
    expect(text).toMatch(new RegExp(`name="environment_ids"[^>]*>\\n${named?.environment}</textarea>`));
    expect(text).toMatch(new RegExp(`name="team_ids"[^>]*>\\n[^<]* / ${named?.team}</textarea>`));
  });

  test('keeps the teams that it listed even if other teams get their names before it is sent', async () => {
    const { owner, organization, team } = stage.tenant;
    const id = await stage.deploy({ instance: 'renamed' }, { size: plain(1) });
    const path = `/workloads/instances/${id}/readers`;
    await owner.put(path.replace('/workloads', ''), { team_ids: [team] });
    const visitor = await signInVisitor(stage.api, owner);
    const text = await visitor.page(path);
    const [, team_ids = ''] = /name="team_ids"[^>]*>\n([^<]*)<\/textarea>/.exec(text) ?? [];
    const hidden = [...text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
    const fields = { ...Object.fromEntries(hidden.map(([, name, value]) => [name, value])), team_ids };
    const other = await owner.make(`/organizations/${organization}/teams`, { name: 'Other' });
    const [{ name = '' } = {}] = await stage.api.rows<{ name: string }>('select name from teams where id = ?', [team]);
    await stage.api.rows(`update teams set name = 'Former' where id = ?`, [team]);
    await stage.api.rows('update teams set name = ? where id = ?', [name, other.id]);
    try {
      const sent = await visitor.submit(path, fields);
      expect(sent.status, sent.text).toBe(303);
      expect((await owner.get(path.replace('/workloads', ''))).body.team_ids).toEqual([team]);
    } finally {
      await stage.api.rows(`update teams set name = 'Gone' where id = ?`, [other.id]);
      await stage.api.rows('update teams set name = ? where id = ?', [name, team]);
    }
  });
});

describe('the readers of an instance', () => {
  test('are empty at first, are replaced as a whole, and are audited', async () => {
    const { owner, environment, team } = stage.tenant;
    const id = await stage.deploy({ instance: 'first' }, { size: plain(1) });
    const path = `/instances/${id}/readers`;
    expect((await owner.get(path)).body).toMatchObject({ team_ids: [], environment_ids: [], void: false });
    const set = await owner.put(path, { environment_ids: [environment, environment], team_ids: [team] });
    expect(set.body).toMatchObject({ team_ids: [team], environment_ids: [environment], void: false });
    const cleared = await owner.put(path, { expected_revision: set.body.revision });
    expect(cleared.body).toMatchObject({ team_ids: [], environment_ids: [], revision: set.body.revision + 1 });
    expect((await owner.put(path, { expected_revision: set.body.revision })).status).toBe(409);
    const records = await stage.api.rows(
      `select before, after from audit_records where action = 'instance.readers_changed' and resource_id = ? order by id`,
      [id],
    );
    expect(records).toMatchObject([
      { after: { team_ids: [team], environment_ids: [environment] } },
      { before: { team_ids: [team], environment_ids: [environment] }, after: { team_ids: [], environment_ids: [] } },
    ]);
  });

  test('the readers of an instance, and what it follows, change nothing else of it, not even the digits of its outputs', async () => {
    const { owner, team } = stage.tenant;
    const id = await stage.deploy({}, {});
    const outputs = '{"large": 9007199254740993, "price": 1.10}';
    await stage.api.rows('update instances set outputs = ? where id = ?', [outputs, id]);
    const read = () =>
      stage.api.rows(`select outputs::text, (to_jsonb(i) - 'revision')::text as row from instances i where id = ?`, [
        id,
      ]);
    const before = await read();
    expect((await owner.put(`/instances/${id}/follow`, { enabled: true })).status).toBe(200);
    expect((await owner.put(`/instances/${id}/follow`, { enabled: false })).status).toBe(200);
    expect(await read()).toEqual(before);
    expect((await owner.put(`/instances/${id}/readers`, { team_ids: [team] })).status).toBe(200);
    expect(await read()).toMatchObject([{ outputs }]);
  });

  test('the readers of an instance, and what it follows, can be sent back as they were read, with changes', async () => {
    const { owner, team } = stage.tenant;
    const id = await stage.deploy({}, {});
    for (const [setting, change] of [
      ['readers', { team_ids: [team] }],
      ['follow', { enabled: true }],
    ] as const) {
      const path = `/instances/${id}/${setting}`;
      const set = await owner.put(path, { ...(await owner.get(path)).body, ...change });
      expect(set.body, set.text).toMatchObject(change);
      expect((await owner.put(path, set.body)).status).toBe(200);
      expect((await owner.put(path, { ...set.body, other: 1 })).status).toBe(400);
    }
  });

  test("can only be in the same organization, and another tenant's ids answer like missing ones", async () => {
    const foreign = await makeTenant(stage.api);
    const id = await stage.deploy({}, {});
    const missing = '019aa5c2-7d31-7cc4-9c55-0d6a1f6c8b11';
    const say = async (body: object, named: string) => {
      const { tenant } = stage;
      const path = `/instances/${id}/readers`;
      const { status, headers, text } = await tenant.owner.put(path, body);
      expect([status, headers['x-error-code']]).toEqual([422, 'unknown_reference']);
      const problem = await tenant.owner.send('PUT', path, body, { accept: 'application/problem+json' });
      const [list] = Object.keys(body);
      expect(JSON.parse(problem.text).errors).toMatchObject([{ in: 'body', path: `${list}[0]` }]);
      return text.replaceAll(named, 'it').replace(/"request_id":"[^"]*"/, '');
    };
    expect(await say({ team_ids: [foreign.team] }, foreign.team)).toBe(await say({ team_ids: [missing] }, missing));
    expect(await say({ environment_ids: [foreign.environment] }, foreign.environment)).toBe(
      await say({ environment_ids: [missing] }, missing),
    );
  });

  test('can be changed only by users who may change its team', async () => {
    const id = await stage.deploy({}, {});
    const [viewer, stranger] = [await stage.api.addUser('maintainer'), await stage.api.addUser('maintainer')];
    await join(stage.tenant, viewer, 'member', 'viewer');
    const body = { team_ids: [stage.tenant.team] };
    expect((await viewer.put(`/instances/${id}/readers`, body)).status).toBe(403);
    expect((await viewer.get(`/instances/${id}/readers`)).status).toBe(200);
    expect((await stranger.put(`/instances/${id}/readers`, body)).status).toBe(404);
    expect((await stranger.get(`/instances/${id}/readers`)).status).toBe(404);
  });

  test('readers of another team read an instance by project, environment and name', async () => {
    const { tenant } = stage;
    const id = await stage.deploy({ instance: 'lent' }, { size: plain(7) });
    const other = await tenant.owner.make(`/organizations/${tenant.organization}/teams`, { name: 'Apps' });
    const project = await tenant.owner.make('/projects', { team_id: other.id, name: 'Shop' });
    const place = { project_id: project.id, name: 'Production', kind: 'development' };
    const { id: environment } = await tenant.owner.make('/environments', place);
    const ask = () =>
      stage.ask({ size: '${instances.network/shared/lent.outputs.size}' }, { environment_id: environment });
    expect((await ask()).status).toBe(422);
    await stage.allow(id, { team_ids: [other.id] });
    expect((await ask()).body.variables).toEqual({ size: 7 });
    await stage.allow(id, { environment_ids: [environment] });
    expect((await ask()).status).toBe(202);
  });

  test('read nothing after the instance was transferred until its new owners allow it', async () => {
    const { tenant } = stage;
    const project = await tenant.owner.make('/projects', { team_id: tenant.team, name: 'Moving' });
    const place = { project_id: project.id, name: 'Here', slug: 'here', kind: 'development' };
    const { id: environment } = await tenant.owner.make('/environments', place);
    const id = await stage.deploy({ environment, instance: 'moved' }, { size: plain(1) });
    await stage.allow(id, { team_ids: [tenant.team] });
    const ask = () => stage.ask({ size: '${instances.moving/here/moved.outputs.size}' });
    expect((await ask()).status).toBe(202);
    const other = await tenant.owner.make(`/organizations/${tenant.organization}/teams`, { name: 'Others' });
    const moved = await tenant.owner.post(`/projects/${project.id}/transfer`, { team_id: other.id });
    expect(moved.status, moved.text).toBe(200);
    expect((await tenant.owner.get(`/instances/${id}/readers`)).body.void).toBe(true);
    expect((await ask()).status).toBe(422);
    await stage.allow(id, { team_ids: [tenant.team] });
    expect((await ask()).status).toBe(202);
  });

  test('are removed when they are transferred themselves', async () => {
    const { tenant } = stage;
    const project = await tenant.owner.make('/projects', { team_id: tenant.team, name: 'Reader' });
    const place = { project_id: project.id, name: 'There', kind: 'development' };
    const { id: environment } = await tenant.owner.make('/environments', place);
    const id = await stage.deploy({ instance: 'stays' }, { size: plain(1) });
    await stage.allow(id, { environment_ids: [environment, tenant.environment] });
    const other = await tenant.owner.make(`/organizations/${tenant.organization}/teams`, { name: 'Takers' });
    await tenant.owner.post(`/projects/${project.id}/transfer`, { team_id: other.id });
    const { body } = await tenant.owner.get(`/instances/${id}/readers`);
    expect(body.environment_ids).toEqual([tenant.environment]);
    expect((await asking('stays')).status).toBe(202);
  });
});
