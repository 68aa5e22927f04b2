import { z } from 'zod';
import { answerOf } from '#api/pipeline/fields.ts';
import { AnswerId, actionsView, Time } from '#api/pipeline/schemas.ts';
import { connectionReading } from '#domain/connections/authority.ts';
import type { UsedConnection } from '#domain/connections/bindings/model.ts';
import { type EventTypeName, eventTypes } from '#domain/events.ts';
import { showOutputs } from '#domain/instances/secret-outputs.ts';
import { runActions } from '#domain/runs/actions.ts';
import type { RunDetails } from '#domain/runs/details-store.ts';
import { isPartial, logLevels, type RunOptions } from '#domain/runs/options/model.ts';
import { decidePermission } from '#domain/shared/access/decide.ts';
import { type Principal, shownIdOf } from '#domain/shared/access/principal.ts';
import { Json, namedValues } from '#domain/shared/values/json.ts';
import { quotaScopes } from '#domain/shared/vocabulary/quotas.ts';
import { runOperations, runPhases, runStatuses } from '#domain/shared/vocabulary/runs.ts';
import { shares, waitingCodes } from '#domain/shared/vocabulary/waiting.ts';
import { WantedTool } from '#domain/tools/model.ts';
import { variableCategories, variablePhases } from '#domain/variables/model.ts';
import { isolations } from '#domain/workers/model.ts';
import { By } from '../pipeline/schemas.ts';
import { ApprovalView, ListedApprovalView, toListedApproval } from './approvals/approval-views.ts';
import { SummaryView, viewPlanReference } from './plan-views.ts';
import { ReadView, ResetView, showVariables } from './variable-views.ts';

const runEventTypes = (Object.keys(eventTypes) as EventTypeName[]).filter((name) => eventTypes[name].subject === 'run');

const HoldBlockerView = z
  .object({
    by: By.nullable(),
    name: z.string().nullable().describe('The name of the freeze window.'),
    reason: z.string(),
    until: Time.nullable(),
  })
  .meta({ id: 'Hold' });
const QuotaBlockerView = z
  .object({
    scope: z.enum(quotaScopes),
    id: z.string().describe('Of the owner whose quota it is; `global` for the installation.'),
    kind: z.enum(['concurrent_runs', 'queued_runs']),
    limit: z.number().nullable().describe('Null: the quota cannot be read.'),
    used: z.number().nullable().describe('When the run last looked.'),
  })
  .meta({ id: 'FullQuota' });
export const WaitingOnView = z.object({
  code: z.enum(waitingCodes),
  since: Time,
  position: z.int().nullable(),
  blocker: z
    .union([z.string(), QuotaBlockerView, HoldBlockerView])
    .nullable()
    .describe('The id of a run, what holds the apply, or the quota that has no place.'),
  share: z
    .enum(shares)
    .optional()
    .describe(
      "With `pool_share`: whose share of the pool is exhausted, that of the run's requester or of its team. For a service account, the person responsible for it is the requester.",
    ),
  tools: z
    .array(z.object({ name: z.string(), version: z.string() }))
    .optional()
    .describe(
      'With `no_worker`: a worker of the pool must have one of these tools, in a version in that range; empty: any version.',
    ),
});
const Requester = z
  .object({ ...By.shape, id: AnswerId.nullable().describe('Null where the service itself requested the run.') })
  .meta({ id: 'Requester' });
const Tool = z.object({ name: z.string(), version: z.string() }).meta({ id: 'Tool' });
const OutputView = z.object({
  value: Json.nullable(),
  sensitive: z.boolean(),
  unrepresentable: z
    .array(z.object({ path: z.string().describe('A JSON pointer into the value.'), reason: z.string() }))
    .optional()
    .describe(
      'The parts of the value that cannot be stored. The value has a mark `{"unrepresentable": …}` in place of each.',
    ),
});
export const OutputsView = namedValues(OutputView).meta({ id: 'Outputs' });

/** The options of a run, including those that have their defaults. */
export const RunOptionsView = z
  .object({
    replace: z.array(z.string()),
    target: z.array(z.string()),
    exclude: z.array(z.string()),
    refresh: z.boolean(),
    parallelism: z.int().nullable().describe('Null: as the tool has it.'),
    log_level: z.enum(logLevels).nullable(),
  })
  .meta({ id: 'RunOptions' });

export function viewOptions(
  options: RunOptions | null | undefined,
  replace: readonly string[],
): z.input<typeof RunOptionsView> {
  const { target = [], exclude = [], refresh = true, parallelism = null, log_level = null } = options ?? {};
  const addresses = { replace: [...replace], target: [...target], exclude: [...exclude] };
  return { ...addresses, refresh, parallelism, log_level };
}

export const StatusDetailView = z
  .object({
    message: z.string(),
    file: z.string().optional().describe("Relative to the root of the template's files."),
    line: z.int().optional(),
    snippet: z.string().optional().describe('The lines of the file that the tool showed.'),
    source: z.enum(['tool', 'service']).describe('Who says it: the tool or the steps, or the service.'),
  })
  .meta({ id: 'StatusDetail', description: 'What failed: the first error of the tool, or what the service found.' });

/** A run in a list. Only the view of a single run has actions. */
export const ListedRunView = z
  .object({
    id: AnswerId,
    idempotency_key: AnswerId,
    status: z.enum(runStatuses),
    phase: z.enum(runPhases),
    status_reason: z.string().nullable(),
    status_detail: StatusDetailView.nullable(),
    waiting_on: WaitingOnView.nullable(),
    operation: z
      .enum(runOperations)
      .describe('`scan`: looks for drift, and changes nothing. Lists contain scans only if they are asked for scans.'),
    replace: z.array(z.string()),
    options: RunOptionsView,
    partial: z.boolean().describe('`target`, `exclude` or `refresh: false`: its success says nothing about the whole.'),
    team_id: AnswerId.nullable(),
    project_id: AnswerId.nullable(),
    environment_id: AnswerId.nullable(),
    instance_id: AnswerId,
    instance: z.string(),
    template_id: AnswerId,
    template_version: z.string(),
    pool: z.string(),
    tool: Tool.nullable(),
    tool_switch: WantedTool.nullable().describe(
      'The tool to which it switches its instance, if its plan changes nothing.',
    ),
    variables: z.record(z.string(), Json),
    message: z.string(),
    requested_by: Requester,
    responsible_user_id: AnswerId.nullable(),
    plan: z.object({ digest: z.string(), summary: SummaryView }).nullable(),
    approval: ListedApprovalView,
    reviewers: z.array(By).describe('Who was asked to review it.'),
    outputs: OutputsView,
    isolation: z.enum(isolations).nullable().describe('The weakest that an attempt of it had; null before the first.'),
    state_serial_before: z.int().nullable(),
    state_serial_after: z.int().nullable(),
    cancel_reason: z.string().nullable(),
    requeued_from: AnswerId.nullable().describe('The run that it repeats, or of which it is a copy with changes.'),
    assembly_run_id: AnswerId.nullable(),
    assembly_node: z
      .object({ assembly_id: AnswerId, key: z.string() })
      .nullable()
      .describe('The node of the assembly run that it is a try of.'),
    drift_finding_id: AnswerId.nullable(),
    drift_monitor_id: AnswerId.nullable().describe('The monitor for which a scan looks.'),
    undoes: AnswerId.nullable(),
    undone_by: AnswerId.nullable(),
    started_by_run_id: AnswerId.nullable().describe(
      'The run of another instance whose changed outputs it was started to follow.',
    ),
    created_at: Time,
    started_at: Time.nullable(),
    finished_at: Time.nullable(),
    deleted_at: Time.nullable(),
    revision: z.int(),
  })
  .meta({ id: 'ListedRun' });

export function toListedRun(run: RunDetails): z.input<typeof ListedRunView> {
  const { assemblyNode: node } = run;
  return answerOf(ListedRunView.shape, {
    ...run,
    options: viewOptions(run.options, run.replace),
    partial: isPartial(run.options),
    variables: showVariables(run),
    requestedBy: { type: run.requestedByType, id: shownIdOf(run.requestedById), name: run.requestedByName },
    plan: viewPlanReference(run),
    approval: toListedApproval(run),
    outputs: showOutputs(run.outputs, run.secretOutputs),
    assemblyNode: node && { assembly_id: node.assemblyId, key: node.key },
  });
}

/** A run, in every answer about a single run. */
export const RunView = z
  .object({
    ...ListedRunView.shape,
    variable_sources: z
      .array(
        z.object({
          variable: z.string(),
          category: z.enum(variableCategories),
          kind: z.enum(['environment', 'variable_set']),
          id: AnswerId,
          name: z.string().describe('What the environment or the set was called when the run was admitted.'),
        }),
      )
      .nullable()
      .describe(
        'What gave the run the variables that it did not name itself. Null: an earlier release did not keep it.',
      ),
    reads: z
      .array(ReadView)
      .describe('The outputs of other instances that the run was given. Its plan and its apply use these values.'),
    variables_reset: z
      .array(ResetView)
      .describe(
        'The variables of the last deployment that the run resets because its request does not name them: look at them before you approve it.',
      ),
    connections: z
      .array(
        z.object({
          name: z.string().describe('The name by which the template asks for it.'),
          phase: z.enum(variablePhases),
          attempt_id: AnswerId,
          connection_id: AnswerId.nullable().describe('Null for those who may not read connections.'),
          connection: z
            .string()
            .nullable()
            .describe('What the connection was called; null for those who may not read connections.'),
          kind: z.string(),
          credential_revision: z.int().describe('How often its credentials had been set.'),
          bound_by: AnswerId,
        }),
      )
      .describe('The connections that attempts of the run were given.'),
    approval: ApprovalView,
    prefill: z
      .object({ variables: z.record(z.string(), Json), secrets: z.array(z.string()) })
      .nullable()
      .describe(
        'What `POST /runs/{id}/copy` takes over of the variables. It takes over those named in `secrets` only if version, instance ' +
          'and all variables stay the same. Null: the run was deleted.',
      ),
    superseded_by: z
      .object({ run_id: AnswerId, operation: z.enum(runOperations), template_version: z.string() })
      .nullable()
      .describe(
        'Of an apply that has ended: the newer run that has deployed or destroyed its instance since. A requeue would replace that with its own version and ' +
          'inputs. Null: there is none, or it belongs to another team whose runs you may not read.',
      ),
    actions: actionsView(runActions),
  })
  .meta({ id: 'Run' });

/** The view, for a principal, of a connection that an attempt used. */
export function toUsedConnection(
  used: UsedConnection,
  principal: Principal,
): z.input<typeof RunView>['connections'][number] {
  const mayRead = decidePermission(principal, connectionReading).allowed;
  return {
    name: used.name,
    phase: used.phase,
    attempt_id: used.attemptId,
    connection_id: mayRead ? used.connectionId : null,
    connection: mayRead ? used.connection : null,
    kind: used.kind,
    credential_revision: used.credentialRevision,
    bound_by: used.boundBy,
  };
}

export const RunEventView = z
  .object({
    sequence: z.int(),
    type: z.enum(runEventTypes),
    data: z.record(z.string(), Json),
    at: Time,
  })
  .meta({ id: 'RunEvent' });
