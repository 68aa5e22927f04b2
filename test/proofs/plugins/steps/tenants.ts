import type { PluginAnswer } from '#test/support/plugins/plugin-world.ts';
import { drawWanted, isSuccess, type StepWorld } from './step.ts';

/**
 * Steps of the organizations, teams and principals on which assignments rely. The model takes over what the service has carried out: these rules are
 * not what is compared here.
 */

/** Counts a step, and takes it over if it was carried out. */
function follow(world: StepWorld, kind: string, answer: PluginAnswer, take: () => void): void {
  if (answer.status >= 500) throw new Error(`${kind}: ${answer.status} ${answer.text}`);
  world.tally.note(kind, isSuccess(answer));
  if (isSuccess(answer)) take();
}

/** Lets somebody leave an organization or a team, or join it. Those who left mostly come back, or soon nobody could be assigned anything. */
export async function changeMembership(world: StepWorld): Promise<void> {
  const { model, random, root, organizations, teams, users, accountOfUser, accountOwners } = world;
  const subject = random.pick([...users, accountOfUser.id]);
  const isOfTeam = random.chance(0.6);
  const owner = random.pick(isOfTeam ? teams : organizations);
  const isIn = model.tenants.isIn(subject, owner);
  if (isIn && random.chance(0.5)) return;
  const [organization] = model.tenants.chain(owner);
  const path = `/organizations/${organization}${isOfTeam ? `/teams/${owner}` : ''}/members/${subject}`;
  const own = subject === accountOfUser.id ? accountOwners.get(accountOfUser.owner) : undefined;
  const client = own ?? root.client;
  const level = isOfTeam ? 'a team' : 'an organization';
  if (!isIn) {
    const answer = await client.send('PUT', path, { role: 'member' });
    return follow(world, `joining ${level}`, answer, () => model.tenants.memberships.get(subject)?.add(owner));
  }
  const answer = await client.send('DELETE', path);
  follow(world, `leaving ${level}`, answer, () =>
    isOfTeam ? model.leaveTeam(subject, owner) : model.leaveOrganization(subject, owner),
  );
}

export async function changeEnablement(world: StepWorld): Promise<void> {
  const { model, random, root, users, accountOfTeam, accountOfUser, accountOwners } = world;
  const disabled = [...model.tenants.disabled];
  const isBack = disabled.length > 0 && random.chance(0.7);
  const id = isBack ? random.pick(disabled) : random.pick([...users, accountOfTeam, accountOfUser.id]);
  const enabled = model.tenants.disabled.has(id);
  const isUser = users.includes(id);
  const client = id === accountOfUser.id ? accountOwners.get(accountOfUser.owner) : root.client;
  const answer = isUser
    ? await root.client.send('PUT', `/users/${id}`, { enabled })
    : await client?.send('POST', `/service-accounts/${id}/${enabled ? 'enable' : 'disable'}`);
  if (!answer) return;
  const kind = `${enabled ? 'enabling' : 'disabling'} ${isUser ? 'a user' : 'a service account'}`;
  follow(world, kind, answer, () => (enabled ? model.tenants.disabled.delete(id) : model.disable(id)));
}

/** Another owner of a service account, whose keys are revoked. */
export async function transferAccount(world: StepWorld): Promise<void> {
  const { model, random, root, teams, accountOfTeam, accountOfUser, accountOwners } = world;
  const isOfTeam = random.chance(0.5);
  const owner = random.pick(isOfTeam ? teams : [...accountOwners.keys()]);
  const id = isOfTeam ? accountOfTeam : accountOfUser.id;
  const client = isOfTeam ? root.client : accountOwners.get(accountOfUser.owner);
  const body = { owner: isOfTeam ? { team_id: owner } : { user_id: owner } };
  const answer = await client?.send('POST', `/service-accounts/${id}/transfer`, body);
  if (!answer) return;
  follow(world, `transfer of an account of a ${isOfTeam ? 'team' : 'user'}`, answer, () => {
    model.changeAccountOwner(id, isOfTeam ? owner : null);
    if (!isOfTeam) accountOfUser.owner = owner;
  });
  if (isSuccess(answer)) world.clients.set(id, await world.openClient(id));
}

const levels = ['organization', 'team', 'project', 'environment'] as const;

function pathOf({ model }: StepWorld, level: (typeof levels)[number], id: string): string {
  if (level === 'organization') return `/organizations/${id}`;
  if (level === 'team') return `/organizations/${model.tenants.parents.get(id)}/teams/${id}`;
  return `/${level}s/${id}`;
}

export async function changeArchiving(world: StepWorld): Promise<void> {
  const { model, random, root } = world;
  // What is archived mostly comes back, or soon nothing could be used.
  const archived = [...model.tenants.archived].filter((id) => !model.tenants.isDeleted([id]));
  const level = random.pick(levels);
  const isBack = archived.length > 0 && random.chance(0.8);
  const id = isBack ? random.pick(archived) : random.pick(world[`${level}s`]);
  const own = levels.find((each) => world[`${each}s`].includes(id)) ?? level;
  const isArchived = model.tenants.archived.has(id);
  const verb = isArchived ? 'unarchive' : 'archive';
  const answer = await root.client.send('POST', `${pathOf(world, own, id)}/${verb}`, {});
  follow(world, `${verb} ${own}`, answer, () => (isArchived ? model.tenants.archived.delete(id) : model.archive(id)));
}

export async function transferTenant(world: StepWorld): Promise<void> {
  const { model, random, root, organizations, teams, projects } = world;
  const isTeam = random.chance(0.5);
  const id = random.pick(isTeam ? teams : projects);
  const owner = random.pick((isTeam ? organizations : teams).filter((each) => each !== model.tenants.parents.get(id)));
  const body = isTeam ? { organization_id: owner } : { team_id: owner };
  const path = `${pathOf(world, isTeam ? 'team' : 'project', id)}/transfer`;
  const answer = await root.client.send('POST', path, body);
  follow(world, `transfer of a ${isTeam ? 'team' : 'project'}`, answer, () => model.move(id, owner));
}

let made = 0;

/** Deletes an environment, whose resources have to be deleted before, and makes another one. */
export async function replaceEnvironment(world: StepWorld): Promise<void> {
  const { model, random, root, environments, projects } = world;
  const id = drawWanted(
    () => random.pick(environments),
    (each) => [...model.resources.values()].every(({ parent, deletedFrom }) => parent !== each || deletedFrom !== null),
  );
  if (!model.tenants.isDeleted([id])) {
    const answer = await root.command(['DELETE', `/environments/${id}`]);
    follow(world, 'deletion of an environment', answer, () => model.delete(id));
  }
  if (!model.tenants.isDeleted([id])) return;
  const project = random.pick(projects);
  made += 1;
  const body = { project_id: project, name: `Environment ${made}`, slug: `made-${made}`, kind: 'development' };
  const created = await root.client.send('POST', '/environments', body);
  follow(world, 'creation of an environment', created, () => {
    model.tenants.parents.set(created.body.id, project);
    environments.splice(environments.indexOf(id), 1, created.body.id);
  });
}
