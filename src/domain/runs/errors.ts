import { Conflict } from '#domain/shared/errors.ts';
import type { RunStatus } from './model.ts';

/** A defect: some code tried a change of status that the table of transitions does not have. */
export class RunTransitionRefused extends Error {
  constructor(runId: string, from: RunStatus, to: RunStatus) {
    super(`run ${runId} cannot go from ${from} to ${to}`);
    this.name = 'RunTransitionRefused';
  }
}

/** The attempt is no longer the run's: another one began, or the run has ended. Its late results are refused. */
export class AttemptSuperseded extends Error {
  constructor(attemptId: string) {
    super(`attempt ${attemptId} was superseded: its results are refused`);
    this.name = 'AttemptSuperseded';
  }
}

export class RunNotCancelable extends Conflict {
  constructor(status: RunStatus) {
    super(`the run has already ended (${status}): there is nothing to cancel`);
  }
}

export class RunNotPending extends Conflict {
  constructor(status: RunStatus) {
    super(`the run is not waiting for approval: its status is ${status}`);
  }
}

export class PlanMoved extends Conflict {
  constructor(current: string | null) {
    super(
      `plan_digest is not that of the plan that waits for approval (${current ?? 'there is none'}): read the plan again`,
    );
  }
}

export class AlreadyReviewed extends Conflict {
  constructor() {
    super('you have already decided on this run; a review counts once a person, whatever credential it comes by');
  }
}

export class SelfApprovalRefused extends Conflict {
  constructor() {
    super(
      'you answer for this run: its approval must come from somebody else (the environment does not allow self-approval)',
    );
  }
}

export class RunNotFinished extends Conflict {
  constructor(status: RunStatus, purpose: string) {
    super(`the run has not ended (${status}): ${purpose}`);
  }
}
