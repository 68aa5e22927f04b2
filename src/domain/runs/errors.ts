import type { FailureReason } from '#domain/shared/vocabulary/run-reasons.ts';
import type { RunStatus } from '#domain/shared/vocabulary/runs.ts';

/** A defect: code tried a change of status that the table of transitions does not allow. */
export class RunTransitionRefused extends Error {
  constructor(runId: string, from: RunStatus, to: RunStatus) {
    super(`run ${runId} cannot go from ${from} to ${to}`);
    this.name = 'RunTransitionRefused';
  }
}

/** A write of an attempt (a state, a chunk of log, its result) breaks a rule, and is not stored. */
export class AttemptWriteRefused extends Error {
  /** Why the attempt fails because of it. */
  readonly reason: FailureReason;

  /** @param message names the rule, and never the content of the write */
  constructor(reason: FailureReason, message: string) {
    super(message);
    this.name = 'AttemptWriteRefused';
    this.reason = reason;
  }
}

/** The run demands a sandbox, and the worker that tries to claim its attempt has none. The attempt stays unclaimed. */
export class SandboxDemanded extends Error {
  constructor(attemptId: string) {
    super(`attempt ${attemptId} requires a sandbox, which this worker does not have; another worker must take it`);
    this.name = 'SandboxDemanded';
  }
}

/** The worker that tries to claim an attempt has no tool that the run may use at this moment. The attempt stays unclaimed. */
export class NoUsableTool extends Error {
  constructor(attemptId: string, tools: readonly { name: string; version: string }[]) {
    const has = tools.map(({ name, version }) => `${name} ${version}`).join(', ') || 'none';
    super(`attempt ${attemptId} cannot use any tool of this worker (has: ${has}); another worker must take it`);
    this.name = 'NoUsableTool';
  }
}

/** The service cannot provide something that an attempt needs. The attempt fails before a worker gets it. */
export class AttemptRefused extends Error {
  /** Why the attempt fails because of it. */
  readonly reason: FailureReason;

  /** @param message names what is missing and what would be right, and no secret */
  constructor(reason: FailureReason, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = new.target.name;
    this.reason = reason;
  }
}

/** The service cannot provide a connection that the template of the attempt needs. */
export class ConnectionsRefused extends AttemptRefused {}

/** The inputs of the run contain an output of another instance, and the owner of that instance no longer lets the run read it. */
export class ReadsRefused extends AttemptRefused {
  constructor(message: string) {
    super('outputs_not_readable', message);
  }
}

/** Something now keeps the apply from starting, such as a lock of its environment. The attempt stays unclaimed. */
export class ApplyObstructed extends Error {
  constructor(attemptId: string) {
    super(`attempt ${attemptId} must not start to apply now: its run waits`);
    this.name = 'ApplyObstructed';
  }
}
