import { type StatusReason, statusReasons } from '#domain/shared/vocabulary/run-reasons.ts';

/** What to do about each reason why a run ended without success. docs/operating.md says more. */
const advice: Readonly<Record<StatusReason, string>> = {
  rejected: 'Change what the reviewer asks for, and run it again.',
  canceled_by_user: 'Run it again when you want what it would have done.',
  forced: 'Compare what is deployed with the latest state before the next apply.',
  approval_timeout: 'Run it again, and request a review. The template sets the time for approval.',
  plan_timeout: "Raise the template's time for planning, then run it again.",
  apply_timeout: "Check what was applied, then run it again. The template's time for applying can be raised.",
  plan_interrupted: 'An operator finds out why workers die, often for lack of memory. Then run it again.',
  apply_interrupted: 'Check what was applied, then run it again: its plan shows what is missing.',
  switch_not_empty:
    'The plan shows what the other tool would change. Apply that with the present tool first, or change the template, and switch again.',
  plan_moved: 'Run it again. It gets a new plan, which needs a new approval.',
  stale: 'Ask for it again: an undo is checked again, and a remediation names new evidence.',
  gave_way: 'Scan again once the other run has ended.',
  pool_closed: 'An operator opens the pool, or the template names another one.',
  engine_lost: 'An operator checks whether Temporal was restored from a backup. Then run it again.',
  step_timeout: "The log names the step and its limit. Raise the step's timeout.",
  output_limit: 'Print less.',
  directory_limit: 'Write less, or write to another place.',
  process_limit: 'Start fewer processes at a time.',
  memory_limit: 'Use less memory, or fewer providers at a time.',
  cpu_limit: 'Compute less, or compute in another place.',
  open_files_limit: 'Open fewer files and connections at a time.',
  sandbox_unavailable: 'An operator repairs the worker; its log says why. Then run it again.',
  init_failed:
    'Correct what the error names. If a module or a provider cannot be downloaded, an operator checks what the pool may reach, and a private one needs a connection that is bound to the environment.',
  modules_changed: 'Name a commit or a version in the source of the module, and publish a new version.',
  plan_failed: 'Correct the template or the variables of the run.',
  apply_failed: 'Correct what the log names, then run it again: the state has what was applied before the failure.',
  step_failed: 'Correct the step.',
  step_not_started: 'Check that the program is installed on the workers of the pool and can be executed.',
  plan_invalid: "The template's plan steps must leave a list of changes in plan.json.",
  plan_missing: 'The steps or the tool left no plan. Read the log.',
  outputs_invalid: "The template's steps must leave an object in outputs.json.",
  state_invalid: "The template's steps must leave JSON in state.json.",
  state_conflict: 'Find out what else writes this state.',
  state_not_saved: "The worker's log says why, and its spool holds the state.",
  state_refused: 'An operator examines the state that was set aside, before the next apply.',
  logs_not_saved: "The worker's log says why.",
  artifact_missing: 'Run it again.',
  artifact_mismatch: 'Run it again.',
  backend_forbidden: 'Correct the file that the message names. The service keeps the state itself.',
  no_configuration: 'Publish a version with files that the tool reads, or choose the tool that they were written for.',
  files_invalid: "Correct the template's files.",
  environment_invalid: 'Remove the NUL character from the variable, or give it a valid name.',
  operation_unsupported: 'A command template can be destroyed only if it has destroy steps.',
  tool_unavailable: 'An operator installs the tool on the workers of the pool, in the version that made the plan.',
  connection_unbound:
    'Bind a connection of the kind that the template needs to the environment or its project. Then run it again.',
  connection_unfit: 'Bind a connection of the kind that the template needs. Then run it again.',
  connection_conflict:
    'Bind another connection in the place of one of the two, or for other phases. Then run it again.',
  connection_elsewhere: 'Bind a connection that the environment may use. Then run it again.',
  connection_rebound: 'Run it again. It gets a new plan, which needs a new approval.',
  connection_unauthorized:
    'A person who may use connections and change the environment binds it again. Then run it again.',
  credentials_unavailable:
    'Set the credentials of the connection anew, or an operator adds the missing key. Then run it again.',
  identity_unavailable: "An operator sets the public URL of the service. The worker's log says more.",
  outputs_not_readable:
    'The owner of the instance that is read allows it again, on its page. Or run it again without the reference.',
  executor_lost: "Often it was killed for lack of memory. The worker's log shows its last output.",
  executor_failed: "A defect, or a machine without free memory or disk. The worker's log shows its last output.",
};

/** Why a run ended without success, and what to do about it, as sentences; null for a reason that this release does not know. */
export function explainReason(reason: string | null): { readonly why: string; readonly advice: string } | null {
  if (reason === null || !Object.hasOwn(statusReasons, reason)) return null;
  const known = reason as StatusReason;
  const why = statusReasons[known];
  return { why: `${why.charAt(0).toUpperCase()}${why.slice(1)}.`, advice: advice[known] };
}
