import { manifestOf } from '#test/support/plugins/plugin-world.ts';
import { shapes } from '../shapes.ts';
import { actionNames, type StepWorld } from './step.ts';

/** Stages releases of every shape for a plugin that was just installed, and activates the first. */
export async function preparePlugin(
  { root, model, actions }: Pick<StepWorld, 'root' | 'model' | 'actions'>,
  plugin: string,
  owner: string,
): Promise<void> {
  const releases = new Map(
    shapes.map(({ declares, changes }, at) => {
      const manifest = manifestOf(`${at + 1}.0.0`, changes);
      return [manifest.release, { declares, manifest, isStaged: true }] as const;
    }),
  );
  for (const { manifest } of releases.values()) await root.stage(plugin, manifest);
  await root.activate(plugin, '1.0.0');
  model.plugins.set(plugin, { owner, releases, active: '1.0.0', revision: 2, isRemoved: false, ceiling: null });
  for (const name of actionNames) actions.set(`${plugin} ${name}`, await root.actionId(plugin, name));
}
