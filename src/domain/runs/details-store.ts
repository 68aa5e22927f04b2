import { type CallbackSelection, type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import { jsonArrayFrom, jsonObjectFrom } from 'kysely/helpers/postgres';
import type { Tables } from '#domain/entities.ts';
import { secretNamesAmong } from '#domain/instances/secret-outputs.ts';
import { selectPositionInQuota } from '#domain/quotas/use/places-store.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { phasesWithOwnPolicy, writingOperations } from '#domain/shared/vocabulary/runs.ts';
import type { WaitingOn } from '#domain/shared/vocabulary/waiting.ts';
import { selectAdmittedPolicy, selectEnvironmentPolicy } from './approval/policy-store.ts';
import { secretNamesOfNodes, secretVariablesOf } from './references/secret-outputs.ts';

export type OverRun = ExpressionBuilder<Tables, 'runs'>;

/** What the API shows about a run. */
export function selectRunDetails(eb: OverRun) {
  return [
    'runs.id',
    'runs.idempotency_key as idempotencyKey',
    'runs.status',
    'runs.phase',
    'runs.status_reason as statusReason',
    'runs.status_detail as statusDetail',
    selectWaitingOn(eb).as('waitingOn'),
    'runs.operation',
    'runs.replace',
    'runs.options',
    'runs.team_id as teamId',
    'runs.project_id as projectId',
    'runs.environment_id as environmentId',
    'runs.instance_id as instanceId',
    'runs.instance',
    'runs.template_id as templateId',
    'runs.template_version as templateVersion',
    'runs.pool',
    'runs.tool',
    'runs.tool_switch as toolSwitch',
    'runs.variables',
    'runs.variable_sources as variableSources',
    'runs.reads',
    selectSecretVariables(eb).as('secretVariables'),
    selectEdges(eb).as('edges'),
    'runs.variable_resets as variableResets',
    'runs.connections',
    'runs.message',
    'runs.requested_by_id as requestedById',
    'runs.requested_by_type as requestedByType',
    'runs.requested_by_name as requestedByName',
    'runs.responsible_user_id as responsibleUserId',
    'runs.plan_digest as planDigest',
    'runs.plan_summary as planSummary',
    selectAdmittedPolicy().as('admittedPolicy'),
    selectPresentPolicy(eb).as('presentPolicy'),
    'runs.approval_expires_at as approvalExpiresAt',
    selectReviews(eb).as('reviews'),
    'runs.reviewers',
    'runs.outputs',
    selectSecretOutputs(eb).as('secretOutputs'),
    'runs.isolation',
    'runs.state_serial_before as stateSerialBefore',
    'runs.state_serial_after as stateSerialAfter',
    'runs.cancel_reason as cancelReason',
    'runs.requeued_from as requeuedFrom',
    'runs.review_needs as reviewNeeds',
    'runs.assembly_run_id as assemblyRunId',
    'runs.assembly_node_id as assemblyNodeId',
    selectAssemblyNode(eb).as('assemblyNode'),
    'runs.drift_finding_id as driftFindingId',
    'runs.drift_monitor_id as driftMonitorId',
    'runs.undoes',
    'runs.undone_by as undoneBy',
    'runs.started_by_run_id as startedByRunId',
    'runs.created_at as createdAt',
    'runs.started_at as startedAt',
    'runs.finished_at as finishedAt',
    'runs.deleted_at as deletedAt',
    'runs.revision',
  ] as const;
}

/** A run as the API shows it. Times are strings. */
export type RunDetails = CallbackSelection<Tables, 'runs', typeof selectRunDetails>;

/** Most runs of a list have no outputs, and need not look for versions. */
function selectSecretOutputs(eb: OverRun) {
  const outputs = eb.ref('runs.outputs');
  return sql<string[]>`case when ${outputs} = '{}' then '{}'::text[] else ${secretNamesAmong('runs')} end`;
}

/** The variables that hold outputs of other instances that have become secret since the run read them. */
function selectSecretVariables(eb: OverRun) {
  const reads = eb.ref('runs.reads');
  return sql<string[]>`case when ${reads} is null then '{}'::text[] else ${secretVariablesOf(reads)} end`;
}

/** What the variables of a node's run were made of, with the outputs of other nodes that are secret by now; null if none is, and for any other run. */
function selectEdges(eb: OverRun) {
  const written = sql`an.spec -> 'variables'`;
  // A node refers only to those that it waits for. In a destroy, these wait for it, so all nodes are searched. The keys are looked up in an index.
  const waitedFor = sql`array(select jsonb_array_elements_text(an.dependencies))`;
  const eitherWay = sql`array(
    select w.key::text from assembly_nodes w
      where w.assembly_run_id = an.assembly_run_id and (an.dependencies ? w.key or w.dependencies ? an.key))`;
  const isDestroy = eb('runs.operation', '=', sql.lit('destroy' as const));
  const isUsed = sql<SqlBool>`n.key = any(case when ${isDestroy} then ${eitherWay} else ${waitedFor} end)`;
  const environmentId = eb.ref('runs.environment_id');
  const secret = secretNamesOfNodes(sql`an.assembly_run_id`, { environmentId, isUsed });
  return sql<{
    readonly written: Readonly<Record<string, JsonValue>>;
    readonly secret: Readonly<Record<string, readonly string[]>>;
  } | null>`(select case when used.secret <> '{}' then jsonb_build_object('written', ${written}, 'secret', used.secret) end
    from assembly_nodes an cross join lateral (select ${secret} as secret offset 0) used where an.id = ${eb.ref('runs.assembly_node_id')})`;
}

/** The assembly and the node of which a run is a try; null for any other run. */
function selectAssemblyNode(eb: OverRun) {
  return jsonObjectFrom(
    eb
      .selectFrom('assembly_nodes as an')
      .innerJoin('assembly_runs as ar', 'ar.id', 'an.assembly_run_id')
      .whereRef('an.id', '=', 'runs.assembly_node_id')
      .select(['ar.assembly_id as assemblyId', 'an.key']),
  );
}

/** The policy of the environment of a run now; null once the run applies or has ended, since it keeps the one it applied under. */
function selectPresentPolicy(eb: OverRun) {
  const isDecided = eb('runs.phase', 'in', phasesWithOwnPolicy);
  return eb.case().when(eb.not(isDecided)).then(selectEnvironmentPolicy(eb)).end();
}

/** The reviews of a run, oldest first. */
function selectReviews(eb: OverRun) {
  return jsonArrayFrom(
    eb
      .selectFrom('run_reviews as v')
      .whereRef('v.run_id', '=', 'runs.id')
      .orderBy('v.id')
      .select([
        'v.id',
        'v.reviewer_id as reviewerId',
        'v.reviewer_type as reviewerType',
        'v.reviewer_name as reviewerName',
        'v.decision',
        'v.comment',
        'v.plan_digest as planDigest',
        'v.created_at as createdAt',
      ]),
  );
}

/**
 * Why a run waits. Its position in the queue of its instance, or among those that wait for the same quota, is computed on every read, because
 * other runs leave the queue without notice.
 */
function selectWaitingOn(eb: OverRun) {
  const waitingOn = eb.ref('runs.waiting_on');
  const position = runsAhead(eb).select((ahead) => {
    const first = sql<string>`(array_agg(${ahead.ref('ahead.id')} order by ${ahead.ref('ahead.instance_position')}))[1]`;
    const blocker = ahead.fn.coalesce(selectSlotHolder(eb), first);
    return sql`jsonb_build_object('position', ${ahead.fn.countAll()}, 'blocker', ${blocker})`.as('current');
  });
  return eb
    .case()
    .when(eb.ref('runs.waiting_on', '->>').key('code'), '=', 'instance_busy')
    .then(sql<WaitingOn | null>`${waitingOn} || ${position}`)
    .when(eb.ref('runs.waiting_on', '->>').key('code'), '=', 'quota')
    .then(sql<WaitingOn | null>`${waitingOn} || ${selectPositionInQuota(eb)}`)
    .else(waitingOn)
    .end();
}

/** The unfinished runs that come before a run in the queue of its instance, as `ahead`. */
export function runsAhead(eb: OverRun) {
  return eb
    .selectFrom('runs as ahead')
    .whereRef('ahead.instance_id', '=', 'runs.instance_id')
    .where('ahead.finished_at', 'is', null)
    .where('ahead.operation', 'in', writingOperations)
    .whereRef('ahead.instance_position', '<', 'runs.instance_position');
}

/** The run that holds the slot of the instance of a run; null if the slot is free. */
export function selectSlotHolder(eb: OverRun) {
  return eb
    .selectFrom('instance_slots as slot')
    .whereRef('slot.instance_id', '=', 'runs.instance_id')
    .select('slot.run_id')
    .$asScalar();
}
