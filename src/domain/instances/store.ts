import { type Expression, type ExpressionBuilder, type Kysely, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import type { ParameterOf } from '#database/queries.ts';
import { json } from '#database/tables.ts';
import { db, type Over, prepare } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { isInReadableTeam, isTeamOf } from '#domain/shared/access/readable-teams-store.ts';
import { newId } from '#domain/shared/ids.ts';
import { type Page, type PageRequest, pageOf } from '#domain/shared/paging/paging.ts';
import type { MaskedOutputs } from '#domain/shared/values/masked.ts';
import type { WantedTool } from '#domain/tools/model.ts';
import { hasDrifted, haveInputsChanged, isUsedByCallerAlone } from './conditions-store.ts';
import { secretNamesOf, showOutputs } from './secret-outputs.ts';

/** An instance as the API shows it, with the run that may change it now. Times are strings. */
export type InstanceDetails = NonNullable<Awaited<ReturnType<typeof readInstance>>>;

function selectInstances(em: Em) {
  return db(em)
    .selectFrom('instances as i')
    .leftJoin('instance_slots as slot', 'slot.instanceId', 'i.id')
    .where('i.deletedAt', 'is', null)
    .select([
      'i.id',
      'i.name',
      'i.teamId',
      'i.environmentId',
      'i.templateId',
      'i.tool',
      'i.toolVersion',
      'i.wantedTool',
      'i.stateSerial',
      'i.resourceCount',
      'i.deployedRunId',
      'i.unrecordedRunId',
      'i.unrecordedAt',
      'slot.runId as lockedByRunId',
      'i.createdAt',
      'i.revision',
    ])
    .select((eb) => selectDeployingAssembly(eb).as('deployedByAssemblyId'))
    .select((eb) => eb.cast<boolean>(hasDrifted(eb.ref('i.id')), 'boolean').as('isDrifted'))
    .select((eb) => eb.cast<boolean>(haveInputsChanged(eb.ref('i.id')), 'boolean').as('haveInputsChanged'));
}

/** The assembly whose run deployed an instance last; null if no assembly did, or if that run belongs to another team. */
function selectDeployingAssembly(eb: Over<{ i: 'instances' }>) {
  return eb
    .selectFrom('runs as deployed')
    .innerJoin('assembly_runs as ar', 'ar.id', 'deployed.assemblyRunId')
    .whereRef('deployed.id', '=', 'i.deployedRunId')
    .where((of) => of('deployed.teamId', 'is not distinct from', of.ref('i.teamId')))
    .select('ar.assemblyId');
}

export function readInstance(em: Em, id: string) {
  return selectInstances(em).where('i.id', '=', id).executeTakeFirst();
}

/** Whether the last deployment of an instance can be planned again as it was: it was not a destroy, and its inputs still exist. */
export async function isPlannableAgain(em: Em, instanceId: string): Promise<boolean> {
  const found = await db(em)
    .selectFrom('instances as i')
    .innerJoin('runs as deployed', (join) =>
      join.onRef('deployed.id', '=', 'i.deployedRunId').onRef('deployed.templateId', '=', 'i.templateId'),
    )
    .where('i.id', '=', instanceId)
    .where('deployed.operation', '<>', 'destroy')
    .where((eb) => eb(eb.fn<number>('octet_length', ['deployed.sealedInputs']), '>', 0))
    .select('i.id')
    .executeTakeFirst();
  return found !== undefined;
}

export interface InstanceFilter {
  readonly organizationId?: string | undefined;
  readonly teamId?: string | undefined;
  readonly environmentId?: string | undefined;
  readonly templateId?: string | undefined;
  /** Whether scans found that the instances differ from what was deployed. */
  readonly isDrifted?: boolean | undefined;
  /** Whether outputs that the instances were deployed with have changed. */
  readonly haveInputsChanged?: boolean | undefined;
  /** Whether a run may have changed the instances in a way that is not recorded. */
  readonly isUnrecorded?: boolean | undefined;
}

/** A page of the instances that the principal may read, newest first. */
export function listInstances(
  em: Em,
  principal: Principal,
  {
    organizationId,
    teamId,
    environmentId,
    templateId,
    isDrifted,
    haveInputsChanged: changed,
    isUnrecorded,
  }: InstanceFilter,
  page: PageRequest,
): Promise<Page<InstanceDetails>> {
  let query = selectInstances(em).where((eb) => isInReadableTeam(principal, eb.ref('i.teamId'), 'visible'));
  if (organizationId !== undefined) query = query.where((eb) => isTeamOf(organizationId, eb.ref('i.teamId')));
  if (teamId !== undefined) query = query.where('i.teamId', '=', teamId);
  if (environmentId !== undefined) query = query.where('i.environmentId', '=', environmentId);
  if (templateId !== undefined) query = query.where('i.templateId', '=', templateId);
  if (isDrifted !== undefined) {
    query = query.where((eb) => (isDrifted ? hasDrifted(eb.ref('i.id')) : eb.not(hasDrifted(eb.ref('i.id')))));
  }
  if (changed !== undefined)
    query = query.where((eb) =>
      changed ? haveInputsChanged(eb.ref('i.id')) : eb.not(haveInputsChanged(eb.ref('i.id'))),
    );
  if (isUnrecorded !== undefined) query = query.where('i.unrecordedRunId', isUnrecorded ? 'is not' : 'is', null);
  return pageOf(query, 'i.id', page);
}

/** The last outputs of an instance. The values of secret ones are masked, including those that have become secret since. */
export async function readOutputs(em: Em, id: string): Promise<MaskedOutputs | undefined> {
  const row = await db(em)
    .selectFrom('instances as i')
    .where('i.id', '=', id)
    .select('i.outputs')
    .select(({ ref }) => secretNamesOf(ref('i.outputs'), ref('i.deployedRunId')).as('secret'))
    .executeTakeFirst();
  return row && showOutputs(row.outputs, row.secret);
}

/** An instance and its owner. */
export interface InstanceTarget extends Ownership {
  readonly id: string;
  readonly name: string;
  readonly revision: number;
}

/** An instance with its owner, and its relation to the caller; undefined if it was deleted. */
export function findInstanceOwner(em: Em, id: string, callerId: string): Promise<InstanceTarget | undefined> {
  return selectOwner(em, { id, callerId }).then(([owner]) => owner);
}

const selectOwner = prepare((db, parameter: ParameterOf<{ id: string; callerId: string }>) =>
  db
    .selectFrom('instances as i')
    .leftJoin('teams as t', 't.id', 'i.teamId')
    .where('i.id', '=', parameter('id'))
    .where('i.deletedAt', 'is', null)
    .select(['i.id', 'i.name', 'i.revision', 'i.teamId', 't.organizationId'])
    .select((eb) =>
      eb.cast<boolean>(isUsedByCallerAlone(eb.ref('i.id'), parameter('callerId')), 'boolean').as('isCallersOwn'),
    ),
);

/** The team, the environment and the template of an instance; undefined if it was deleted. */
export function findInstanceScope(em: Em, id: string) {
  return db(em)
    .selectFrom('instances')
    .where('id', '=', id)
    .where('deletedAt', 'is', null)
    .select(['teamId', 'environmentId', 'templateId'])
    .executeTakeFirst();
}

/** Locks the row of an instance until the commit. */
export async function lockInstance(em: Em, id: string): Promise<void> {
  await db(em).selectFrom('instances').where('id', '=', id).select('id').forUpdate().execute();
}

/** Whether a run has not ended. */
export async function isUnfinished(em: Em, runId: string): Promise<boolean> {
  const run = await db(em).selectFrom('runs').where('id', '=', runId).select('finishedAt').executeTakeFirst();
  return run?.finishedAt === null;
}

export interface NewInstance {
  readonly id: string;
  readonly teamId: string | null;
  readonly environmentId: string | null;
  readonly templateId: string;
  readonly name: string;
}

function insertInstance(db: Kysely<Tables>, parameter: ParameterOf<NewInstance>) {
  return db.insertInto('instances').values({
    id: parameter('id'),
    teamId: parameter('teamId'),
    environmentId: parameter('environmentId'),
    templateId: parameter('templateId'),
    name: parameter('name'),
    nextPosition: 2,
    resourcesSerial: 0,
    outputs: json({}),
    createdAt: sql`clock_timestamp()`,
  });
}

/** Adds an instance whose queue is empty. */
export async function addInstance(
  em: Em,
  { id, teamId, environmentId, templateId, name, wantedTool }: NewInstance & { readonly wantedTool: WantedTool | null },
): Promise<void> {
  const owner = { teamId, environmentId, templateId };
  await db(em)
    .insertInto('instances')
    .values({
      id,
      ...owner,
      name,
      wantedTool: wantedTool && json(wantedTool),
      resourcesSerial: 0,
      outputs: json({}),
      createdAt: sql`clock_timestamp()`,
    })
    .execute();
}

/** Frees the name of a deleted instance by appending its id. No valid name contains the separator. */
export async function freeName(em: Em, id: string): Promise<void> {
  await db(em)
    .updateTable('instances')
    .set((eb) => ({ name: sql<string>`${eb.ref('name')} || '#' || ${eb.ref('id')}` }))
    .where('id', '=', id)
    .execute();
}

const selectPosition = (eb: ExpressionBuilder<Tables, 'instances'>) =>
  [
    'instances.id',
    'instances.templateId',
    'instances.resourceCount',
    'instances.deployedRunId',
    'instances.tool',
    'instances.toolVersion',
    'instances.wantedTool',
    'instances.stateSerial',
    'instances.outputs',
    eb('instances.nextPosition', '-', 1).as('position'),
  ] as const;

const countPosition = (eb: ExpressionBuilder<Tables, 'instances'>) => ({
  nextPosition: eb('instances.nextPosition', '+', 1),
});

/**
 * Makes the change that finds or creates an instance and takes the next position in its queue; the row of the instance stays locked. The name
 * of an instance is unique in its environment; without an environment, under its template. The statement also reads `ofTemplate`, which its
 * caller needs to know of the template.
 */
export function prepareTakePosition<OfTemplate>(read: (templateId: Expression<string>) => Expression<OfTemplate>) {
  const select = (parameter: ParameterOf<NewInstance>) => (eb: ExpressionBuilder<Tables, 'instances'>) => {
    const templateId = sql<string>`${parameter('templateId')}::uuid`;
    return [...selectPosition(eb), sql<OfTemplate>`${read(templateId)}`.as('ofTemplate')] as const;
  };
  const inEnvironment = prepare((db, parameter: ParameterOf<NewInstance>) =>
    insertInstance(db, parameter)
      .onConflict((conflict) =>
        conflict.columns(['environmentId', 'name']).where('environmentId', 'is not', null).doUpdateSet(countPosition),
      )
      .returning(select(parameter)),
  );
  const ofTemplate = prepare((db, parameter: ParameterOf<NewInstance>) =>
    insertInstance(db, parameter)
      .onConflict((conflict) =>
        conflict.columns(['templateId', 'name']).where('environmentId', 'is', null).doUpdateSet(countPosition),
      )
      .returning(select(parameter)),
  );
  return async (em: Em, instance: Omit<NewInstance, 'id'>) => {
    const id = newId();
    const [row] = await (instance.environmentId === null ? ofTemplate : inEnvironment)(em, { id, ...instance });
    if (!row) throw new Error(`the instance "${instance.name}" was neither found nor made`);
    return { ...row, isNew: row.id === id };
  };
}

/** Assigns an instance that holds no resources to another template. */
export async function changeTemplate(em: Em, id: string, templateId: string): Promise<void> {
  await db(em)
    .updateTable('instances')
    .set((eb) => ({ templateId, revision: eb('revision', '+', 1) }))
    .where('id', '=', id)
    .execute();
}
