import type { RunStatus } from '#domain/runs/model.ts';
import { type Refusal, throwIfRefused } from '#domain/shared/actions.ts';
import { type AssemblyRunAction, actionsByStatus } from '../model.ts';

const refusals: Record<AssemblyRunAction, (status: RunStatus) => Refusal> = {
  cancel: (status) => ({
    code: 'assembly_run_not_cancelable',
    message: `the assembly run has already ended (${status}): there is nothing to cancel`,
  }),
  resume: (status) => ({
    code: 'assembly_run_not_resumable',
    message:
      status === 'succeeded'
        ? 'the assembly run has succeeded: there is nothing to resume'
        : `the assembly run has not ended (${status}): only one that ended without success can be resumed`,
  }),
};

/** The refusal of an action by the status of an assembly run; null if the status allows it. */
export function findStatusRefusal(action: AssemblyRunAction, status: RunStatus): Refusal | null {
  return actionsByStatus[status].includes(action) ? null : refusals[action](status);
}

/** @throws ActionRefused if the status does not allow the action */
export function refuseByStatus(action: AssemblyRunAction, status: RunStatus): void {
  throwIfRefused(findStatusRefusal(action, status));
}
