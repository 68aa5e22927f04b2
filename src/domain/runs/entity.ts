import { isDeepStrictEqual } from 'node:util';
import { defineEntity, p } from '@mikro-orm/core';
import { at, createdAt, id, revision } from '#database/columns.ts';
import type { UsedConnection } from '#domain/connections/bindings/model.ts';
import type { PrincipalReference } from '#domain/shared/access/principal.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { Masked, MaskedOutputs } from '#domain/shared/values/masked.ts';
import type { ApprovalRule } from '#domain/shared/vocabulary/approval.ts';
import type { PrincipalKind } from '#domain/shared/vocabulary/roles.ts';
import type { StatusReason } from '#domain/shared/vocabulary/run-reasons.ts';
import {
  type AttemptOutcome,
  type AttemptPhase,
  isTerminal,
  type RunOperation,
  type RunPhase,
  type RunStatus,
  type RunTimeouts,
  writingOperations,
} from '#domain/shared/vocabulary/runs.ts';
import { isHold, type WaitingOn } from '#domain/shared/vocabulary/waiting.ts';
import type { ToolDemand } from '#domain/tools/demand.ts';
import type { WantedTool } from '#domain/tools/model.ts';
import type { Isolation } from '#domain/workers/model.ts';
import type { ShownSource } from './admission/inputs/inputs.ts';
import type { StatusDetail } from './diagnostics/status-detail.ts';
import { RunTransitionRefused } from './errors.ts';
import { type ReviewNeed, type RunAuthor, runTransitions } from './model.ts';
import type { RunOptions } from './options/model.ts';
import type { StoredSummary } from './plans/model.ts';
import type { OutputRead } from './references/model.ts';
import type { VariableReset } from './reset-model.ts';

export const RunSchema = defineEntity({
  name: 'Run',
  tableName: 'runs',
  indexes: [
    // Lists and counts leave scans out: there may be thousands of scans for each other run.
    {
      name: 'runs_team_id_index',
      expression: `create index "runs_team_id_index" on "runs" ("team_id", "id") where "operation" <> 'scan'`,
    },
    {
      name: 'runs_listed_index',
      expression: `create index "runs_listed_index" on "runs" ("id") where "operation" <> 'scan'`,
    },
    {
      // The list of an instance's runs orders nulls otherwise, so PostgreSQL reads it from the next index.
      name: 'runs_instance_position_index',
      expression: `create index "runs_instance_position_index" on "runs" ("instance_id" nulls first, "instance_position")`,
    },
    { name: 'runs_instance_id_index', properties: ['instanceId', 'id'] },
    { name: 'runs_environment_id_index', properties: ['environmentId', 'id'] },
    {
      name: 'runs_template_id_index',
      expression: `create index "runs_template_id_index" on "runs" ("template_id", "id") where "operation" <> 'scan'`,
    },
    {
      name: 'runs_unfinished_index',
      expression: `create index "runs_unfinished_index" on "runs" ("status", "id") where "finished_at" is null`,
    },
    {
      name: 'runs_unfinished_team_index',
      expression: `create index "runs_unfinished_team_index" on "runs" ("team_id", "status") where "finished_at" is null and "operation" <> 'scan'`,
    },
    {
      name: 'runs_finished_index',
      expression: `create index "runs_finished_index" on "runs" ("team_id", "status", "id") where "finished_at" is not null and "operation" <> 'scan'`,
    },
    {
      name: 'runs_assembly_node_index',
      expression: `create index "runs_assembly_node_index" on "runs" ("assembly_node_id", "id") where "assembly_node_id" is not null`,
    },
    {
      name: 'runs_assembly_run_index',
      expression: `create index "runs_assembly_run_index" on "runs" ("assembly_run_id", "id") where "assembly_run_id" is not null`,
    },
    {
      name: 'runs_requested_by_index',
      expression: `create index "runs_requested_by_index" on "runs" ("requested_by_id", "id") where "operation" <> 'scan'`,
    },
    {
      name: 'runs_drift_monitor_index',
      expression: `create index "runs_drift_monitor_index" on "runs" ("drift_monitor_id", "id") where "drift_monitor_id" is not null`,
    },
    {
      name: 'runs_unfinished_scans_index',
      expression: `create index "runs_unfinished_scans_index" on "runs" ("instance_id") where "operation" = 'scan' and "finished_at" is null`,
    },
    {
      name: 'runs_finished_status_index',
      expression: `create index "runs_finished_status_index" on "runs" ("status", "id") where "finished_at" is not null and "operation" <> 'scan'`,
    },
    {
      name: 'runs_team_operation_index',
      expression: `create index "runs_team_operation_index" on "runs" ("team_id", "operation", "id") where "operation" <> 'apply'`,
    },
    {
      name: 'runs_operation_index',
      expression: `create index "runs_operation_index" on "runs" ("operation", "id") where "operation" <> 'apply'`,
    },
    {
      name: 'runs_outcomes_index',
      expression: `create index "runs_outcomes_index" on "runs" ("team_id", "created_at") include ("status", "started_at", "finished_at") where "finished_at" is not null and "deleted_at" is null and "operation" <> 'scan'`,
    },
    {
      name: 'runs_reads_index',
      expression: `create index "runs_reads_index" on "runs" using gin ("reads" jsonb_path_ops) where "reads" is not null`,
    },
    {
      name: 'runs_message_words_index',
      expression: `create index "runs_message_words_index" on "runs" using gin ((to_tsvector('simple', regexp_replace(lower("message"), '[^[:alnum:]]+', ' ', 'g')) || array_to_tsvector(array[coalesce("team_id"::text, '-')]))) where "message" <> ''`,
    },
    {
      name: 'runs_id_end_index',
      expression: `create index "runs_id_end_index" on "runs" (reverse(right("id"::text, 12)) text_pattern_ops)`,
    },
    {
      name: 'runs_drift_finding_index',
      expression: `create index "runs_drift_finding_index" on "runs" ("drift_finding_id", "id") where "drift_finding_id" is not null`,
    },
    {
      name: 'runs_started_by_run_index',
      expression: `create index "runs_started_by_run_index" on "runs" ("started_by_run_id", "id") where "started_by_run_id" is not null`,
    },
  ],
  properties: {
    /** The id differs from the idempotency key: the client chooses the key, and the key names the workflow. */
    id: id(),
    idempotencyKey: p.uuid().unique(),
    status: p.string().$type<RunStatus>(),
    phase: p.string().$type<RunPhase>(),
    statusReason: p.string().$type<StatusReason>().nullable(),
    /** The failure, in the text of the tool or of the service. */
    statusDetail: p.json<StatusDetail>().nullable(),
    waitingOn: p.json<WaitingOn>().nullable(),
    operation: p.string().$type<RunOperation>(),
    replace: p.json<string[]>(),
    /** Null: none. */
    options: p.json<RunOptions>().nullable(),
    teamId: p.uuid().nullable(),
    projectId: p.uuid().nullable(),
    environmentId: p.uuid().nullable(),
    instanceId: p.uuid(),
    instance: p.string(),
    instancePosition: p.integer(),
    templateId: p.uuid(),
    templateVersionId: p.uuid(),
    templateVersion: p.string(),
    pool: p.string(),
    tool: p.json<{ name: string; version: string }>().nullable(),
    /** The tools that the run may use; null: it may use any tool, or its steps need none. */
    toolDemand: p.json<ToolDemand>().nullable(),
    /** The tool to which the run switches its instance if its plan changes nothing; null: it switches none. */
    toolSwitch: p.json<WantedTool>().nullable(),
    variables: p.json<Record<string, JsonValue | Masked>>(),
    /** The sources of the variables that the request did not name; null for runs of an earlier release. */
    variableSources: p.json<ShownSource[]>().nullable(),
    /** The outputs of other instances that the run received; null: none. */
    reads: p.json<OutputRead[]>().nullable(),
    /** The variables of the deployment that it resets, because its request does not name them; null: none. */
    variableResets: p.json<VariableReset[]>().nullable(),
    /** Sealed: the variables and environment variables of the run, secrets included. */
    sealedInputs: p.blob().hidden(),
    /** The connections that its attempts used. */
    connections: p.json<UsedConnection[]>().default([]),
    message: p.text().default(''),
    requestedById: p.uuid(),
    requestedByType: p.string().$type<PrincipalKind>(),
    requestedByName: p.string(),
    credentialId: p.uuid().nullable(),
    responsibleUserId: p.uuid().nullable(),
    retrySafe: p.boolean(),
    timeouts: p.json<RunTimeouts>(),
    approvalRequired: p.integer(),
    approvalWhen: p.string().$type<ApprovalRule>(),
    approvalAllowSelf: p.boolean(),
    approvalExpiresAt: at().nullable(),
    /** Who was asked to review it. */
    reviewers: p.json<PrincipalReference[]>().default([]),
    planDigest: p.string().nullable(),
    planSummary: p.json<StoredSummary>().nullable(),
    outputs: p.json<MaskedOutputs>(),
    stateSerialBefore: p.integer().nullable(),
    stateSerialAfter: p.integer().nullable(),
    attemptId: p.uuid().nullable(),
    /** The weakest isolation of its attempts; null before the first. */
    isolation: p.string().$type<Isolation>().nullable(),
    cancelReason: p.text().nullable(),
    requeuedFrom: p.uuid().nullable(),
    assemblyRunId: p.uuid().nullable(),
    /** The node of the assembly run for which this run is one attempt. */
    assemblyNodeId: p.uuid().nullable(),
    /** The workflow that is woken whenever the status changes. */
    parentWorkflowId: p.uuid().nullable(),
    /** The people who are responsible for it besides its requester. */
    authors: p.json<RunAuthor[]>().default([]),
    /** What reviewing it requires besides the authority to review runs. */
    reviewNeeds: p.json<ReviewNeed[]>().default([]),
    driftFindingId: p.uuid().nullable(),
    /** The drift monitor that requested a scan. */
    driftMonitorId: p.uuid().nullable(),
    undoes: p.uuid().nullable(),
    undoneBy: p.uuid().nullable(),
    /** The run of another instance whose outputs it was started to follow. */
    startedByRunId: p.uuid().nullable(),
    /** The state and the deployment that the instance must still have (`RunPin`); null: the run accepts any. */
    expectedStateSerial: p.integer().nullable(),
    expectedDeployedRunId: p.uuid().nullable(),
    /** The run whose plan somebody accepted: this run may change only what that plan changes. */
    expectedPlanRunId: p.uuid().nullable(),
    revision: revision(),
    createdAt: createdAt(),
    startedAt: at().nullable(),
    finishedAt: at().nullable(),
    /** Deletion purges the log and the plan of the run, and keeps its lineage. */
    deletedAt: at().nullable(),
  },
});
export class Run extends RunSchema.class {
  /** Changes the status along a transition of the state table. @throws RunTransitionRefused for any other: a defect of the caller */
  moveTo(status: RunStatus, phase: RunPhase = this.phase): void {
    if (!runTransitions[this.status].includes(status)) throw new RunTransitionRefused(this.id, this.status, status);
    this.status = status;
    this.phase = phase;
    this.waitingOn = null;
    this.revision += 1;
  }

  /**
   * Sets why the run waits. `since` stays while the code stays the same; setting the same again changes nothing. Returns whether
   * anything changed.
   */
  waitFor(
    code: WaitingOn['code'],
    { position = null, blocker = null, tools, share }: Partial<Omit<WaitingOn, 'code' | 'since'>> = {},
  ): boolean {
    const last = this.waitingOn;
    const isNew = last?.code !== code;
    const since = isNew ? new Date().toISOString() : last.since;
    const waitingOn = { code, since, position, blocker, ...(tools && { tools }), ...(share && { share }) };
    if (isDeepStrictEqual(last, waitingOn)) return false;
    this.waitingOn = waitingOn;
    this.revision += 1;
    return true;
  }

  isFinished(): boolean {
    return isTerminal(this.status);
  }

  /**
   * Whether the run uses a slot of the quota of concurrent runs. It must agree with `usesQuotaSlot` of quotas, which counts them in SQL.
   */
  usesQuotaSlot(): boolean {
    const isExecuting = this.status === 'running' || this.status === 'canceling';
    const code = this.waitingOn?.code;
    const waitsOutside = code !== undefined && (code === 'quota' || isHold(code));
    return isExecuting && (this.phase === 'planning' || this.phase === 'applying') && !waitsOutside && !this.isScan();
  }

  isScan(): boolean {
    return this.operation === 'scan';
  }

  isWriter(): boolean {
    return writingOperations.includes(this.operation);
  }
}
RunSchema.setClass(Run);

/** One attempt at a phase. Its id is the fencing token: writes with an older one are refused. */
export const RunAttemptSchema = defineEntity({
  name: 'RunAttempt',
  tableName: 'run_attempts',
  indexes: [{ name: 'run_attempts_run_id_index', properties: ['runId'] }],
  properties: {
    id: id(),
    runId: () => p.manyToOne(Run).mapToPk().fieldName('run_id').deleteRule('restrict'),
    phase: p.string().$type<AttemptPhase>(),
    workerId: p.uuid().nullable(),
    /** The isolation that its worker gave it; null until a worker has claimed it. */
    isolation: p.string().$type<Isolation>().nullable(),
    /** Added to the executor's chunk numbers, so that the log of a run has one sequence over all attempts. */
    logBase: p.integer(),
    /** Added to the executor's line numbers, so that the log of a run has one sequence of lines over all attempts. */
    lineBase: p.integer(),
    /** When the attempt was opened or, once a worker has claimed it, when it was claimed. */
    startedAt: at(),
    finishedAt: at().nullable(),
    outcome: p.string().$type<AttemptOutcome>().nullable(),
  },
});
export class RunAttempt extends RunAttemptSchema.class {}
RunAttemptSchema.setClass(RunAttempt);
