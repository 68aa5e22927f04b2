import type { DeclaredAction } from '#domain/shared/commands/declared-action.ts';
import { sealedColumn } from '#domain/shared/sealed/sealed-column.ts';
import { inputsContext } from './admission/inputs/inputs.ts';
import { RunReviewSchema } from './approval/entity.ts';
import { artifactContext, debugLogContext } from './attempts/seals.ts';
import { RunCommentSchema } from './comments/entity.ts';
import { RunDebugLogSchema } from './debug-logs/entity.ts';
import { eventRetention, logRetention, planRetention } from './deletion/retention.ts';
import { RunAttemptSchema, RunSchema } from './entity.ts';
import { runEvents } from './events/events.ts';
import { RunLogChunkSchema } from './log/entity.ts';
import { runKinds } from './ownership.ts';
import { RunPlanSchema } from './plans/entity.ts';

export const entities = [
  RunSchema,
  RunAttemptSchema,
  RunPlanSchema,
  RunDebugLogSchema,
  RunReviewSchema,
  RunCommentSchema,
  RunLogChunkSchema,
] as const;
export const ownership = runKinds;
export const events = runEvents;

export const systemActions = {
  'events.expired': {
    summary: 'Remove the events of a month that is out of retention',
    resourceType: 'events',
    actor: 'retention',
  },
  'run.approval_timed_out': {
    summary: 'End a run that was not reviewed within the time for approval',
    resourceType: 'runs',
    actor: 'approval timeout',
  },
  'run.engine_lost': {
    summary: 'End a run whose workflow the engine has lost',
    resourceType: 'runs',
    actor: 'reconciliation',
  },
  'run_logs.expired': {
    summary: 'Remove the logs of runs of a month that is out of retention',
    resourceType: 'run_logs',
    actor: 'retention',
  },
  'run_plans.expired': {
    summary: 'Remove the plans of the runs of a month that is out of retention',
    resourceType: 'run_plans',
    actor: 'retention',
  },
} as const satisfies Record<string, DeclaredAction>;

export const sealed = [
  sealedColumn({ table: 'runs', column: 'sealedInputs', key: ['id'], context: ({ id }) => inputsContext(id) }),
  sealedColumn({
    table: 'run_plans',
    column: 'artifact',
    key: ['runId'],
    context: ({ runId: id }) => artifactContext(id),
    isLarge: true,
  }),
  sealedColumn({
    table: 'run_debug_logs',
    column: 'content',
    key: ['attemptId'],
    context: ({ attemptId: id }) => debugLogContext(id),
    isLarge: true,
  }),
];

export const errorCodes = {
  reviewers_ineligible:
    'A person who is asked to review the run may not review it, or is unknown to you; or no person is named, and no user but you may review it.',
  run_not_cancelable: 'The run has ended already.',
  run_not_pending_approval: 'The run does not wait for approval.',
  run_not_requeueable: 'Only a run that has ended, and was not deleted, can be requeued.',
  run_not_copyable: 'Only a run that has ended, and was not deleted, can be copied.',
  run_not_deletable: 'Only a run that has ended can be deleted.',
  already_reviewed: 'You have reviewed this run already.',
  approval_complete: 'The run has all the approvals that it needs.',
  approval_expired: 'The time for approval is over.',
  plan_moved: 'The digest is not that of the plan that waits for approval.',
  self_approval: 'The approval must come from another person.',
  instance_occupied: 'Another template is deployed by this instance.',
  nothing_to_run_for: 'The template, environment or team of the run is gone.',
  pool_closed: 'The worker pool is not open to this run.',
  tool_conflict: 'No tool can run it: what its template, environment, instance and state ask for contradicts itself.',
  has_dependents: 'Other instances were deployed with outputs of this one.',
  same_tool: 'The instance uses this tool already.',
  reference_unresolved: 'A variable refers to an output that does not exist, or that the run may not read.',
  operation_unsupported: 'The template does not support the operation.',
  option_forbidden: 'The environment does not allow this option for its runs.',
  plan_secrets_required: 'The environment demands weaker secrets while planning, and the run has others.',
  option_unknown: 'No tool that the run may use knows this option.',
  address_invalid: 'A text is not an address of a resource or a module, so the tools could not read it.',
  address_masked: 'An address of a resource holds a secret that is masked, so the tools would not find it.',
  nothing_deployed: 'Nothing is deployed there that this could be about.',
} as const;
export const retention = { events: eventRetention, run_logs: logRetention, run_plans: planRetention };
