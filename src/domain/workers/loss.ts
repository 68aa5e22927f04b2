import type { Em } from '#database/database.ts';
import { installationOwnership } from '#domain/shared/access/decide.ts';
import { NothingToDo, runSystemCommand, type SystemCommandDeps } from '#domain/shared/commands/system-command.ts';
import { deleteUnreportedWorker, deregisterWorker, type LostWorker, markLost, unmarkLost } from './store.ts';

/** Reports, only once, a worker whose heartbeats have stopped. False if it was reported before, or sends heartbeats again. */
export function reportSilentWorker(deps: SystemCommandDeps, id: string): Promise<boolean> {
  return report(deps, 'worker.lost', id, markLost);
}

/** Removes a worker whose process has ended without deregistering, and reports it unless it was reported before. */
export async function removeDeadWorker(deps: SystemCommandDeps, id: string): Promise<void> {
  const isReported = await report(deps, 'worker.lost', id, deleteUnreportedWorker);
  if (!isReported) await deps.transactions.run((tx) => deregisterWorker(tx.em, id));
}

/** Reports a worker that was reported as lost and sends heartbeats again. False if it is not lost, or is silent again. */
export function reportReturn(deps: SystemCommandDeps, id: string): Promise<boolean> {
  return report(deps, 'worker.returned', id, unmarkLost);
}

/** @param change changes the worker's row; undefined if there is nothing to report */
async function report(
  deps: SystemCommandDeps,
  action: 'worker.lost' | 'worker.returned',
  id: string,
  change: (em: Em, id: string) => Promise<LostWorker | undefined>,
): Promise<boolean> {
  const reported = await runSystemCommand(
    deps,
    { action, target: { id }, cause: null },
    {
      find: async () => installationOwnership,
      act: async (tx) => {
        const worker = await change(tx.em, id);
        if (!worker) throw new NothingToDo();
        const { host, pools } = worker;
        tx.publish({ type: action, subjectId: id, owners: installationOwnership, data: { host, pools } });
        return { id, after: { host, pools } };
      },
    },
  );
  return reported !== undefined;
}
