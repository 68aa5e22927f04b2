import { encode, manifestOf } from '#test/support/plugins/plugin-world.ts';
import type { ModelRelease } from '../model/registry.ts';
import { shapes } from '../shapes.ts';
import { actionNames, drawActor, expectSame, judge, perhapsStale, type StepWorld } from './step.ts';

const pathOf = (plugin: string) => `/plugin-installations/${plugin}`;

/** Makes a release known by its digest alone, or stages the manifest of one that is: sometimes another one, which is refused. */
export async function stageRelease(world: StepWorld): Promise<void> {
  const { model, random, root, plugins } = world;
  const id = random.pick(plugins);
  const { releases } = model.plugin(id);
  const [name, release] = [...releases].find(([, { isStaged }]) => !isStaged) ?? announce(world, releases.size);
  const isKnown = releases.has(name);
  const isOther = isKnown && random.chance(0.3);
  const { manifest, digest } = encode({ ...release.manifest, ...(isOther && { name: 'other' }) });
  const [actorId, actor] = drawActor(world);
  const { body, isStale } = perhapsStale(world, {
    release: name,
    digest,
    ...(isKnown && { manifest }),
    ...(await root.stateOf(pathOf(id))),
  });
  const answer = await actor.command(['POST', `${pathOf(id)}/manifests`], body);
  const mayStage = mayAdminister(world, actorId, id) && model.mayChange(id);
  if (!judge(world, 'staging', answer, mayStage && !isOther && !isStale)) return;
  releases.set(name, { ...release, isStaged: isKnown });
}

function announce({ random }: StepWorld, count: number): [name: string, release: ModelRelease] {
  const name = `9.${count}.0`;
  const { declares, changes } = random.pick(shapes);
  return [name, { declares, manifest: manifestOf(name, changes), isStaged: false }];
}

function mayAdminister({ model }: StepWorld, actor: string, plugin: string): boolean {
  return model.tenants.administers(actor, model.tenants.chain(model.plugin(plugin).owner));
}

export async function activateRelease(world: StepWorld): Promise<void> {
  const { model, random, root, plugins } = world;
  const id = random.pick(plugins);
  const [actorId, actor] = drawActor(world);
  // Releases whose manifests are known are active most of the time, because nothing of the others can be used.
  const known = [...model.plugin(id).releases].filter(([, { isStaged }]) => isStaged || random.chance(0.3));
  const release = random.chance(0.1) ? '0.0.1' : random.pick(known)[0];
  const { body, isStale } = perhapsStale(world, { release, ...(await root.stateOf(pathOf(id))) });
  const answer = await actor.command(['POST', `${pathOf(id)}/activate`], body);
  const mayActivate = mayAdminister(world, actorId, id) && model.mayChange(id) && release !== '0.0.1';
  if (judge(world, 'activation', answer, mayActivate && !isStale)) model.activate(id, release);
}

/** Replaces a ceiling, rather one that approves nothing now. Executions are sometimes pinned to what was active earlier. */
export async function replaceCeiling(world: StepWorld): Promise<void> {
  const { model, random, root, administrators, plugins } = world;
  const stale = plugins.filter((plugin) => !model.hasCurrentCeiling(plugin));
  const id = random.pick(stale.length > 0 && random.chance(0.8) ? stale : plugins);
  const { revision, active } = model.plugin(id);
  const declared = model.declarations(id).actions;
  const actions = actionNames.filter((name) => (name in declared || random.chance(0.1)) && random.chance(0.9));
  const pinned = random.chance(0.1) ? revision - 1 : revision;
  const executions = random.chance(0.5) ? [{ name: 'nightly', release: active, installation_revision: pinned }] : [];
  const [, actor] = random.chance(0.9) ? ([...administrators][0] ?? drawActor(world)) : drawActor(world);
  const { revision: expected_ceiling_revision } = await root.read(`${pathOf(id)}/ceiling`);
  // Sometimes the revision of a ceiling that somebody else has replaced since, or none.
  const isNamed = random.chance(0.9);
  const other = random.chance(0.5) ? expected_ceiling_revision + 1 : undefined;
  const named = isNamed ? expected_ceiling_revision : other;
  const state = { expected_ceiling_revision: named, ...(await root.stateOf(pathOf(id))) };
  const { body, isStale } = perhapsStale(world, { actions, executions, ...state });
  const answer = await actor.command(['PUT', `${pathOf(id)}/ceiling`], body);
  // Administering memberships is not enough for a ceiling.
  const mayReplace = actor === root && model.mayReplaceCeiling(id, { actions, executions });
  // Whoever replaces a ceiling has to have read it.
  const isExpected = mayReplace && !isStale && isNamed;
  world.tally.note('ceiling with executions', isExpected && executions.length > 0);
  if (judge(world, 'ceiling', answer, isExpected)) model.replaceCeiling(id, { actions, executions });
}

/** What the ceiling shows: what was approved last, and whether it still approves anything. */
export async function readCeiling({ model, random, root, plugins, tally }: StepWorld): Promise<void> {
  const id = random.pick(plugins);
  const { ceiling } = model.plugin(id);
  const isCurrent = model.hasCurrentCeiling(id);
  const shown = await root.read(`${pathOf(id)}/ceiling`);
  const what = (executions: readonly object[], isNow: boolean) =>
    JSON.stringify([executions.map((each) => Object.entries(each).sort()), isNow]);
  tally.note('ceiling in force', isCurrent);
  expectSame(
    `the ceiling of ${id}`,
    what(shown.executions, shown.current),
    what(ceiling?.executions.map((each) => ({ ...each, in_force: isCurrent })) ?? [], isCurrent),
  );
}
