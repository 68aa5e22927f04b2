import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sayHello } from '#test/support/access/people.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { repairResourceLists } from '#worker/background/resource-list-repair.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

interface Place extends Tenant {
  readonly template: string;
  readonly instance: string;
}

const subnets = (count: number) => ({
  module: 'module.net',
  mode: 'managed',
  type: 'aws_subnet',
  name: 'a',
  provider: 'provider["registry.opentofu.org/hashicorp/aws"]',
  instances: Array.from({ length: count }, (_, index_key) => ({ index_key, attributes: { secret: 'hunter2' } })),
});
const zone = { mode: 'managed', type: 'aws_route53_zone', name: 'main', instances: [{}] };
const image = { mode: 'data', type: 'aws_ami', name: 'latest', instances: [{}] };
const stateOf = (...resources: object[]) => ({ version: 4, serial: 3, lineage: 'a', resources });

/** A tenant whose instance "network" has two subnets and a zone. */
async function makePlace(): Promise<Place> {
  const tenant = await makeTenant(api);
  const template = await tenant.owner.make('/registry/templates', { name: 'Net', team_id: tenant.team });
  await tenant.owner.make(`/registry/templates/${template.id}/versions`, { version: '1.0.0', spec: sayHello });
  const request = { environment_id: tenant.environment, template_id: template.id, name: 'network' };
  const instance = await tenant.owner.make('/instances', request);
  await tenant.owner.make(`/instances/${instance.id}/state`, stateOf(subnets(2), zone, image));
  return { ...tenant, template: template.id, instance: instance.id };
}

const addresses = ({ body, text }: { body: { resources?: { address: string }[] }; text: string }) =>
  body.resources?.map(({ address }) => address) ?? text;

async function readAll(caller: ApiUser, path: string): Promise<string[]> {
  const found: string[] = [];
  for (let cursor = ''; ; ) {
    const page = await caller.get(`${path}limit=1${cursor && `&cursor=${cursor}`}`);
    expect(page.status, page.text).toBe(200);
    found.push(...page.body.resources.map(({ address }: { address: string }) => address));
    cursor = page.body.next_cursor;
    if (cursor === null) return found;
  }
}

const network = ['module.net.aws_subnet.a[0]', 'module.net.aws_subnet.a[1]', 'aws_route53_zone.main'];

describe('the resources of an instance', () => {
  test('are those of its latest state in the same order, with their instance and without attributes', async () => {
    const place = await makePlace();
    const answer = await place.owner.get(`/instances/${place.instance}/resources`);
    expect(addresses(answer)).toEqual(network);
    expect(answer.body.resources[0]).toEqual({
      address: 'module.net.aws_subnet.a[0]',
      module: 'module.net',
      type: 'aws_subnet',
      name: 'a',
      provider: 'registry.opentofu.org/hashicorp/aws',
      instance_id: place.instance,
      instance: 'network',
      environment_id: place.environment,
      team_id: place.team,
    });
    expect(answer.text).not.toContain('hunter2');
    expect(await readAll(place.owner, `/instances/${place.instance}/resources?`)).toEqual(network);
  });

  test('are as many as the count of the instance and its state version', async () => {
    const { owner, instance } = await makePlace();
    const counts = [
      (await owner.get(`/instances/${instance}`)).body.resource_count,
      (await owner.get(`/instances/${instance}/state-versions`)).body.state_versions[0].resource_count,
      (await owner.get(`/instances/${instance}/resources`)).body.resources.length,
    ];
    expect(counts).toEqual([3, 3, 3]);
  });

  test('are hidden from strangers', async () => {
    const { instance } = await makePlace();
    const stranger = await api.addUser('operator');
    expect((await stranger.get(`/instances/${instance}/resources`)).status).toBe(404);
  });
});

describe('the resources of all instances', () => {
  test('are those that the caller may read, page by page', async () => {
    const [mine, other] = [await makePlace(), await makePlace()];
    expect(await readAll(mine.owner, '/resources?')).toEqual(network);
    const viewer = await api.addUser('requester');
    await join(mine, viewer, 'member', 'viewer');
    expect(addresses(await viewer.get('/resources'))).toEqual(network);
    await join(other, viewer, 'member');
    expect(addresses(await viewer.get('/resources'))).toEqual(network);
    await join(other, viewer, 'admin');
    expect(addresses(await viewer.get('/resources'))).toEqual([...network, ...network]);
    expect(addresses(await (await api.addUser('operator')).get('/resources'))).toEqual([]);
  });

  test('can be filtered by owner, type and text', async () => {
    const place = await makePlace();
    const { owner, team, organization, environment } = place;
    for (const filter of [`team_id=${team}`, `organization_id=${organization}`, `environment_id=${environment}`])
      expect(addresses(await owner.get(`/resources?${filter}`))).toEqual(network);
    expect(addresses(await owner.get('/resources?type=aws_subnet'))).toEqual(network.slice(0, 2));
    expect(addresses(await owner.get('/resources?type=aws_sub'))).toEqual([]);
    expect(addresses(await owner.get('/resources?q=ZONE'))).toEqual(['aws_route53_zone.main']);
    expect(addresses(await owner.get('/resources?q=%25'))).toEqual([]);
    expect(addresses(await owner.get('/resources?type=aws_subnet&q=a%5B1'))).toEqual(['module.net.aws_subnet.a[1]']);
    expect((await owner.get('/resources?colour=red')).status).toBe(400);
  });

  test('listing the resources of a hidden owner, or of owners that differ, answers 404', async () => {
    const [mine, other] = [await makePlace(), await makePlace()];
    const hidden = [
      `team_id=${other.team}`,
      `organization_id=${other.organization}`,
      `environment_id=${other.environment}`,
      `team_id=${mine.team}&organization_id=${other.organization}`,
      `organization_id=${mine.organization}&environment_id=${other.environment}`,
    ];
    for (const filter of hidden) expect((await mine.owner.get(`/resources?${filter}`)).status, filter).toBe(404);
    const member = await api.addUser('requester');
    await join(mine, member, 'member');
    expect(addresses(await member.get(`/resources?organization_id=${mine.organization}`))).toEqual([]);
  });

  test('move with a project to another team', async () => {
    const place = await makePlace();
    const next = await place.owner.make(`/organizations/${place.organization}/teams`, { name: 'Next' });
    await api.rows('update templates set team_id = null where id = ?', [place.template]);
    const moved = await place.owner.post(`/projects/${place.project}/transfer`, { team_id: next.id });
    expect(moved.status, moved.text).toBe(200);
    expect(addresses(await place.owner.get(`/resources?team_id=${next.id}`))).toEqual(network);
    expect(addresses(await place.owner.get(`/resources?team_id=${place.team}`))).toEqual([]);
  });

  test('resources of instances without a team are listed for administrators, and for a user who is the only one to have used the instance', async () => {
    const [administrator, one, other] = await Promise.all([
      api.addUser('admin'),
      api.addUser('maintainer'),
      api.addUser('maintainer'),
    ]);
    const template = await administrator.make('/registry/templates', { name: 'Shared' });
    await administrator.make(`/registry/templates/${template.id}/versions`, { version: '1.0.0', spec: sayHello });
    const run = await one.post('/runs', { template_id: template.id, instance: 'mine' });
    await one.post(`/runs/${run.body.id}/cancel`, { force: true });
    const path = `/instances/${run.body.instance_id}`;
    expect((await one.post(`${path}/state`, stateOf(zone))).status).toBe(201);
    const seen = async (caller: ApiUser) => [
      addresses(await caller.get('/resources?type=aws_route53_zone&limit=1')),
      (await caller.get(`${path}/resources`)).status,
    ];
    const zones = ['aws_route53_zone.main'];
    expect([await seen(administrator), await seen(one), await seen(other)]).toEqual([
      [zones, 200],
      [zones, 200],
      [[], 403],
    ]);
    await other.post('/runs', { template_id: template.id, instance: 'mine' });
    expect([await seen(one), await seen(other)]).toEqual([
      [[], 403],
      [[], 403],
    ]);
  });
});

describe('a state that an earlier release stored without a list of resources', () => {
  test('is listed by the next pass of a worker, and the counts agree again', async () => {
    const { owner, instance } = await makePlace();
    const forget = async () => {
      await api.rows('delete from instance_resources where instance_id = ?', [instance]);
      await api.rows('update instances set resources_serial = null, resource_count = 9 where id = ?', [instance]);
    };
    await forget();
    const deps = { orm: api.services.orm, keyRing: api.services.keyRing, log: api.services.log };
    await repairResourceLists(deps, 1);
    expect(addresses(await owner.get(`/instances/${instance}/resources`))).toEqual(network);
    expect((await owner.get(`/instances/${instance}`)).body.resource_count).toBe(3);
    await forget();
    const refused = await owner.delete(`/instances/${instance}`);
    expect([refused.status, refused.body.error]).toEqual([409, expect.stringContaining('aws_route53_zone.main')]);
  });

  test('a state of an earlier release that cannot be read does not keep other states from being listed', async () => {
    const [broken, whole] = [await makePlace(), await makePlace()];
    await api.rows('update instances set resources_serial = null where id in (?, ?)', [
      broken.instance,
      whole.instance,
    ]);
    await api.rows(`update state_versions set content = 'x' where instance_id = ?`, [broken.instance]);
    await repairResourceLists({ orm: api.services.orm, keyRing: api.services.keyRing, log: api.services.log }, 1);
    const rows = await api.rows<{ id: string; resources_serial: number | null }>(
      'select id, resources_serial from instances where id in (?, ?)',
      [broken.instance, whole.instance],
    );
    expect(Object.fromEntries(rows.map(({ id, resources_serial: serial }) => [id, serial]))).toEqual({
      [broken.instance]: null,
      [whole.instance]: 1,
    });
  });
});
