import {
  CancellationScope,
  condition,
  continueAsNew,
  proxyLocalActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { AssemblyRunActivities } from '#activities/assembly-runs.contract.ts';
import { stepOptions } from './activity-options.ts';
import type { AssemblyRunInput } from './assembly-run.contract.ts';
import { wake } from './run.contract.ts';

const { advanceAssemblyRun } = proxyLocalActivities<AssemblyRunActivities>({
  ...stepOptions,
  startToCloseTimeout: '60s',
});

/**
 * The workflow of an assembly run, the parent of its nodes' runs. PostgreSQL decides every next step; the workflow runs the steps in order
 * and waits. The runs of nodes wake it whenever their statuses change. It stays a simple loop, so that it works across releases, and
 * continues as a new workflow before its history grows long.
 */
export async function assemblyRun(input: AssemblyRunInput): Promise<void> {
  let woken = false;
  let canceled = false;
  setHandler(wake, () => {
    woken = true;
  });
  void CancellationScope.current().cancelRequested.catch(() => {
    canceled = true;
  });
  await CancellationScope.nonCancellable(async () => {
    for (;;) {
      woken = false;
      const told = canceled;
      const { workflowId } = workflowInfo();
      const step = await advanceAssemblyRun({ assemblyRunId: input.assembly_run_id, workflowId, canceled });
      if (step.kind === 'end') return;
      if (step.kind === 'wait') await condition(() => woken || canceled !== told, step.seconds * 1000);
      if (workflowInfo().continueAsNewSuggested && !canceled) await continueAsNew<typeof assemblyRun>(input);
    }
  });
}
