import { openRandom } from '#test/faults/harness/random.ts';
import { addEnvironment, addKey, addServiceAccount, addTeam } from '#test/support/access/people.ts';
import type { TestApi } from '#test/support/api/in-process-api.ts';
import { PluginAdministrator, type PluginClient } from '#test/support/plugins/plugin-world.ts';
import { addUser, clientOf } from '#test/support/plugins/stage.ts';
import { PluginModel } from './model/authority.ts';
import { preparePlugin } from './steps/prepare-plugin.ts';
import type { StepWorld } from './steps/step.ts';
import { Tally } from './tally.ts';

type Places = Pick<StepWorld, 'organizations' | 'teams' | 'projects' | 'environments'>;

/** Two organizations with everything in them, those who act there, and three plugins. */
export async function makeWorld(api: TestApi, seed: number): Promise<StepWorld> {
  const model = new PluginModel();
  const places = await addPlaces(api, model);
  const administrators = await addAdministrators(api, model, places);
  const [first] = administrators.values();
  if (!first) throw new Error('there is no administrator');
  const principals = await addPrincipals(api, model, places);
  return {
    model,
    random: openRandom(seed, 'plugins'),
    tally: new Tally(),
    root: first,
    administrators,
    ...places,
    ...principals,
    openClient: async (id) => clientOf(api, await addKey({ url: '', orm: api.services.orm }, id)),
    ...(await installPlugins(first, model, places)),
  };
}

async function addPlaces(api: TestApi, { tenants: { parents } }: PluginModel): Promise<Places> {
  const { orm } = api.services;
  const one = await addTeam(orm);
  const other = await addTeam(orm);
  const teams = [one.teamId, (await addTeam(orm, one.organizationId)).teamId, other.teamId];
  const [projects, environments]: [string[], string[]] = [[], []];
  for (const [index, team] of teams.entries()) {
    const { projectId, environmentId } = await addEnvironment(orm, team);
    projects.push(projectId);
    environments.push(environmentId);
    parents.set(team, index === 2 ? other.organizationId : one.organizationId);
    parents.set(projectId, team);
    parents.set(environmentId, projectId);
  }
  return { organizations: [one.organizationId, other.organizationId], teams, projects, environments };
}

/** Those who administer everything, an organization, and a team, in this order. */
async function addAdministrators(api: TestApi, { tenants }: PluginModel, { organizations, teams }: Places) {
  const [organization = '', other = ''] = organizations;
  const [team = ''] = teams;
  const added = [
    { scope: null, ...(await addUser(api, 'admin')) },
    { scope: organization, ...(await addUser(api, 'maintainer', { organizations: { [organization]: 'admin' } })) },
    {
      scope: team,
      ...(await addUser(api, 'maintainer', {
        organizations: { [organization]: 'member', [other]: 'member' },
        teams: { [team]: 'admin' },
      })),
    },
  ];
  for (const { id, scope } of added) tenants.administrators.set(id, scope);
  tenants.memberships.set(added[1]?.id ?? '', new Set([organization]));
  tenants.memberships.set(added[2]?.id ?? '', new Set([organization, other, team]));
  return new Map(added.map(({ id, client }) => [id, new PluginAdministrator(client)]));
}

async function addPrincipals(api: TestApi, { tenants }: PluginModel, { organizations, teams }: Places) {
  const clients = new Map<string, PluginClient>();
  const belongs = [
    [...organizations, ...teams],
    [...organizations, ...teams],
    [...organizations, ...teams.slice(0, 1)],
    organizations.slice(0, 1),
  ];
  for (const owners of belongs) {
    const { id, client } = await addUser(api, 'requester', toMemberships(owners, teams));
    clients.set(id, client);
    tenants.memberships.set(id, new Set(owners));
  }
  const users = [...clients.keys()];
  const api2 = { url: '', orm: api.services.orm };
  const [team = ''] = teams;
  const ofTeam = await addServiceAccount(api2, 'requester', {}, { teamId: team });
  tenants.accounts.set(ofTeam.id, team);
  const accountOwners = new Map<string, PluginClient>();
  const administrative = Object.fromEntries(organizations.map((id) => [id, 'admin' as const]));
  for (let count = 0; count < 2; count += 1) {
    const { id, client } = await addUser(api, 'maintainer', { organizations: administrative });
    accountOwners.set(id, client);
  }
  const [owner = ''] = accountOwners.keys();
  const owned = [...organizations, team];
  const ofUser = await addServiceAccount(api2, 'requester', toMemberships(owned, teams), { userId: owner });
  tenants.memberships.set(ofUser.id, new Set(owned));
  for (const account of [ofTeam, ofUser]) clients.set(account.id, clientOf(api, account));
  return { users, clients, accountOfTeam: ofTeam.id, accountOfUser: { id: ofUser.id, owner }, accountOwners };
}

function toMemberships(owners: readonly string[], teams: readonly string[]) {
  const as = (isTeam: boolean) =>
    Object.fromEntries(owners.filter((id) => teams.includes(id) === isTeam).map((id) => [id, 'member' as const]));
  return { teams: as(true), organizations: as(false) };
}

/** One plugin of each organization, and one of the first team. */
async function installPlugins(root: PluginAdministrator, model: PluginModel, { organizations, teams }: Places) {
  const [organization = ''] = organizations;
  const [team = ''] = teams;
  const ofTeam = { organization_id: organization, team_id: team, team_revision: 1 };
  const plugins: string[] = [await root.install({ team_id: team }, ofTeam)];
  for (const id of organizations) plugins.push(await root.install({ organization_id: id }, { organization_id: id }));
  const actions = new Map<string, string>();
  for (const [index, plugin] of plugins.entries())
    await preparePlugin({ root, model, actions }, plugin, [team, ...organizations][index] ?? '');
  return { plugins, actions };
}
