import { defineSignal } from '@temporalio/workflow';
import { wakeSignal } from '#domain/runs/model.ts';

/** What a run's workflow is started with. Ids only: history is no place for a secret. */
export interface RunInput {
  readonly run_id: string;
  /** Set where a long wait was continued as a new workflow: the attempt that was executed last. */
  readonly executed?: string;
}

/** Something about the run changed: look again. A hint; losing or repeating it does no harm. */
export const wake = defineSignal(wakeSignal);
