import type { ShownRun } from '#api/runs/pages/run-tab.ts';
import type { Em } from '#database/database.ts';
import { findOutdated, readDestruction } from '#domain/undo/attempts/obstacles.ts';
import type { Destruction } from '#domain/undo/attempts/rules.ts';
import { findSucceeded } from '#domain/undo/deployments/deployments-store.ts';
import type { LaterEvents } from './labels.ts';

/** Reads events since the attempts to undo a run were checked. @param promoted the runs that deploy them */
export async function readLaterEvents(
  em: Em,
  { id, instance_id: instanceId }: ShownRun,
  promoted: readonly (string | null)[],
): Promise<LaterEvents & { readonly destruction: Destruction | undefined }> {
  const outdated = await findOutdated(em, { runId: id, instanceId });
  const succeeded = await findSucceeded(em, promoted);
  const destruction = await readDestruction(em, id);
  return { outdated, succeeded, destruction, isDestroyed: destruction !== undefined };
}
