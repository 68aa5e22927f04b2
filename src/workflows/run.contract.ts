import { defineSignal } from '@temporalio/workflow';
import type { Beginning } from '#domain/runs/model.ts';
import { wakeSignal } from '#domain/shared/vocabulary/runs.ts';

/** The input of a run's workflow. Ids only, because histories must not contain secrets. */
export interface RunInput {
  readonly run_id: string;
  /** The attempt that was executed last, if a long wait was continued as a new workflow. */
  readonly executed?: string;
  /** How a worker may begin the run at once; missing: the workflow asks for the first step. */
  readonly begin?: Beginning;
}

/** Notifies the workflow that something about the run has changed. It is only a hint: losing or repeating it does no harm. */
export const wake = defineSignal(wakeSignal);
