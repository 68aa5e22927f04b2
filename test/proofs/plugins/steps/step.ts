import type { Random } from '#test/faults/harness/random.ts';
import type { PluginAdministrator, PluginAnswer, PluginClient } from '#test/support/plugins/plugin-world.ts';
import type { Assignment, PluginModel } from '../model/authority.ts';
import type { ModelPlace } from '../model/tenants.ts';
import type { Tally } from '../tally.ts';

/** What the steps are taken in. */
export interface StepWorld {
  readonly model: PluginModel;
  readonly random: Random;
  readonly tally: Tally;
  /** An administrator of everything. */
  readonly root: PluginAdministrator;
  /** Those who administer plugins: everything, an organization, or a team. */
  readonly administrators: ReadonlyMap<string, PluginAdministrator>;
  readonly organizations: readonly string[];
  readonly teams: readonly string[];
  readonly projects: readonly string[];
  readonly environments: string[];
  readonly users: readonly string[];
  readonly accountOfTeam: string;
  /** A service account that a user owns, with whoever owns it now, and who may. */
  readonly accountOfUser: { readonly id: string; owner: string };
  readonly accountOwners: ReadonlyMap<string, PluginClient>;
  /** Those who use actions, with their clients. */
  readonly clients: Map<string, PluginClient>;
  /** Gives a service account a new key. */
  readonly openClient: (account: string) => Promise<PluginClient>;
  readonly plugins: string[];
  readonly actions: Map<string, string>;
}

export type Step = (world: StepWorld) => Promise<void>;

/** A disagreement between the service and the model. */
class Disagreement extends Error {}

export function expectSame(what: string, service: unknown, model: unknown): void {
  if (service !== model) throw new Disagreement(`${what}: the service says ${service}, the model ${model}`);
}

export const isSuccess = ({ status }: PluginAnswer) => status >= 200 && status < 300;

/** Compares a command's answer with what the model expects, and counts it. Answers whether it was carried out. */
export function judge(world: StepWorld, kind: string, answer: PluginAnswer, isExpected: boolean): boolean {
  // A disagreement of the service with itself is no refusal.
  if (answer.status >= 500) throw new Disagreement(`${kind}: ${answer.status} ${answer.text}`);
  expectSame(`${kind} (${answer.text})`, isSuccess(answer), isExpected);
  world.tally.note(kind, isExpected);
  return isExpected;
}

export const actionNames = ['zone.sync', 'zone.read'] as const;

const recent = 8;

export function drawPlace({ random, organizations, teams, projects, environments, model }: StepWorld): ModelPlace {
  const resources = [...model.resources.keys()].slice(-recent);
  const kinds: readonly (() => ModelPlace)[] = [
    () => ({ type: 'organization', id: random.pick(organizations) }),
    () => ({ type: 'organization_descendants', id: random.pick(organizations) }),
    () => ({ type: 'team', id: random.pick(teams) }),
    () => ({ type: 'project', id: random.pick(projects) }),
    () => ({ type: 'environment', id: random.pick(environments) }),
    ...(resources.length > 0 ? [() => ({ type: 'resource', id: random.pick(resources) }) as const] : []),
  ];
  return random.pick(kinds)();
}

function drawSubject({ random, clients, model }: StepWorld): string {
  const backgrounds = [...model.backgrounds].filter(([, { isRevoked }]) => !isRevoked).map(([id]) => id);
  if (backgrounds.length > 0 && random.chance(0.3)) return random.pick(backgrounds.slice(-recent));
  return random.pick([...clients.keys()]);
}

export function subjectOf({ model, accountOfTeam, accountOfUser }: StepWorld, id: string) {
  if (model.backgrounds.has(id)) return { type: 'background_principal', id };
  return { type: id === accountOfTeam || id === accountOfUser.id ? 'service_account' : 'user', id };
}

export function drawAssignment(world: StepWorld): Assignment {
  const { random, plugins } = world;
  return {
    subject: drawSubject(world),
    plugin: random.pick(plugins),
    action: random.pick(actionNames),
    place: drawPlace(world),
  };
}

/** Draws until something is as wanted, as often as is sensible. */
export function drawWanted<Drawn>(draw: () => Drawn, isWanted: (drawn: Drawn) => boolean): Drawn {
  for (let tries = 0; tries < 30; tries += 1) {
    const drawn = draw();
    if (isWanted(drawn)) return drawn;
  }
  return draw();
}

/** Everything mostly, for a step that is to be allowed; else an administrator of something, who may be the wrong one. */
export function drawActor({ random, administrators, root }: StepWorld): [id: string, actor: PluginAdministrator] {
  const [first, ...others] = [...administrators];
  return first && random.chance(0.6)
    ? first
    : (random.pick(others.length > 0 ? others : [['', root] as const]) as never);
}

/** The owners of a place as a command has to name them; null where nobody can read them any more. */
export async function readOwnership(world: StepWorld, place: ModelPlace): Promise<object | null> {
  const { root, plugins, actions } = world;
  if (place.type === 'resource') return (await root.read(`/plugin-resources/${place.id}`)).ownership;
  for (const plugin of plugins) {
    const path = `/plugin-actions/${actions.get(`${plugin} zone.sync`)}/grant-review`;
    const review = await root.client.send('POST', path, { selector: place });
    if (isSuccess(review)) return review.body.ownership;
  }
  return null;
}

/** Sometimes names what was true earlier: then a command is refused, whatever else is true. */
export function perhapsStale<Body extends { readonly expected_ownership: object }>(
  { random }: StepWorld,
  body: Body,
): { body: Body; isStale: boolean } {
  if (!random.chance(0.08)) return { body, isStale: false };
  const { expected_ownership: owners } = body;
  return { body: { ...body, expected_ownership: { ...owners, team_revision: 987_654 } }, isStale: true };
}
