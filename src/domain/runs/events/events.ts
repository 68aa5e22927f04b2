import { z } from 'zod';
import type { EventType } from '#domain/shared/events/event-type.ts';
import { holdCodes } from '#domain/shared/vocabulary/holds.ts';
import { runOperations, terminalStatuses } from '#domain/shared/vocabulary/runs.ts';
import { lapseReasons } from '../model.ts';

const by = z.string();
const digest = z.string().nullable();
const count = z.number().int();
/** What failed, without the lines of the file. */
export const StatusDetailData = z.strictObject({
  message: z.string(),
  file: z.string().optional(),
  line: count.optional(),
  source: z.enum(['tool', 'service']),
});

/** What happens to runs. GET /runs/{id}/events returns these events, and clients match their types, so the types never change. */
export const runEvents = {
  'run.admitted': {
    subject: 'run',
    summary: 'A run was admitted',
    covers: [
      'run.created',
      'run.requeued',
      'run.copied',
      'run.undo_requested',
      'drift_monitor.scan_requested',
      'instance.tool_switch_requested',
    ],
    data: z.strictObject({ by, operation: z.enum(runOperations) }),
  },
  'run.planning': {
    subject: 'run',
    summary: 'A run began to plan, or a scan to look',
    data: z.strictObject({ operation: z.enum(runOperations).optional() }),
  },
  'run.planned': {
    subject: 'run',
    summary: 'A run has a plan',
    data: z.strictObject({
      digest,
      operation: z.enum(runOperations).optional(),
      add: count,
      change: count,
      destroy: count,
      replace: count.optional(),
      forget: count.optional(),
      import: count.optional(),
      move: count.optional(),
      outputs: count.optional(),
      checks: count.optional(),
      warnings: count.optional(),
      actions: count.optional(),
      deferred: count.optional(),
    }),
  },
  'run.approval_required': {
    subject: 'run',
    summary: 'A run waits for approval',
    data: z.strictObject({ required: count, digest }),
  },
  'run.approval_requested': {
    subject: 'run',
    summary: 'Reviews of a run were requested',
    data: z.strictObject({ by, reviewers: z.array(z.string()), message: z.string() }),
  },
  'run.reviewed': {
    subject: 'run',
    summary: 'A run was approved or rejected',
    data: z.strictObject({ by, decision: z.enum(['approve', 'reject']), comment: z.string() }),
  },
  'run.approval_lapsed': {
    subject: 'run',
    summary:
      'An approval no longer counts, because its reviewer was disabled, may not review the run any more, or answers for it',
    data: z.strictObject({ by, reviewer_id: z.string(), reason: z.enum(lapseReasons) }),
  },
  'run.held': {
    subject: 'run',
    summary: 'A run is ready to apply, and waits because of a pause, a lock or a freeze window',
    data: z.strictObject({ code: z.enum(holdCodes), reason: z.string(), until: z.string().nullable() }),
  },
  'run.applying': { subject: 'run', summary: 'A run began to apply its plan', data: z.strictObject({ digest }) },
  'run.attempt_lost': {
    subject: 'run',
    summary: 'The worker of an attempt was lost',
    data: z.strictObject({ phase: z.enum(['planning', 'applying']) }),
  },
  'run.connection_refused': {
    subject: 'run',
    summary: 'A run could not be given a connection that it needs',
    data: z.strictObject({ phase: z.enum(['planning', 'applying']), reason: z.string(), message: z.string() }),
  },
  'run.read_refused': {
    subject: 'run',
    summary: 'A run may not read an output of another instance any longer, which it was given',
    data: z.strictObject({ phase: z.enum(['planning', 'applying']), reason: z.string(), message: z.string() }),
  },
  'run.state_recovered': {
    subject: 'run',
    summary: 'A state that an ended attempt had written became the latest state of the instance',
    data: z.strictObject({ serial: count }),
  },
  'run.state_refused': {
    subject: 'run',
    summary: 'A state that an attempt had written could not be stored and was set aside',
    data: z.strictObject({
      attempt_id: z.string(),
      write: z.number().nullable(),
      digest: z.string(),
      file: z.string().nullable(),
      worker_id: z.string(),
      problem: z.string(),
    }),
  },
  'run.outputs_unrepresentable': {
    subject: 'run',
    summary: 'An apply gave outputs that cannot be stored in full',
    data: z.strictObject({
      values: z.array(z.strictObject({ output: z.string(), path: z.string(), reason: z.string() })),
      count,
    }),
  },
  'run.not_contained': {
    subject: 'run',
    summary: 'A run needs a sandbox, and no live worker of its pool has one',
    data: z.strictObject({ pool: z.string(), message: z.string() }),
  },
  'run.cancel_requested': {
    subject: 'run',
    summary: 'Cancellation of a run was requested',
    data: z.strictObject({ by, reason: z.string().nullable(), force: z.boolean() }),
  },
  'run.gave_way': {
    subject: 'run',
    summary: 'A scan was canceled, because a run that changes the instance began',
    data: z.strictObject({ run_id: z.string() }),
  },
  'run.finished': {
    subject: 'run',
    summary: 'A run ended',
    covers: ['run.engine_lost', 'run.approval_timed_out'],
    data: z.strictObject({
      status: z.enum(terminalStatuses),
      reason: z.string().nullable(),
      operation: z.enum(runOperations).optional(),
      status_detail: StatusDetailData.optional(),
    }),
  },
  'run.undone': {
    subject: 'run',
    summary: 'Another run has taken back what a run changed',
    data: z.strictObject({ run_id: z.string() }),
  },
  'run.commented': {
    subject: 'run',
    summary: 'A comment was added to a run',
    data: z.strictObject({ by, comment_id: z.string() }),
  },
  'run.deleted': {
    subject: 'run',
    summary: 'The log, the plan and the comments of a run were deleted',
    data: z.strictObject({ by }),
  },
} as const satisfies Record<string, EventType>;
