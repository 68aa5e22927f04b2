import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KeptModules } from '#domain/registry/kept-modules/model.ts';
import { findKeptModules, keepModules } from '#domain/registry/kept-modules/store.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { Following } from '#test/support/references/following.ts';
import { openReadingStage, plain, type ReadingStage } from '#test/support/references/reading-stage.ts';

/** Grants from before a transfer stay void, even if the resource is transferred back. */

let stage: ReadingStage;
let following: Following;
let otherTeam: string;

beforeAll(async () => {
  stage = await openReadingStage();
  following = new Following(stage);
  const { tenant } = stage;
  otherTeam = (await tenant.owner.make(`/organizations/${tenant.organization}/teams`, { name: 'Other' })).id;
});
afterAll(() => stage?.api.close());

/** A project of the tenant with an environment. `away` transfers it to another team and back. */
async function addProject(slug: string) {
  const { owner, team } = stage.tenant;
  const { id } = await owner.make('/projects', { team_id: team, name: slug, slug });
  const place = { project_id: id, name: 'Place', slug: 'place', kind: 'development' };
  const environment: string = (await owner.make('/environments', place)).id;
  const away = async () => {
    for (const to of [otherTeam, team]) {
      const { status, text } = await owner.post(`/projects/${id}/transfer`, { team_id: to });
      expect(status, text).toBe(200);
    }
  };
  return { id: id as string, environment, away };
}

describe('after its project was transferred to another team and back', () => {
  test('an instance cannot be read by others until somebody allows it again', async () => {
    const { environment, away } = await addProject('lender');
    const id = await stage.deploy({ environment, instance: 'lent' }, { size: plain(1) });
    const readers = { team_ids: [stage.tenant.team] };
    await stage.allow(id, readers);
    const ask = () => stage.ask({ size: '${instances.lender/place/lent.outputs.size}' });
    expect((await ask()).status).toBe(202);
    await away();
    expect((await stage.tenant.owner.get(`/instances/${id}/readers`)).body).toMatchObject({ ...readers, void: true });
    expect((await ask()).headers['x-error-code']).toBe('reference_unresolved');
    await stage.allow(id, readers);
    expect((await stage.tenant.owner.get(`/instances/${id}/readers`)).body.void).toBe(false);
    expect((await ask()).status).toBe(202);
  });

  test('an instance does not follow its sources until somebody saves this setting again', async () => {
    const { environment, away } = await addProject('follower');
    const source = await stage.deploy({ instance: 'followed' }, { size: plain(1) });
    await stage.allow(source, { team_ids: [stage.tenant.team] });
    const variables = { size: '${instances.network/shared/followed.outputs.size}' };
    const { body } = await stage.ask(variables, { instance: 'follows', environment_id: environment });
    await stage.finish(body.id);
    expect((await following.follow(body.instance_id, true)).status).toBe(200);
    await away();
    expect((await following.read(body.instance_id)).stopped_because).toBe('owner_changed');
    await following.redeploy('followed', { size: plain(2) });
    expect(await following.runsOf(body.instance_id)).toEqual([]);
    expect((await following.follow(body.instance_id, true)).status).toBe(200);
    expect((await following.read(body.instance_id)).stopped_because).toBeNull();
  });

  test('a schedule starts no runs until somebody saves its work again', async () => {
    const { environment, away } = await addProject('scheduled');
    const { owner, team } = stage.tenant;
    const work = {
      run: { template_id: stage.template, environment_id: environment, operation: 'plan', variables: {} },
    };
    const nightly = { team_id: team, name: 'Nightly', schedule: { cron: '0 2 * * *' }, work };
    const { id } = await owner.make('/schedules', nightly);
    await away();
    expect((await owner.get(`/schedules/${id}`)).body).toMatchObject({
      enabled: false,
      paused_because: 'owner_changed',
    });
    const saved = await owner.patch(`/schedules/${id}`, { work });
    expect(saved.body, saved.text).toMatchObject({ paused_because: null });
  });

  test('an environment has no connection until somebody binds it again', async () => {
    const { environment, away } = await addProject('bound');
    const { owner, team } = stage.tenant;
    const { id } = await owner.make('/admin/connections', {
      name: 'Cloud',
      kind: 'generic',
      team_id: team,
      credentials: { variables: { TOKEN: 'a-token' } },
    });
    const path = `/environments/${environment}/connections`;
    const problem = async () => (await owner.get(path)).body.connections.cloud.problem;
    const bind = async () => expect((await owner.put(path, { cloud: { connection_id: id } })).status).toBe(200);
    await bind();
    expect(await problem()).toBeNull();
    await away();
    expect(await problem()).toBe('connection_unauthorized');
    await bind();
    expect(await problem()).toBeNull();
  });
});

describe('the modules of a version', () => {
  const digest = `sha256:${'a'.repeat(64)}`;
  const modules: KeptModules = {
    digest,
    list: [{ key: 'net', source: 'git::https://host/net', version: null, digest }],
    content: Buffer.from('packed'),
    locks: {},
  };

  /** A team that may go to another organization, with a version whose modules are kept. */
  async function withModules() {
    const { api } = stage;
    const [from, to] = [await makeTenant(api), await makeTenant(api)];
    await join(to, from.owner, 'admin');
    await from.owner.patch(from.teamPath, { slug: 'moving' });
    const { id: template } = await from.owner.make('/registry/templates', { name: 'Private', team_id: from.team });
    const steps = [{ name: 'go', run: ['true'] }];
    const spec = { executor: { kind: 'command', apply: steps, destroy: steps, detect: steps } };
    const body = { version: '1.0.0', spec };
    const { status, text, body: version } = await from.owner.post(`/registry/templates/${template}/versions`, body);
    expect(status, text).toBe(201);
    const place = { versionId: version.id as string, tool: 'opentofu', environmentId: null };
    const move = async (one: Tenant, path: string, other: Tenant) => {
      const moved = await one.owner.post(`${path}/transfer`, { organization_id: other.organization });
      expect(moved.status, moved.text).toBe(200);
    };
    return { place, go: () => move(from, from.teamPath, to) };
  }

  const longAgo = new Date(0);
  const keep = (place: Parameters<typeof keepModules>[1], since: Date, kept = modules) =>
    stage.api.services.transactions.run(({ em }) => keepModules(em, place, { fetchedFor: null, since }, kept));
  const find = (place: Parameters<typeof keepModules>[1]) => findKeptModules(stage.api.services.orm.em.fork(), place);

  test('are fetched again after its team was transferred to another organization, and must be the same', async () => {
    const { place, go } = await withModules();
    await keep(place, longAgo);
    expect((await find(place))?.content).toEqual(modules.content);
    await go();
    expect(await find(place)).toEqual({ ...modules, content: null });
    await keep(place, longAgo);
    expect((await find(place))?.content).toBeNull();
    const other = [{ ...modules.list[0], digest: `sha256:${'b'.repeat(64)}` }] as KeptModules['list'];
    await keep(place, new Date(Date.now() + 1000), { ...modules, list: other });
    expect(await find(place)).toEqual({ ...modules, content: null });
    await keep(place, new Date(Date.now() + 1000));
    expect((await find(place))?.content).toEqual(modules.content);
  });

  test('are not stored if a worker began to fetch them for the earlier owners', async () => {
    const { place, go } = await withModules();
    const began = new Date();
    await go();
    await keep(place, began);
    expect(await find(place)).toBeNull();
  });

  test('modules of an environment are not passed to the team to which it was transferred', async () => {
    const { id, environment } = await addProject('modules');
    const [version] = await stage.api.rows<{ id: string }>('select id from template_versions where template_id = ?', [
      stage.template,
    ]);
    const place = { versionId: version?.id ?? '', tool: 'opentofu', environmentId: environment };
    await keep(place, longAgo);
    const moved = await stage.tenant.owner.post(`/projects/${id}/transfer`, { team_id: otherTeam });
    expect(moved.status, moved.text).toBe(200);
    expect(await find(place)).toEqual({ ...modules, content: null });
  });
});
