import { z } from 'zod';
import { actionsView, Time } from '#api/pipeline/schemas.ts';
import { runActions } from '#domain/runs/actions.ts';
import { changeActions, runOperations, runPhases, runStatuses, waitingCodes } from '#domain/runs/model.ts';
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

/** A run in a list: without its actions, which only a run that is read alone carries. */
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

/** A run, as every answer that is about one run shows it (api.md of the design). */
export const RunView = z.object({ ...ListedRunView.shape, actions: actionsView(runActions) }).meta({ id: 'Run' });

export const PlanView = z.object({
  run_id: z.string(),
  digest: z.string(),
  summary: Summary,
  state_serial: z.number(),
  changes: z.array(z.object({ address: z.string(), action: z.enum(changeActions), before: Json, after: Json })),
  created_at: Time,
});

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
