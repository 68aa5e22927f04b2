import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '#api/operations.ts';
import type { Operation } from '#api/pipeline/operation.ts';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { listDeclared } from '#test/support/areas/declared.ts';
import { noOwnership } from '#test/support/plugins/plugin-world.ts';

/**
 * Owners that a body names. A missing one and one that is hidden from the caller get the same response: 403 for people, 422 if the path
 * already names the owner, and else 404.
 */
interface NamedOwner {
  readonly operation: string;
  readonly field: string;
  readonly status: 403 | 404 | 422;
  readonly names: (world: World) => string;
  readonly send: (caller: ApiUser, world: World, id: string) => [path: string, body: object];
}

interface World extends Tenant {
  readonly template: string;
  readonly account: string;
  readonly assembly: string;
}

let api: TestApi;
let own: World;
let foreign: World;

beforeAll(async () => {
  api = await startApi();
  [own, foreign] = [await makeWorld(), await makeWorld()];
});
afterAll(() => api?.close());

async function makeWorld(): Promise<World> {
  const tenant = await makeTenant(api);
  const { owner, team } = tenant;
  const template = await owner.make('/registry/templates', { name: 'Network', team_id: team });
  const executor = { kind: 'command', apply: [{ name: 'go', run: ['true'] }] };
  await owner.make(`/registry/templates/${template.id}/versions`, { version: '1.0.0', spec: { executor } });
  const account = await owner.make('/service-accounts', {
    name: 'deploy',
    role: 'requester',
    owner: { user_id: owner.id },
  });
  const assembly = await owner.make('/assemblies', { name: 'Landscape', team_id: team });
  return { ...tenant, template: template.id, account: account.id, assembly: assembly.id };
}

const organization = (world: World) => world.organization;
const team = (world: World) => world.team;
const environment = (world: World) => world.environment;
const person = (world: World) => world.owner.id;
const channel = { name: 'Chat', kind: 'slack', config: { url: 'http://127.0.0.9:9/' } };
const connection = { name: 'New', kind: 'generic', credentials: { variables: { TOKEN: 'kept' } } };
const account = { name: 'ci', role: 'requester' };
const owned = { expected_ownership: noOwnership };
const zone = () => ({ installation_id: randomUUID(), type: 'zone', name: 'New', key: 'new', ...owned });

const named: NamedOwner[] = [
  ...listDeclared('namedOwners').map(
    (each): NamedOwner => ({
      ...each,
      names: (world) => world[each.names],
      send: (_caller, world, id) => each.send(world, id),
    }),
  ),
  {
    operation: 'organizations.transfer',
    field: 'new_owner_user_id',
    status: 403,
    names: person,
    send: (_caller, world, id) => [`/organizations/${world.organization}/transfer`, { new_owner_user_id: id }],
  },
  {
    operation: 'teams.transfer',
    field: 'organization_id',
    status: 404,
    names: organization,
    send: (_caller, world, id) => [`${world.teamPath}/transfer`, { organization_id: id }],
  },
  {
    operation: 'organization_invitations.create',
    field: 'team_id',
    status: 404,
    names: team,
    send: (_caller, world, id) => [
      `/organizations/${world.organization}/invitations`,
      { email: `${randomUUID()}@example.com`, team_id: id },
    ],
  },
  {
    operation: 'projects.create',
    field: 'team_id',
    status: 404,
    names: team,
    send: (_caller, _world, id) => ['/projects', { team_id: id, name: 'New' }],
  },
  {
    operation: 'projects.transfer',
    field: 'team_id',
    status: 404,
    names: team,
    send: (_caller, world, id) => [`/projects/${world.project}/transfer`, { team_id: id }],
  },
  {
    operation: 'environments.create',
    field: 'project_id',
    status: 404,
    names: (world) => world.project,
    send: (_caller, _world, id) => ['/environments', { project_id: id, name: 'New', kind: 'development' }],
  },
  {
    operation: 'templates.create',
    field: 'team_id',
    status: 404,
    names: team,
    send: (_caller, _world, id) => ['/registry/templates', { team_id: id, name: 'New' }],
  },
  {
    operation: 'templates.propose_spec',
    field: 'team_id',
    status: 404,
    names: team,
    send: (_caller, _world, id) => ['/registry/spec-proposals', { team_id: id, files: { 'main.tf': '' } }],
  },
  {
    operation: 'assemblies.create',
    field: 'team_id',
    status: 404,
    names: team,
    send: (_caller, _world, id) => ['/assemblies', { team_id: id, name: 'New' }],
  },
  {
    operation: 'connections.create',
    field: 'organization_id',
    status: 404,
    names: organization,
    send: (_caller, _world, id) => ['/admin/connections', { ...connection, organization_id: id }],
  },
  {
    operation: 'connections.create',
    field: 'team_id',
    status: 404,
    names: team,
    send: (_caller, _world, id) => ['/admin/connections', { ...connection, team_id: id }],
  },
  {
    operation: 'connections.create',
    field: 'project_id',
    status: 404,
    names: (world) => world.project,
    send: (_caller, _world, id) => ['/admin/connections', { ...connection, project_id: id }],
  },
  {
    operation: 'notification_channels.create',
    field: 'team_id',
    status: 404,
    names: team,
    send: (_caller, _world, id) => ['/admin/notification-channels', { ...channel, team_id: id }],
  },
  {
    operation: 'notification_channels.create',
    field: 'project_id',
    status: 404,
    names: (world) => world.project,
    send: (_caller, _world, id) => ['/admin/notification-channels', { ...channel, project_id: id }],
  },
  {
    operation: 'notification_channels.create',
    field: 'organization_id',
    status: 404,
    names: (world) => world.organization,
    send: (_caller, _world, id) => ['/admin/notification-channels', { ...channel, organization_id: id }],
  },
  {
    operation: 'plugin_installations.create',
    field: 'organization_id',
    status: 404,
    names: organization,
    send: (_caller, _world, id) => ['/plugin-installations', { name: 'New', organization_id: id, ...owned }],
  },
  {
    operation: 'plugin_installations.create',
    field: 'team_id',
    status: 404,
    names: team,
    send: (_caller, _world, id) => ['/plugin-installations', { name: 'New', team_id: id, ...owned }],
  },
  {
    operation: 'plugin_resources.create',
    field: 'team_id',
    status: 404,
    names: team,
    send: (_caller, _world, id) => ['/plugin-resources', { ...zone(), team_id: id }],
  },
  {
    operation: 'plugin_resources.create',
    field: 'project_id',
    status: 404,
    names: (world) => world.project,
    send: (_caller, _world, id) => ['/plugin-resources', { ...zone(), project_id: id }],
  },
  {
    operation: 'plugin_resources.create',
    field: 'environment_id',
    status: 404,
    names: environment,
    send: (_caller, _world, id) => ['/plugin-resources', { ...zone(), environment_id: id }],
  },
  {
    operation: 'instances.create',
    field: 'template_id',
    status: 404,
    names: (world) => world.template,
    send: (_caller, world, id) => ['/instances', { environment_id: world.environment, template_id: id, name: 'new' }],
  },
  {
    operation: 'instances.create',
    field: 'environment_id',
    status: 404,
    names: environment,
    send: (_caller, world, id) => ['/instances', { environment_id: id, template_id: world.template, name: 'new' }],
  },
  {
    operation: 'runs.create',
    field: 'template_id',
    status: 404,
    names: (world) => world.template,
    send: (_caller, world, id) => ['/runs', { template_id: id, environment_id: world.environment }],
  },
  {
    operation: 'runs.create',
    field: 'environment_id',
    status: 404,
    names: environment,
    send: (_caller, world, id) => ['/runs', { template_id: world.template, environment_id: id }],
  },
  ...(['publish', 'check'] as const).map((verb) => ({
    operation: `template_versions.${verb}`,
    field: 'check_environment_id',
    status: 404 as const,
    names: environment,
    send: (_caller: ApiUser, world: World, id: string): [string, object] => [
      `/registry/templates/${world.template}/versions${verb === 'check' ? '/check' : ''}`,
      {
        ...(verb === 'publish' && { version: '2.0.0' }),
        spec: { executor: { kind: 'command', apply: [{ name: 'go', run: ['true'] }] } },
        check_environment_id: id,
      },
    ],
  })),
  {
    operation: 'template_versions.run',
    field: 'environment_id',
    status: 404,
    names: environment,
    send: (_caller, world, id) => [`/registry/templates/${world.template}/versions/1.0.0/runs`, { environment_id: id }],
  },
  {
    operation: 'drift_monitors.create',
    field: 'environment_id',
    status: 404,
    names: environment,
    send: (_caller, _world, id) => ['/drift-monitors', { environment_id: id, schedule: { every: 'PT6H' } }],
  },
  {
    operation: 'drift_monitors.create',
    field: 'template_id',
    status: 404,
    names: (world) => world.template,
    send: (_caller, _world, id) => ['/drift-monitors', { template_id: id, schedule: { every: 'PT6H' } }],
  },
  {
    operation: 'assemblies.run',
    field: 'environment_id',
    status: 422,
    names: environment,
    send: (_caller, world, id) => [`/assemblies/${world.assembly}/runs`, { environment_id: id }],
  },
  {
    operation: 'service_accounts.create',
    field: 'owner.team_id',
    status: 404,
    names: team,
    send: (_caller, _world, id) => ['/service-accounts', { ...account, owner: { team_id: id } }],
  },
  {
    operation: 'service_accounts.create',
    field: 'owner.user_id',
    status: 403,
    names: person,
    send: (_caller, _world, id) => ['/service-accounts', { ...account, owner: { user_id: id } }],
  },
  {
    operation: 'service_accounts.transfer',
    field: 'owner.team_id',
    status: 404,
    names: team,
    send: (_caller, world, id) => [`/service-accounts/${world.account}/transfer`, { owner: { team_id: id } }],
  },
  {
    operation: 'service_accounts.transfer',
    field: 'owner.user_id',
    status: 403,
    names: person,
    send: (_caller, world, id) => [`/service-accounts/${world.account}/transfer`, { owner: { user_id: id } }],
  },
];

const codes = { 403: 'permission_denied', 404: 'not_found', 422: 'environment_unknown' };

describe('a body that names an owner', () => {
  it.each(named.map((each) => [each.operation, each.field, each] as const))(
    'with a missing or a hidden owner gets the same response from %s (%s)',
    async (_operation, _field, { status, names, send }) => {
      const ask = async (id: string) => {
        const [path, body] = send(own.owner, own, id);
        const answer = await own.owner.post(path, body, { 'idempotency-key': randomUUID() });
        return { status: answer.status, code: answer.headers['x-error-code'], error: answer.body.error };
      };
      const missing = await ask('019aa5c2-7d31-7cc4-9c55-0d6a1f6c8b11');
      expect(missing).toMatchObject({ status, code: codes[status] });
      expect(await ask(names(foreign))).toEqual(missing);
    },
  );

  it('is tested for every operation that has such a body', () => {
    const owners =
      /^(organization|team|project|environment|check_environment|template|user|new_owner_user)_id$|^owner$/;
    // A body that may be left out has its shape inside its default.
    const shapeOf = ({ body }: Operation): object => Object(Object(body).shape ?? Object(body).def?.innerType?.shape);
    const found = operations.flatMap((operation) =>
      Object.keys(shapeOf(operation))
        .filter((field) => owners.test(field))
        .map((field) => `${operation.id} ${field}`),
    );
    const listed = named.map(({ operation, field }) => `${operation} ${field.split('.')[0]}`);
    expect([...new Set(found)].sort()).toEqual([...new Set(listed)].sort());
  });
});
