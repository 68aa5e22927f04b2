import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { Instance } from '../entity.ts';
import type { DeployedResource } from '../state-file/addresses.ts';
import type { StateFile } from '../state-file/state-file.ts';
import { replaceResources } from './resource-store.ts';

/**
 * What an instance holds. An instance whose resources the service cannot see counts as one resource: one that a command has
 * deployed, or one whose template encrypts its state.
 */

/** Counts an instance's resources by a state. */
function countResources({ kind, isEmpty, resourceCount }: StateFile, before: number): number {
  if (kind === 'tool') return resourceCount;
  // A command may write an empty state, or none, and deploy something all the same: only its success tells.
  return kind === 'other' && isEmpty ? Math.min(before, 1) : 1;
}

/** Records what an instance holds by a state that is being stored. The row of the instance is locked. */
export function recordResources(em: Em, instance: Instance, state: StateFile): Promise<void> {
  return writeResources(em, instance, state, countResources(state, instance.resourceCount));
}

/**
 * Lists an instance's resources by its latest state (null: it has none). For resources that the service cannot see, it keeps the
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

/** Records that an instance holds something, whose resources the service cannot see unless its state lists them. */
export async function recordUnseenResource(em: Em, instance: Instance): Promise<void> {
  if (instance.resourceCount > 0) return;
  instance.resourceCount = 1;
  await recordInStateVersion(em, instance);
  await replaceResources(em, instance, placeholderFor(instance, null));
}

/** Records that nothing is left of what an instance held. */
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

/** The latest state version shows the same number. */
async function recordInStateVersion(em: Em, { id, stateSerial, resourceCount }: Instance): Promise<void> {
  await db(em)
    .updateTable('state_versions')
    .set({ resourceCount })
    .where('instanceId', '=', id)
    .where('serial', '=', stateSerial)
    .execute();
}
