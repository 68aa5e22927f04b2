import type { ModelPlace } from '../model/tenants.ts';
import { drawActor, drawPlace, drawWanted, judge, perhapsStale, readOwnership, type StepWorld } from './step.ts';

const parents = { team: 'team_id', project: 'project_id', environment: 'environment_id' } as const;

/** Registers a resource under a new key, or one that another resource has or had. */
export async function createResource(world: StepWorld): Promise<void> {
  const { model, random, plugins } = world;
  const plugin = random.pick(plugins);
  const known = [...model.resources.values()].slice(-12);
  const key = known.length > 0 && random.chance(0.4) ? random.pick(known).key : `zone-${model.resources.size}`;
  const isHopeful = random.chance(0.7);
  const parent = drawWanted(
    () => drawPlace(world),
    (place) => place.type in parents && (!isHopeful || model.mayCreate(plugin, place, key)),
  );
  if (!(parent.type in parents)) return;
  const expected_ownership = await readOwnership(world, parent);
  if (expected_ownership === null) return;
  const [actorId, actor] = drawActor(world);
  const { body, isStale } = perhapsStale(world, {
    installation_id: plugin,
    type: 'zone',
    name: key,
    key,
    [parents[parent.type as keyof typeof parents]]: parent.id,
    expected_ownership,
  });
  const answer = await actor.command(['POST', '/plugin-resources'], body);
  const mayCreate = model.tenants.administers(actorId, model.chainOf(parent)) && model.mayCreate(plugin, parent, key);
  if (judge(world, 'creation of a resource', answer, mayCreate && !isStale))
    model.resources.set(answer.body.id, { plugin, parent: parent.id, key, deletedFrom: null });
}

export async function deleteResource(world: StepWorld): Promise<void> {
  const { model, random, root } = world;
  const isFresh = random.chance(0.8);
  const known = [...model.resources].filter(([, { deletedFrom }]) => (deletedFrom === null) === isFresh);
  if (known.length === 0) return;
  const [id, resource] = random.pick(known.slice(-12));
  const [actorId, actor] = drawActor(world);
  const path = `/plugin-resources/${id}`;
  const { body, isStale } = perhapsStale(world, await root.stateOf(path));
  const answer = await actor.command(['DELETE', path], body);
  const isExpected = isFresh && !isStale && model.tenants.administers(actorId, model.tenants.chain(resource.parent));
  if (judge(world, 'deletion of a resource', answer, isExpected)) model.deleteResource(id);
}

export async function restoreResource(world: StepWorld): Promise<void> {
  const { model, random, root } = world;
  const deleted = [...model.resources].filter(([, { deletedFrom }]) => deletedFrom !== null).slice(-12);
  const drawn = deleted.length > 0 && random.chance(0.9) ? deleted : [...model.resources];
  if (drawn.length === 0) return;
  const [id, resource] = random.pick(drawn);
  const [actorId, actor] = drawActor(world);
  const path = `/plugin-resources/${id}`;
  const { body, isStale } = perhapsStale(world, await root.stateOf(path));
  const answer = await actor.command(['POST', `${path}/restore`], body);
  const mayRestore = model.mayRestore(id) && model.tenants.administers(actorId, model.tenants.chain(resource.parent));
  if (judge(world, 'restoration', answer, mayRestore && !isStale)) model.restore(id);
}

/** A plugin may have 200 background principals, also such as can never be assigned anything any more. */
const enoughBackgrounds = 40;

export async function approveBackground(world: StepWorld): Promise<void> {
  const { model, random, plugins } = world;
  const alive = [...model.backgrounds.values()].filter(({ isRevoked }) => !isRevoked);
  if (alive.length >= enoughBackgrounds) return revokeBackground(world);
  const plugin = random.pick(plugins);
  const isHopeful = random.chance(0.7);
  const place: ModelPlace = drawWanted(
    () => drawPlace(world),
    (each) => !isHopeful || model.mayApproveBackground(plugin, each),
  );
  const expected_ownership = await readOwnership(world, place);
  if (expected_ownership === null) return;
  const [actorId, actor] = drawActor(world);
  const { body, isStale } = perhapsStale(world, {
    installation_id: plugin,
    name: 'Nightly',
    selector: place,
    expected_installation_revision: model.plugin(plugin).revision,
    expected_ownership,
  });
  const answer = await actor.command(['POST', '/plugin-background-principals'], body);
  const mayApprove = model.tenants.administers(actorId, model.chainOf(place));
  const isExpected = mayApprove && model.mayApproveBackground(plugin, place) && !isStale;
  if (judge(world, 'approval of a background principal', answer, isExpected))
    model.backgrounds.set(answer.body.id, { plugin, place, isAlive: true, isRevoked: false });
}

export async function revokeBackground(world: StepWorld): Promise<void> {
  const { model, random } = world;
  const isFresh = random.chance(0.8);
  const known = [...model.backgrounds].filter(([, { isRevoked }]) => isRevoked !== isFresh);
  if (known.length === 0) return;
  const [id, background] = random.pick(known.slice(-enoughBackgrounds));
  const expected_ownership = await readOwnership(world, background.place);
  if (expected_ownership === null) return;
  const [actorId, actor] = drawActor(world);
  const { body, isStale } = perhapsStale(world, { expected_revision: 1, expected_ownership });
  const answer = await actor.command(['DELETE', `/plugin-background-principals/${id}`], body);
  const mayRevoke = isFresh && model.tenants.administers(actorId, model.chainOf(background.place));
  if (!judge(world, 'revocation of a background principal', answer, mayRevoke && !isStale)) return;
  background.isRevoked = true;
  model.endBackground(id);
}
