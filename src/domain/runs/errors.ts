import { Conflict } from '#domain/shared/errors.ts';
import type { FailureReason, RunStatus } from './model.ts';

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

/** What an attempt wrote (a state, a piece of log, its result) breaks a rule, and is not stored. */
export class AttemptWriteRefused extends Error {
  /** Why the attempt fails because of it. */
  readonly reason: FailureReason;

  /** @param message names the rule, and never what was written */
  constructor(reason: FailureReason, message: string) {
    super(message);
    this.name = 'AttemptWriteRefused';
    this.reason = reason;
  }
}

/** A sandbox is demanded for the run, and the worker that asks for its attempt does not contain template code. */
export class WorkerTooWeak extends Error {
  constructor(attemptId: string) {
    super(`attempt ${attemptId} demands a sandbox, and this worker does not contain template code: it gets none of it`);
    this.name = 'WorkerTooWeak';
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
  /** @param published the version of the template that the reviewer published; null where they asked for the run */
  constructor(published: string | null) {
    const why = published === null ? '' : `you published version ${published} of its template, so `;
    super(
      `you answer for this run: ${why}its approval must come from somebody else (the environment does not allow self-approval)`,
    );
  }
}

export class RunNotFinished extends Conflict {
  constructor(status: RunStatus, purpose: string) {
    super(`the run has not ended (${status}): ${purpose}`);
  }
}
