import { z } from 'zod';
import { actionsView, Time } from '#api/pipeline/schemas.ts';
import { runActions } from '#domain/runs/actions.ts';
import type { LogRow } from '#domain/runs/attempts/log-store.ts';
import type { RunDetails } from '#domain/runs/details.ts';
import { changeActions, runOperations, runPhases, runStatuses, waitingCodes } from '#domain/runs/model.ts';
import type { PlanDetails } from '#domain/runs/store.ts';
import { isolations } from '#domain/workers/model.ts';

const Json = z.json();
const By = z.object({ type: z.string(), id: z.string(), name: z.string() });
const Tool = z.object({ name: z.string(), version: z.string() });
export const OutputsView = z.record(z.string(), z.object({ value: Json.nullable(), sensitive: z.boolean() }));
const Summary = z.object({ add: z.number(), change: z.number(), destroy: z.number() });

const ReviewView = z.object({
  by: By,
  decision: z.enum(['approve', 'reject']),
  comment: z.string(),
  plan_digest: z.string(),
  at: Time,
});

/** A run in a list. It has no actions: only a run that is read alone has them. */
export const ListedRunView = z
  .object({
    id: z.string(),
    idempotency_key: z.string(),
    status: z.enum(runStatuses),
    phase: z.enum(runPhases),
    status_reason: z.string().nullable(),
    waiting_on: z
      .object({
        code: z.enum(waitingCodes),
        since: Time,
        position: z.number().nullable(),
        blocker: z.string().nullable(),
      })
      .nullable(),
    operation: z.enum(runOperations),
    replace: z.array(z.string()),
    team_id: z.string().nullable(),
    project_id: z.string().nullable(),
    environment_id: z.string().nullable(),
    instance_id: z.string(),
    instance: z.string(),
    template_id: z.string(),
    template_version: z.string(),
    pool: z.string(),
    tool: Tool.nullable(),
    variables: z.record(z.string(), Json),
    message: z.string(),
    requested_by: By,
    responsible_user_id: z.string().nullable(),
    plan: z.object({ digest: z.string(), summary: Summary }).nullable(),
    approval: z.object({
      required: z.number(),
      when: z.string(),
      allow_self: z.boolean(),
      expires_at: Time.nullable(),
      reviews: z.array(ReviewView),
    }),
    outputs: OutputsView,
    isolation: z.enum(isolations).nullable().describe('The weakest that an attempt of it had; null before the first.'),
    state_serial_before: z.number().nullable(),
    state_serial_after: z.number().nullable(),
    cancel_reason: z.string().nullable(),
    requeued_from: z.string().nullable(),
    assembly_run_id: z.string().nullable(),
    drift_finding_id: z.string().nullable(),
    undoes: z.string().nullable(),
    undone_by: z.string().nullable(),
    created_at: Time,
    started_at: Time.nullable(),
    finished_at: Time.nullable(),
    deleted_at: Time.nullable(),
    revision: z.number(),
  })
  .meta({ id: 'ListedRun' });

export function toListedRun(run: RunDetails): z.input<typeof ListedRunView> {
  return {
    id: run.id,
    idempotency_key: run.idempotencyKey,
    status: run.status,
    phase: run.phase,
    status_reason: run.statusReason,
    waiting_on: run.waitingOn,
    operation: run.operation,
    replace: run.replace,
    team_id: run.teamId,
    project_id: run.projectId,
    environment_id: run.environmentId,
    instance_id: run.instanceId,
    instance: run.instance,
    template_id: run.templateId,
    template_version: run.templateVersion,
    pool: run.pool,
    tool: run.tool,
    variables: run.variables,
    message: run.message,
    requested_by: { type: run.requestedByType, id: run.requestedById, name: run.requestedByName },
    responsible_user_id: run.responsibleUserId,
    plan: toPlanReference(run),
    approval: toApproval(run),
    outputs: run.outputs,
    isolation: run.isolation,
    state_serial_before: run.stateSerialBefore,
    state_serial_after: run.stateSerialAfter,
    cancel_reason: run.cancelReason,
    requeued_from: run.requeuedFrom,
    assembly_run_id: run.assemblyRunId,
    drift_finding_id: run.driftFindingId,
    undoes: run.undoes,
    undone_by: run.undoneBy,
    created_at: run.createdAt,
    started_at: run.startedAt,
    finished_at: run.finishedAt,
    deleted_at: run.deletedAt,
    revision: run.revision,
  };
}

function toPlanReference({ planDigest: digest, planSummary: summary }: RunDetails) {
  return digest !== null && summary !== null ? { digest, summary } : null;
}

function toApproval(run: RunDetails): z.input<typeof ListedRunView>['approval'] {
  return {
    required: run.approvalRequired,
    when: run.approvalWhen,
    allow_self: run.approvalAllowSelf,
    expires_at: run.approvalExpiresAt,
    reviews: run.reviews.map((review) => ({
      by: { type: review.reviewerType, id: review.reviewerId, name: review.reviewerName },
      decision: review.decision,
      comment: review.comment,
      plan_digest: review.planDigest,
      at: review.createdAt,
    })),
  };
}

/** A run in every answer about one run. */
export const RunView = z.object({ ...ListedRunView.shape, actions: actionsView(runActions) }).meta({ id: 'Run' });

export const PlanView = z.object({
  run_id: z.string(),
  digest: z.string(),
  summary: Summary,
  state_serial: z.number(),
  changes: z.array(z.object({ address: z.string(), action: z.enum(changeActions), before: Json, after: Json })),
  created_at: Time,
});

export function toPlan(runId: string, plan: PlanDetails): z.input<typeof PlanView> {
  return {
    run_id: runId,
    digest: plan.digest,
    summary: summarize(plan.changes),
    state_serial: plan.stateSerial,
    changes: plan.changes,
    created_at: plan.createdAt,
  };
}

function summarize(changes: PlanDetails['changes']) {
  const count = (...actions: string[]) => changes.filter(({ action }) => actions.includes(action)).length;
  return { add: count('create', 'replace'), change: count('update'), destroy: count('delete', 'replace') };
}

export const RunEventView = z.object({
  sequence: z.number(),
  type: z.string(),
  data: z.record(z.string(), Json),
  at: Time,
});

export const LogEntryView = z.object({
  sequence: z.number(),
  time: Time,
  phase: z.string(),
  stream: z.string(),
  first_line: z.number(),
  lines: z.number(),
  text: z.string(),
});

/** Bytes that are not UTF-8 become U+FFFD here; the text/plain log has them unchanged. */
export function toLogEntry({ content, firstLine, ...row }: LogRow): z.input<typeof LogEntryView> {
  return { ...row, first_line: firstLine, text: new TextDecoder().decode(content) };
}
