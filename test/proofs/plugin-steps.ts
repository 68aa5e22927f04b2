import type { Random } from '#test/faults/harness/random.ts';
import type { PluginAdministrator, PluginClient } from '#test/support/plugins/plugin-world.ts';
import type { ModelPlace, PluginModel } from './plugin-model.ts';

/** What the steps are taken in. */
export interface PluginStepWorld {
  readonly model: PluginModel;
  readonly random: Random;
  readonly root: PluginAdministrator;
  readonly organization: string;
  readonly teams: readonly string[];
  readonly projects: readonly string[];
  readonly environments: readonly string[];
  readonly users: readonly string[];
  readonly clients: ReadonlyMap<string, PluginClient>;
  readonly plugins: readonly string[];
  readonly actions: ReadonlyMap<string, string>;
  readonly releases: readonly string[];
}

/** A disagreement between the service and the model. */
export class Disagreement extends Error {}

function expectSame(what: string, service: unknown, model: unknown): void {
  if (service !== model) throw new Disagreement(`${what}: the service says ${service}, the model ${model}`);
}

const isSuccess = (status: number) => status >= 200 && status < 300;

export type Step = (world: PluginStepWorld) => Promise<void>;

function drawPlace({ random, organization, teams, projects, environments, model }: PluginStepWorld): ModelPlace {
  const resources = [...model.resources.keys()].slice(-6);
  const kinds: ModelPlace[] = [
    { type: 'organization', id: organization },
    { type: 'organization_descendants', id: organization },
    { type: 'team', id: random.pick(teams) },
    { type: 'project', id: random.pick(projects) },
    { type: 'environment', id: random.pick(environments) },
    ...(resources.length > 0 ? [{ type: 'resource', id: random.pick(resources) } as const] : []),
  ];
  return random.pick(kinds);
}

function drawSubject({ random, users, model }: PluginStepWorld): { type: string; id: string } {
  const backgrounds = [...model.backgrounds.keys()].slice(-4);
  const id = random.pick([...users, ...model.accounts.keys(), ...backgrounds]);
  if (model.backgrounds.has(id)) return { type: 'background_principal', id };
  return { type: model.accounts.has(id) ? 'service_account' : 'user', id };
}

const names = ['zone.sync', 'zone.read'];

/** The names of both sides, for a message. */
const describe = (plugin: string, action: string, subject: string, place: ModelPlace) =>
  `${action} of ${plugin} for ${subject} at ${place.type} ${place.id}`;

/** Mostly what somebody was assigned, whether or not that has ended. */
function drawQuestion(world: PluginStepWorld) {
  const { model, random, clients, plugins } = world;
  const assigned = model.grants.slice(-20).filter(({ subject }) => clients.has(subject));
  const grant = assigned.length > 0 && random.whole(0, 3) > 0 ? random.pick(assigned) : undefined;
  const [subject, client] = random.pick([...clients].filter(([id]) => grant === undefined || id === grant.subject));
  const isElsewhere = grant === undefined || random.whole(0, 3) === 0;
  const place = isElsewhere ? drawPlace(world) : grant.place;
  const { plugin, action } = grant ?? { plugin: random.pick(plugins), action: random.pick(names) };
  return { subject, client, plugin, action, place };
}

async function takeCheck(world: PluginStepWorld): Promise<void> {
  const { model, actions } = world;
  const { subject, client, plugin, action, place } = drawQuestion(world);
  const id = actions.get(`${plugin} ${action}`);
  const answer = await client.send('POST', `/plugin-actions/${id}/check`, { selector: place });
  const what = describe(plugin, action, subject, place);
  if (model.disabled.has(subject)) return expectSame(what, answer.status, 401);
  if (!model.mayAsk(subject, plugin, action, place)) return expectSame(what, answer.status, 400);
  if (!model.isInstalledFor(plugin, place)) return expectSame(what, answer.status, 404);
  expectSame(what, answer.body?.allowed, model.mayUse(subject, plugin, action, place));
}

async function takeAssignment(world: PluginStepWorld): Promise<void> {
  const { model, random, root, plugins, actions } = world;
  const [plugin, action, place] = [random.pick(plugins), random.pick(names), drawPlace(world)];
  const subject = drawSubject(world);
  const id = actions.get(`${plugin} ${action}`) ?? '';
  const review = await root.client.send('POST', `/plugin-actions/${id}/grant-review`, { selector: place });
  const what = `the assignment of ${describe(plugin, action, subject.id, place)}`;
  const isExpected = model.mayAssign(subject.id, plugin, action, place);
  if (!isSuccess(review.status)) return expectSame(what, false, isExpected);
  const body = {
    action_id: id,
    subject,
    selector: place,
    expected_installation_revision: review.body.installation_revision,
    expected_action_revision: review.body.action_revision,
    expected_ownership: review.body.ownership,
  };
  const answer = await root.command(['POST', '/plugin-action-grants'], body);
  expectSame(`${what} (${answer.text})`, isSuccess(answer.status), isExpected);
  if (isExpected) model.assign(answer.body.id, subject.id, plugin, action, place);
}

async function takeRevocation({ model, random, root, actions }: PluginStepWorld): Promise<void> {
  const grant = model.grants.length > 0 ? random.pick(model.grants.slice(-20)) : undefined;
  const isThere = grant && model.grants.filter(({ id }) => id === grant.id);
  if (!grant || !isThere) return;
  const { plugin, action, place } = grant;
  const path = `/plugin-actions/${actions.get(`${plugin} ${action}`)}/grant-review`;
  const review = await root.client.send('POST', path, { selector: place });
  if (!isSuccess(review.status)) return;
  const body = { expected_revision: 1, expected_ownership: review.body.ownership };
  const answer = await root.command(['DELETE', `/plugin-action-grants/${grant.id}`], body);
  if (isSuccess(answer.status)) model.revoke(grant.id);
}

async function takeMembership({ model, random, root, organization, users, teams }: PluginStepWorld): Promise<void> {
  const [user, team] = [random.pick(users), random.pick(teams)];
  const path = `/organizations/${organization}/teams/${team}/members/${user}`;
  const isMember = model.memberships.get(user)?.has(team);
  const answer = isMember
    ? await root.command(['DELETE', path])
    : await root.command(['PUT', path], { role: 'member' });
  if (!isSuccess(answer.status)) return;
  if (isMember) model.leave(user, team);
  else model.join(user, team);
}

async function takeEnablement({ model, random, root, users }: PluginStepWorld): Promise<void> {
  const disabled = [...model.disabled];
  const user = disabled.length > 0 && random.whole(0, 3) > 0 ? random.pick(disabled) : random.pick(users);
  const enabled = model.disabled.has(user);
  const answer = await root.command(['PUT', `/users/${user}`], { enabled });
  expectSame(`turning ${user} (${answer.text})`, answer.status, 200);
  if (enabled) model.enable(user);
  else model.disable(user);
}

async function takeArchiving({
  model,
  random,
  root,
  organization,
  teams,
  environments,
}: PluginStepWorld): Promise<void> {
  // What is archived mostly comes back, or soon nothing could be used.
  const archived = [...model.archived];
  const id =
    archived.length > 0 && random.whole(0, 3) > 0 ? random.pick(archived) : random.pick([...teams, ...environments]);
  const isTeam = teams.includes(id);
  const path = isTeam ? `/organizations/${organization}/teams/${id}` : `/environments/${id}`;
  const isArchived = model.archived.has(id);
  const answer = await root.command(['POST', `${path}/${isArchived ? 'unarchive' : 'archive'}`], {});
  if (!isSuccess(answer.status)) return;
  if (isArchived) model.unarchive(id);
  else model.archive(id);
}

async function takeMove({ model, random, root, projects, teams }: PluginStepWorld): Promise<void> {
  const [project, team] = [random.pick(projects), random.pick(teams)];
  const answer = await root.command(['POST', `/projects/${project}/transfer`], { team_id: team });
  if (isSuccess(answer.status)) model.move(project, team);
}

async function takeActivation({ model, random, root, plugins, releases }: PluginStepWorld): Promise<void> {
  const [plugin, release] = [random.pick(plugins), random.pick(releases)];
  const path = `/plugin-installations/${plugin}`;
  const answer = await root.command(['POST', `${path}/activate`], { release, ...(await root.stateOf(path)) });
  if (isSuccess(answer.status)) model.activate(plugin, release);
}

async function takeCeiling({ model, random, root, plugins }: PluginStepWorld): Promise<void> {
  const plugin = random.pick(plugins);
  const actions = names.filter((name) => random.whole(0, name === 'zone.sync' ? 7 : 2) > 0);
  const answer = await root.replaceCeiling(plugin, { actions, executions: [] });
  if (isSuccess(answer.status)) model.replaceCeiling(plugin, actions);
}

async function takeResource(world: PluginStepWorld): Promise<void> {
  const { model, random, root, plugins, environments, actions } = world;
  const known = [...model.resources.keys()].slice(-6);
  const id = known.length > 0 ? random.pick(known) : undefined;
  if (id === undefined || random.whole(0, 5) === 0) {
    const [plugin, environment] = [random.pick(plugins), random.pick(environments)];
    const selector = { type: 'environment', id: environment };
    const path = `/plugin-actions/${actions.get(`${plugin} zone.sync`)}/grant-review`;
    const review = await root.client.send('POST', path, { selector });
    if (!isSuccess(review.status)) return;
    const key = `zone-${random.whole(1, 3)}`;
    const body = {
      installation_id: plugin,
      type: 'zone',
      name: key,
      key,
      environment_id: environment,
      expected_ownership: review.body.ownership,
    };
    const answer = await root.command(['POST', '/plugin-resources'], body);
    if (isSuccess(answer.status))
      model.resources.set(answer.body.id, { plugin, parent: environment, key, deletedFrom: null });
    return;
  }
  const path = `/plugin-resources/${id}`;
  const state = await root.stateOf(path);
  if (model.resources.get(id)?.deletedFrom === null) {
    const answer = await root.command(['DELETE', path], state);
    expectSame(`the deletion of ${id} (${answer.text})`, answer.status, 200);
    model.deleteResource(id);
    return;
  }
  const isExpected = model.mayRestore(id);
  const answer = await root.command(['POST', `${path}/restore`], state);
  expectSame(`the restoration of ${id} (${answer.text})`, isSuccess(answer.status), isExpected);
  if (isExpected) model.restore(id);
}

async function takeBackground(world: PluginStepWorld): Promise<void> {
  const { model, random, root, plugins, actions } = world;
  const known = [...model.backgrounds.keys()].slice(-4);
  const [plugin, place] = [random.pick(plugins), drawPlace(world)];
  const id = known.length > 0 && random.whole(0, 2) === 0 ? random.pick(known) : undefined;
  const asked = id === undefined ? { plugin, place } : model.backgrounds.get(id);
  const path = `/plugin-actions/${actions.get(`${asked?.plugin} zone.sync`)}/grant-review`;
  const review = await root.client.send('POST', path, { selector: asked?.place });
  if (!isSuccess(review.status)) return;
  const expected_ownership = review.body.ownership;
  if (id !== undefined) {
    const body = { expected_revision: 1, expected_ownership };
    const answer = await root.command(['DELETE', `/plugin-background-principals/${id}`], body);
    if (isSuccess(answer.status)) model.revokeBackground(id);
    return;
  }
  const expected_installation_revision = review.body.installation_revision;
  const body = {
    installation_id: plugin,
    name: 'Nightly',
    selector: place,
    expected_installation_revision,
    expected_ownership,
  };
  const answer = await root.command(['POST', '/plugin-background-principals'], body);
  if (isSuccess(answer.status)) model.backgrounds.set(answer.body.id, { plugin, place, isAlive: true });
}

/** Every step, as often as it is drawn in a hundred. */
export const steps: readonly (readonly [weight: number, step: Step])[] = [
  [50, takeCheck],
  [25, takeAssignment],
  [3, takeRevocation],
  [2, takeMembership],
  [3, takeEnablement],
  [4, takeArchiving],
  [1, takeMove],
  [1, takeActivation],
  [5, takeCeiling],
  [3, takeResource],
  [3, takeBackground],
];
