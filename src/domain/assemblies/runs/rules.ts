import { type Refusal, throwIfRefused } from '#domain/shared/actions.ts';
import { findArchivedRefusal } from '#domain/shared/archiving.ts';
import type { RunStatus } from '#domain/shared/vocabulary/runs.ts';
import { type AssemblyRunAction, actionsByStatus } from '../model.ts';
import type { BusyRun } from './admission/busy-store.ts';
import type { AssemblyRunFacts } from './targets.ts';

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

/** The refusal of a resume; null if it is allowed. A resume has the same conditions as a start. */
export function findResumeRefusal({ run, archived, hasEnvironment, busy }: AssemblyRunFacts): Refusal | null {
  return (
    findStatusRefusal('resume', run.status) ??
    findArchivedRefusal({ archived }) ??
    (hasEnvironment ? null : environmentGone) ??
    findBusyRefusal(busy)
  );
}

/** The refusal of a run because another one has not ended; null if there is none. */
export function findBusyRefusal(busy: BusyRun | null): Refusal | null {
  if (!busy) return null;
  const message = `another run of this assembly in this environment has not ended (${busy.operation}, ${busy.id}): wait for it, or cancel it`;
  return { code: 'assembly_busy', message };
}

const environmentGone: Refusal = {
  code: 'environment_unknown',
  message: "the assembly's team no longer has the environment of this run",
};

/** @throws ActionRefused if the status does not allow the action */
export function refuseByStatus(action: AssemblyRunAction, status: RunStatus): void {
  throwIfRefused(findStatusRefusal(action, status));
}
