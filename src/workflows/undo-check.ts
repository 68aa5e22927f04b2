import { condition, continueAsNew, proxyLocalActivities, setHandler, workflowInfo } from '@temporalio/workflow';
import type { UndoCheckActivities } from '#activities/undo-checks.contract.ts';
import { stepOptions } from './activity-options.ts';
import { wake } from './run.contract.ts';
import type { UndoCheckInput } from './undo-check.contract.ts';

const { advanceUndoCheck } = proxyLocalActivities<UndoCheckActivities>(stepOptions);

/**
 * The workflow of the check of an undo, whose id is the key of the request. The scan of the instance wakes it whenever its status changes.
 * PostgreSQL decides whether the check has ended.
 */
export async function undoCheck(input: UndoCheckInput): Promise<void> {
  let woken = false;
  setHandler(wake, () => {
    woken = true;
  });
  for (;;) {
    woken = false;
    const step = await advanceUndoCheck(input.attempt_id);
    if (step.kind === 'end') return;
    await condition(() => woken, step.seconds * 1000);
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof undoCheck>(input);
  }
}
