import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { Instance } from '../entity.ts';
import type { DeployedResource } from '../state-file/addresses.ts';
import type { StateFile } from '../state-file/state-file.ts';
import { replaceResources } from './resource-store.ts';

/**
 * Records the resources of instances. If the service cannot see the resources, because a command has deployed them or the template encrypts
 * its state, the instance counts as having one resource.
 */

/** Counts an instance's resources by a state. */
function countResources({ kind, isEmpty, resourceCount }: StateFile, before: number): number {
  if (kind === 'tool') return resourceCount;
  // A command may deploy something although it writes an empty state or none, so the count changes only when the command succeeds.
  return kind === 'other' && isEmpty ? Math.min(before, 1) : 1;
}

/** Records the resources of an instance from a state that is being stored. The caller has locked the row of the instance. */
export function recordResources(em: Em, instance: Instance, state: StateFile): Promise<void> {
  return writeResources(em, instance, state, countResources(state, instance.resourceCount));
}

/**
 * Lists an instance's resources from its latest state (null: it has no state). For resources that the service cannot see, it keeps the
 * number that the last run recorded.
 */
export async function refreshList(em: Em, instance: Instance, state: StateFile | null): Promise<void> {
  const count = state?.kind === 'tool' ? state.resourceCount : Math.min(instance.resourceCount, 1);
  await writeResources(em, instance, state, count);
  await recordInStateVersion(em, instance);
}

async function writeResources(em: Em, instance: Instance, state: StateFile | null, count: number): Promise<void> {
  instance.resourceCount = count;
  instance.resourcesSerial = instance.stateSerial;
  await replaceResources(em, instance, state?.kind === 'tool' ? state.resources : placeholderFor(instance, state));
}

/** Records that an instance has at least one resource, which the service may not see. */
export async function recordUnseenResource(em: Em, instance: Instance): Promise<void> {
  if (instance.resourceCount > 0) return;
  instance.resourceCount = 1;
  await recordInStateVersion(em, instance);
  await replaceResources(em, instance, placeholderFor(instance, null));
}

/** Records that an instance has no resources left. */
export async function recordNoResources(em: Em, instance: Instance): Promise<void> {
  if (instance.resourceCount === 0) return;
  instance.resourceCount = 0;
  await recordInStateVersion(em, instance);
  await replaceResources(em, instance, []);
}

function placeholderFor({ name, resourceCount }: Instance, state: StateFile | null): DeployedResource[] {
  if (resourceCount === 0) return [];
  const type = state?.kind === 'encrypted' ? 'encrypted_state' : 'command';
  return [{ address: `${type}.${name}`, module: null, type, name, provider: null }];
}

/** Copies the number of resources to the latest state version, which shows it. */
async function recordInStateVersion(em: Em, { id, stateSerial, resourceCount }: Instance): Promise<void> {
  await db(em)
    .updateTable('state_versions')
    .set({ resourceCount })
    .where('instanceId', '=', id)
    .where('serial', '=', stateSerial)
    .execute();
}
