import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRandom } from '#test/faults/harness/random.ts';
import { addEnvironment, addServiceAccount, addTeam } from '#test/support/access/people.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { manifestOf, PluginAdministrator, type PluginClient } from '#test/support/plugins/plugin-world.ts';
import { carryOutRestorations, noRoots } from '#test/support/plugins/restoring.ts';
import { addUser, clientOf } from '#test/support/plugins/stage.ts';
import { mayContinue, narrowCeiling, type PlaceType, PluginModel, type Release } from './plugin-model.ts';
import { type PluginStepWorld, steps } from './plugin-steps.ts';

/** 100,000 steps by `npm run test:proofs`, fewer by `npm test`. */
const count = process.env['PROOFS'] === 'all' ? 100_000 : 700;
const seed = Number(process.env['PROOFS_SEED'] ?? 16);

const everywhere: readonly PlaceType[] = [
  ...(['resource', 'project', 'environment', 'team'] as const),
  ...(['organization', 'organization_descendants'] as const),
];
const releases: Readonly<Record<string, Release>> = {
  '1.0.0': { actions: { 'zone.sync': everywhere, 'zone.read': ['team', 'resource'] }, declaresZones: true },
  '2.0.0': { actions: { 'zone.sync': everywhere }, declaresZones: true },
  '3.0.0': { actions: { 'zone.sync': everywhere, 'zone.read': ['team', 'resource'] }, declaresZones: false },
};
const manifests = [
  manifestOf('1.0.0'),
  manifestOf('2.0.0', { actions: [{ name: 'zone.sync', selectors: everywhere, effects: [] }] }),
  manifestOf('3.0.0', { resources: [] }),
];

let api: TestApi;
let engine: { stop(): Promise<void> };
let world: PluginStepWorld;

beforeAll(async () => {
  api = await startApi({ COORDINATOR_REQUESTS_PER_PRINCIPAL: '0', COORDINATOR_REQUESTS_PER_ADDRESS: '0' });
  const { orm, transactions, installation } = api.services;
  engine = carryOutRestorations({ orm, transactions, bindingKey: installation.bindingKey, pluginRoots: noRoots });
  world = await makeWorld();
}, 60_000);
afterAll(async () => {
  await engine?.stop();
  await api?.close();
});

async function makeWorld(): Promise<PluginStepWorld> {
  const { orm } = api.services;
  const root = new PluginAdministrator((await addUser(api, 'admin')).client);
  const { organizationId: organization, teamId: first } = await addTeam(orm);
  const teams = [first, (await addTeam(orm, organization)).teamId];
  const places = [await addEnvironment(orm, teams[0]!), await addEnvironment(orm, teams[1]!)];
  const projects = places.map(({ projectId }) => projectId);
  const environments = places.map(({ environmentId }) => environmentId);
  const model = new PluginModel(organization, releases);
  for (const team of teams) model.parents.set(team, organization);
  for (const [index, project] of projects.entries()) model.parents.set(project, teams[index]!);
  for (const [index, environment] of environments.entries()) model.parents.set(environment, projects[index]!);
  const clients = new Map<string, PluginClient>();
  for (const memberships of [teams, teams, [first], []]) {
    const roles = Object.fromEntries(memberships.map((id) => [id, 'member' as const]));
    const { id, client } = await addUser(api, 'requester', {
      teams: roles,
      organizations: { [organization]: 'member' },
    });
    clients.set(id, client);
    model.memberships.set(id, new Set(memberships));
  }
  const users = [...clients.keys()];
  const account = await addServiceAccount({ url: '', orm }, 'requester', {}, { teamId: first });
  clients.set(account.id, clientOf(api, account));
  model.accounts.set(account.id, first);
  const { plugins, actions } = await installPlugins(root, model, { organization, team: first });
  const random = openRandom(seed, 'plugins');
  return {
    model,
    random,
    root,
    organization,
    teams,
    projects,
    environments,
    users,
    clients,
    plugins,
    actions,
    releases: Object.keys(releases),
  };
}

/** One plugin of the organization, and one of its first team. */
async function installPlugins(
  root: PluginAdministrator,
  model: PluginModel,
  place: { organization: string; team: string },
) {
  const { organization, team } = place;
  const ofTeam = { organization_id: organization, team_id: team, team_revision: 1 };
  const plugins: string[] = [
    await root.install({ organization_id: organization }, { organization_id: organization }),
    await root.install({ team_id: team }, ofTeam),
  ];
  const actions = new Map<string, string>();
  for (const [index, plugin] of plugins.entries()) {
    for (const manifest of manifests) await root.stage(plugin, manifest);
    await root.activate(plugin, '1.0.0');
    model.plugins.set(plugin, {
      owner: index === 0 ? organization : team,
      release: '1.0.0',
      ceiling: null,
      activation: 1,
    });
    for (const name of ['zone.sync', 'zone.read']) actions.set(`${plugin} ${name}`, await root.actionId(plugin, name));
  }
  return { plugins, actions };
}

describe('the model of plugin authority', () => {
  it(`agrees with the service over ${count} steps (seed ${seed})`, { timeout: 7_200_000 }, async () => {
    const all = steps.flatMap(([weight, step]) => Array.from({ length: weight }, () => step));
    for (let taken = 0; taken < count; taken += 1) {
      const step = world.random.pick(all);
      await step(world).catch((error: unknown) => {
        throw new Error(`step ${taken}, ${step.name}, seed ${seed}`, { cause: error });
      });
    }
    // The steps have not only met refusals.
    const { uses, grants: made } = world.model;
    console.log(`${made.length} assignments, ${uses} uses allowed`);
    expect(made.length).toBeGreaterThan(count / 100);
    expect(uses).toBeGreaterThan(count / 100);
    const { grants } = await world.root.read('/plugin-action-grants?limit=200');
    const alive = new Set(world.model.grants.filter(({ isAlive }) => isAlive).map(({ id }) => id));
    for (const { id, in_force: isInForce, ended } of grants)
      expect([id, isInForce, ended?.code], ended?.message).toEqual([id, alive.has(id), ended?.code]);
  });

  it('lets an admitted data operation finish after its permission was removed, and admits no new one', () => {
    expect(mayContinue({ isAdmitted: true }, false)).toBe(true);
    expect(mayContinue({ isAdmitted: false }, false)).toBe(false);
    expect(mayContinue({ isAdmitted: false }, true)).toBe(true);
  });

  it('lets a child invocation narrow the ceiling of its parent, and never widen it', () => {
    const random = openRandom(seed, 'ceilings');
    const actions = Array.from({ length: 12 }, (_, index) => `action.${index}`);
    for (let round = 0; round < 1000; round += 1) {
      const draw = () => actions.filter(() => random.whole(0, 1) === 1);
      const [parent, child, grandchild] = [draw(), draw(), draw()];
      const narrowed = narrowCeiling(parent, child);
      expect(narrowed.every((action) => parent.includes(action))).toBe(true);
      expect(narrowCeiling(narrowed, grandchild).every((action) => narrowed.includes(action))).toBe(true);
      expect(narrowCeiling(parent, parent)).toEqual(parent);
    }
  });
});
