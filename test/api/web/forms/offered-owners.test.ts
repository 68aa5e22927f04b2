import { afterAll, beforeAll, expect, it } from 'vitest';
import { sayHello } from '#test/support/access/people.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { publishTemplate } from '#test/support/api/publish-template.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';

/** Forms that create something offer only what the operation would accept of their visitor. */

let api: TestApi;
let tenant: Tenant;
let other: { team: string; project: string; environment: string; template: string; instance: string };
let common: { template: string; instance: string };
/** An admin of one team who only looks at another one. */
let visitor: Visitor;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  const { owner, organization } = tenant;
  const member = await api.addUser('maintainer');
  await join(tenant, member, 'member', 'admin');
  const { id: team } = await owner.make(`/organizations/${organization}/teams`, { name: 'Other' });
  await owner.put(`/organizations/${organization}/teams/${team}/members/${member.id}`, { role: 'viewer' });
  const { id: project } = await owner.make('/projects', { team_id: team, name: 'Theirs' });
  const place = { project_id: project, name: 'Production', kind: 'production' };
  const { id: environment } = await owner.make('/environments', place);
  const template = await publishTemplate(owner, sayHello, { team_id: team });
  const named = { template_id: template, environment_id: environment, name: 'theirs' };
  other = { team, project, environment, template, instance: (await owner.make('/instances', named)).id };
  const administrator = await api.addUser('admin');
  const all = await publishTemplate(administrator, sayHello, {});
  const { id: instance } = await administrator.make('/instances', { template_id: all, name: 'common' });
  common = { template: all, instance };
  visitor = await signInVisitor(api, member);
});
afterAll(() => api?.close());

const forms: readonly [string, () => readonly string[], () => readonly string[]][] = [
  ['/service-accounts/new', () => [], () => [tenant.team, other.team]],
  ['/projects/new', () => [tenant.team], () => [other.team]],
  ['/assemblies/new', () => [tenant.team], () => [other.team]],
  ['/environments/new', () => [tenant.project], () => [other.project]],
  ['/workloads/instances/new', () => [tenant.environment, common.template], () => [other.environment, other.template]],
  [
    '/drift/monitors/new',
    () => [tenant.environment],
    () => [other.environment, other.template, other.instance, common.template, common.instance],
  ],
];

it.each(forms)('%s offers an admin of a team only what the operation accepts', async (path, accepted, refused) => {
  const { text, status } = await visitor.get(path);
  expect(status).toBe(200);
  const offered = [...text.matchAll(/<option[^>]*value="([^"]+)"/g)].map(([, value]) => value);
  expect(offered.filter((value) => refused().includes(value ?? ''))).toEqual([]);
  expect(offered).toEqual(expect.arrayContaining([...accepted()]));
});

it('the forms of transfers offer only new owners that the operation accepts', async () => {
  const { owner, organization } = tenant;
  const optionsOf = async (path: string) => {
    const { text, status } = await mover.get(path);
    expect(status, text).toBe(200);
    return [...text.matchAll(/<option[^>]*value="([^"]+)"/g)].map(([, value]) => value);
  };
  const mine = await makeTenant(api);
  await join(tenant, mine.owner, 'member', 'admin');
  await owner.put(`/organizations/${organization}/teams/${other.team}/members/${mine.owner.id}`, { role: 'viewer' });
  const { id: further } = await mine.owner.make(`/organizations/${mine.organization}/teams`, { name: 'Further' });
  const mover = await signInVisitor(api, mine.owner);
  const teams = await optionsOf(`/projects/${mine.project}/transfer`);
  expect(teams).toEqual(expect.arrayContaining([tenant.team, further]));
  expect(teams).not.toContain(other.team);
  expect(await optionsOf(`/organizations/${mine.organization}/teams/${further}/transfer`)).not.toContain(organization);
});

it('the form for an assembly run offers no environments of a team in which the visitor may not start runs', async () => {
  const { id } = await tenant.owner.make('/assemblies', { team_id: other.team, name: 'Theirs' });
  const { slug } = (await tenant.owner.get(`/registry/templates/${other.template}`)).body;
  const spec = { nodes: { only: { template: slug } } };
  expect((await tenant.owner.put(`/assemblies/${id}/draft`, { spec })).status).toBe(200);
  expect((await tenant.owner.post(`/assemblies/${id}/publish`, { version: '1.0.0', changelog: 'First' })).status).toBe(
    201,
  );
  const start = `/assemblies/${id}/run`;
  expect(await visitor.page(start)).not.toContain(`value="${other.environment}"`);
  const own = await signInVisitor(api, tenant.owner);
  expect(await own.page(start)).toContain(`value="${other.environment}"`);
});

it('the form for a run of a template of the installation offers only environments in which the visitor may create runs', async () => {
  const { text } = await visitor.get(`/catalog/${common.template}/run`);
  expect(text).toContain(`value="${tenant.environment}"`);
  expect(text).not.toContain(`value="${other.environment}"`);
});
