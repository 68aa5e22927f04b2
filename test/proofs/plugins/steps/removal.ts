import { preparePlugin } from './prepare-plugin.ts';
import { drawActor, judge, perhapsStale, type StepWorld } from './step.ts';

/** Removes a plugin, mostly after its resources were deleted, and installs another one in its place. */
export async function replacePlugin(world: StepWorld): Promise<void> {
  const { model, random, root, plugins } = world;
  const id = random.pick(plugins);
  const path = `/plugin-installations/${id}`;
  const { owner } = model.plugin(id);
  // Nothing could be installed in an archived place afterwards.
  if (!model.mayChange(id)) return;
  if (random.chance(0.8)) await deleteResources(world, id);
  const [actorId, actor] = drawActor(world);
  const { body, isStale } = perhapsStale(world, await root.stateOf(path));
  const answer = await actor.command(['DELETE', path], body);
  const mayRemove = model.tenants.administers(actorId, model.tenants.chain(owner)) && model.mayRemove(id);
  if (!judge(world, 'removal of a plugin', answer, mayRemove && !isStale)) return;
  model.remove(id);
  const { team_id: team, ownership } = await root.read(path);
  const next = await root.install(team === null ? { organization_id: owner } : { team_id: owner }, ownership);
  await preparePlugin(world, next, owner);
  plugins.splice(plugins.indexOf(id), 1, next);
}

async function deleteResources({ model, root }: StepWorld, plugin: string): Promise<void> {
  for (const [id, resource] of model.resources) {
    if (resource.plugin !== plugin || resource.deletedFrom !== null) continue;
    await root.deleteResource(id);
    model.deleteResource(id);
  }
}
