/** Why attempts and runs end without success. Pure. */

/** Why a connection that a template requires cannot be used. Stable: clients match it as an error code and as a `status_reason`. */
export const connectionRefusals = {
  connection_unbound: 'a connection that the template needs is not bound to the environment or its project',
  connection_unfit: 'the connection that is bound is of another kind than the template needs',
  connection_conflict: 'two connections of the run provide the same environment variable',
  connection_elsewhere: 'the connection that is bound belongs to others than the owners of the environment',
  connection_unauthorized: 'the person who bound the connection may no longer bind it',
} as const;
export type ConnectionRefusal = keyof typeof connectionRefusals;

/** Reasons of attempts whose runs show other reasons: `canceled_by_user`, `plan_timeout`, `apply_timeout`. */
const attemptReasons = {
  canceled: 'the attempt was canceled',
  time_limit: 'the attempt took longer than its limit',
} as const;

/** Why an attempt failed; its run fails for the same reason. */
const failureReasons = {
  step_timeout: 'a step took longer than its timeout',
  output_limit: 'the attempt printed more than its limit',
  directory_limit: 'the attempt used more disk space than its limit',
  process_limit: 'the attempt ran more processes than its limit',
  memory_limit: 'the attempt used more memory than its limit',
  cpu_limit: 'the attempt used more processor time than its limit',
  open_files_limit: 'the attempt opened more files than its limit',
  sandbox_unavailable: 'the worker could not make a sandbox for the attempt',
  init_failed: 'the tool could not initialize the configuration; the log says why',
  modules_changed: 'a module is another one than the version used before',
  plan_failed: 'planning failed; the log says why',
  apply_failed: 'applying failed; the log says why',
  step_failed: 'a step failed; the log says why',
  step_not_started: 'the program of a step could not be started',
  plan_invalid: 'the plan could not be read',
  plan_missing: 'there is no plan',
  outputs_invalid: 'the outputs could not be read',
  state_invalid: 'the state could not be read',
  state_conflict: 'the tool wrote a state that does not follow the latest one',
  state_not_saved: 'the state could not be saved',
  state_refused: 'a state that the attempt wrote could not be stored',
  logs_not_saved: 'the log could not be saved',
  artifact_missing: 'there is no plan to apply',
  artifact_mismatch: 'what was planned is not what is to be applied',
  backend_forbidden: 'the configuration would keep its state elsewhere, or encrypts it with a program',
  no_configuration: 'the tool would read no configuration, and destroy everything that is deployed',
  files_invalid: "the template's files cannot be laid out",
  environment_invalid: 'a variable cannot be passed to a process',
  operation_unsupported: 'the template does not support the operation',
  tool_unavailable: 'no worker has the tool that the run needs',
  ...connectionRefusals,
  connection_rebound: 'another connection was bound, or its settings were changed, after the plan was made',
  credentials_unavailable: 'the credentials of a connection could not be opened',
  identity_unavailable: 'the service could not sign a token for the run',
  outputs_not_readable: 'an output of another instance that the run was given may not be read any longer',
  executor_lost: 'the executor process ended before its attempt',
  executor_failed: 'the executor process failed',
} as const;
export type FailureReason = keyof typeof failureReasons;

/** Why an attempt did not succeed, as the executor reports it. Stable: clients may match them. */
export const executionReasons = { ...attemptReasons, ...failureReasons } as const;
export type ExecutionReason = keyof typeof executionReasons;

/** Why a run ended, or is ending, without success. Stable: clients may match them. */
export const statusReasons = {
  rejected: 'a reviewer rejected the plan',
  canceled_by_user: 'a person canceled the run',
  forced: 'the run was force canceled without waiting for its worker',
  approval_timeout: 'the plan was not approved or rejected in time',
  plan_timeout: 'planning took longer than its limit',
  apply_timeout: 'applying took longer than its limit',
  plan_interrupted: 'the worker was lost while planning, more than once',
  apply_interrupted: 'the worker was lost while applying; the last state is kept and the apply is not repeated',
  plan_moved: 'the instance changed after the plan was made',
  switch_not_empty: 'the plan of the other tool would change something, so the instance keeps its tool',
  stale: 'the instance is no longer as it was when the run was asked for',
  gave_way: 'a run that changes the instance began, and the scan gave way to it',
  pool_closed: 'the pool is no longer open to the team or environment of the run',
  engine_lost: 'the workflow engine no longer knows the run',
  ...failureReasons,
} as const;
export type StatusReason = keyof typeof statusReasons;

/** What a reason means for what happens after the run. */
interface ReasonMeaning {
  /** The run may have changed more than its state and its list of resources record. */
  readonly isUncertain?: true;
  /** People or their policies decided it, so repeating the run would end in the same way. */
  readonly isFinal?: true;
}

/** The reasons that mean more than that the run did not succeed. */
const reasonMeanings: { readonly [Reason in StatusReason]?: ReasonMeaning } = {
  executor_lost: { isUncertain: true },
  state_not_saved: { isUncertain: true },
  state_refused: { isUncertain: true },
  approval_timeout: { isFinal: true },
  rejected: { isFinal: true },
  stale: { isFinal: true },
  pool_closed: { isFinal: true },
  operation_unsupported: { isFinal: true },
  connection_unbound: { isFinal: true },
  connection_unfit: { isFinal: true },
  connection_conflict: { isFinal: true },
  connection_elsewhere: { isFinal: true },
  connection_unauthorized: { isFinal: true },
  outputs_not_readable: { isFinal: true },
};

/** The reasons with a meaning. */
export function reasonsThat(meaning: keyof ReasonMeaning): StatusReason[] {
  return (Object.keys(reasonMeanings) as StatusReason[]).filter((reason) => reasonMeanings[reason]?.[meaning]);
}

export function isFinalReason(reason: StatusReason): boolean {
  return reasonMeanings[reason]?.isFinal ?? false;
}
