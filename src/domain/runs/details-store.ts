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
    'runs.idempotencyKey',
    'runs.status',
    'runs.phase',
    'runs.statusReason',
    'runs.statusDetail',
    selectWaitingOn(eb).as('waitingOn'),
    'runs.operation',
    'runs.replace',
    'runs.options',
    'runs.teamId',
    'runs.projectId',
    'runs.environmentId',
    'runs.instanceId',
    'runs.instance',
    'runs.templateId',
    'runs.templateVersion',
    'runs.pool',
    'runs.tool',
    'runs.toolSwitch',
    'runs.variables',
    'runs.variableSources',
    'runs.reads',
    selectSecretVariables(eb).as('secretVariables'),
    selectEdges(eb).as('edges'),
    'runs.variableResets',
    'runs.connections',
    'runs.message',
    'runs.requestedById',
    'runs.requestedByType',
    'runs.requestedByName',
    'runs.responsibleUserId',
    'runs.planDigest',
    'runs.planSummary',
    selectAdmittedPolicy().as('admittedPolicy'),
    selectPresentPolicy(eb).as('presentPolicy'),
    'runs.approvalExpiresAt',
    selectReviews(eb).as('reviews'),
    'runs.reviewers',
    'runs.outputs',
    selectSecretOutputs(eb).as('secretOutputs'),
    'runs.isolation',
    'runs.stateSerialBefore',
    'runs.stateSerialAfter',
    'runs.cancelReason',
    'runs.requeuedFrom',
    'runs.reviewNeeds',
    'runs.assemblyRunId',
    'runs.assemblyNodeId',
    selectAssemblyNode(eb).as('assemblyNode'),
    'runs.driftFindingId',
    'runs.driftMonitorId',
    'runs.undoes',
    'runs.undoneBy',
    'runs.startedByRunId',
    'runs.createdAt',
    'runs.startedAt',
    'runs.finishedAt',
    'runs.deletedAt',
    'runs.revision',
  ] as const;
}

/** A run as the API shows it. Times are strings. */
export type RunDetails = CallbackSelection<Tables, 'runs', typeof selectRunDetails>;

/** Skips the search for template versions where a run has no outputs, which is so for most runs of a list. */
function selectSecretOutputs(eb: OverRun) {
  const outputs = eb.ref('runs.outputs');
  return sql<string[]>`case when ${outputs} = '{}' then '{}'::text[] else ${secretNamesAmong('runs')} end`;
}

/** The variables that hold outputs of other instances that have become secret since the run read them. */
function selectSecretVariables(eb: OverRun) {
  const reads = eb.ref('runs.reads');
  return sql<string[]>`case when ${reads} is null then '{}'::text[] else ${secretVariablesOf(reads)} end`;
}

/**
 * For the run of an assembly node: its variables as the assembly wrote them, and the secret outputs of the nodes that they may refer to.
 * Null if no such output is secret, and for every other run.
 */
function selectEdges(eb: OverRun) {
  const written = sql`an.spec -> 'variables'`;
  // A node refers only to nodes that it waits for. A destroy reverses the order: there those nodes wait for this one, so all nodes are
  // searched for either direction.
  const waitedFor = sql`array(select jsonb_array_elements_text(an.dependencies))`;
  const eitherWay = sql`array(
    select w.key::text from assembly_nodes w
      where w.assembly_run_id = an.assembly_run_id and (an.dependencies ? w.key or w.dependencies ? an.key))`;
  const isDestroy = eb('runs.operation', '=', sql.lit('destroy' as const));
  const isUsed = sql<SqlBool>`n.key = any(case when ${isDestroy} then ${eitherWay} else ${waitedFor} end)`;
  const environmentId = eb.ref('runs.environmentId');
  const secret = secretNamesOfNodes(sql`an.assembly_run_id`, { environmentId, isUsed });
  return sql<{
    readonly written: Readonly<Record<string, JsonValue>>;
    readonly secret: Readonly<Record<string, readonly string[]>>;
  } | null>`(select case when used.secret <> '{}' then jsonb_build_object('written', ${written}, 'secret', used.secret) end
    from assembly_nodes an cross join lateral (select ${secret} as secret offset 0) used where an.id = ${eb.ref('runs.assemblyNodeId')})`;
}

/** The assembly and the node of which a run is a try; null for any other run. */
function selectAssemblyNode(eb: OverRun) {
  return jsonObjectFrom(
    eb
      .selectFrom('assembly_nodes as an')
      .innerJoin('assembly_runs as ar', 'ar.id', 'an.assemblyRunId')
      .whereRef('an.id', '=', 'runs.assemblyNodeId')
      .select(['ar.assemblyId', 'an.key']),
  );
}

/**
 * The policy of the environment of a run now; null once the run applies or has ended, since such a run keeps the policy that it applied
 * under.
 */
function selectPresentPolicy(eb: OverRun) {
  const isDecided = eb('runs.phase', 'in', phasesWithOwnPolicy);
  return eb.case().when(eb.not(isDecided)).then(selectEnvironmentPolicy(eb)).end();
}

/** The reviews of a run, oldest first. */
function selectReviews(eb: OverRun) {
  return jsonArrayFrom(
    eb
      .selectFrom('run_reviews as v')
      .whereRef('v.runId', '=', 'runs.id')
      .orderBy('v.id')
      .select([
        'v.id',
        'v.reviewerId',
        'v.reviewerType',
        'v.reviewerName',
        'v.decision',
        'v.comment',
        'v.planDigest',
        'v.createdAt',
      ]),
  );
}

/**
 * Why a run waits. Its position in the queue of its instance, or among the runs that wait for the same quota, is computed on every read,
 * because a run that leaves the queue does not update the others.
 */
function selectWaitingOn(eb: OverRun) {
  const waitingOn = eb.ref('runs.waitingOn');
  const position = runsAhead(eb).select((ahead) => {
    const first = sql<string>`(array_agg(${ahead.ref('ahead.id')} order by ${ahead.ref('ahead.instancePosition')}))[1]`;
    const blocker = ahead.fn.coalesce(selectSlotHolder(eb), first);
    return sql`jsonb_build_object('position', ${ahead.fn.countAll()}, 'blocker', ${blocker})`.as('current');
  });
  return eb
    .case()
    .when(eb.ref('runs.waitingOn', '->>').key('code'), '=', 'instance_busy')
    .then(sql<WaitingOn | null>`${waitingOn} || ${position}`)
    .when(eb.ref('runs.waitingOn', '->>').key('code'), '=', 'quota')
    .then(sql<WaitingOn | null>`${waitingOn} || ${selectPositionInQuota(eb)}`)
    .else(waitingOn)
    .end();
}

/** The unfinished runs that come before a run in the queue of its instance, as `ahead`. */
export function runsAhead(eb: OverRun) {
  return eb
    .selectFrom('runs as ahead')
    .whereRef('ahead.instanceId', '=', 'runs.instanceId')
    .where('ahead.finishedAt', 'is', null)
    .where('ahead.operation', 'in', writingOperations)
    .whereRef('ahead.instancePosition', '<', 'runs.instancePosition');
}

/** The run that holds the slot of the instance of a run; null if the slot is free. */
export function selectSlotHolder(eb: OverRun) {
  return eb
    .selectFrom('instance_slots as slot')
    .whereRef('slot.instanceId', '=', 'runs.instanceId')
    .select('slot.runId')
    .$asScalar();
}
