import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { ExecutorKind } from '#domain/registry/spec.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { Masked } from '#domain/shared/values/masked.ts';
import type { RunOperation } from '#domain/shared/vocabulary/runs.ts';

/** An instance that is to be scanned, with what its runs are admitted for. */
interface ScannedInstance {
  readonly name: string;
  readonly templateId: string;
  readonly environmentId?: string;
}

export async function findScannedInstance(em: Em, id: string): Promise<ScannedInstance | undefined> {
  const row = await db(em)
    .selectFrom('instances')
    .where('id', '=', id)
    .where('deletedAt', 'is', null)
    .select(['name', 'templateId', 'environmentId'])
    .executeTakeFirst();
  if (!row) return undefined;
  const { name, templateId, environmentId } = row;
  return { name, templateId, ...(environmentId !== null && { environmentId }) };
}

/** The run that last changed an instance, and the number of its resources. */
export interface LastDeployment {
  readonly runId: string;
  readonly operation: RunOperation;
  readonly versionId: string;
  readonly variables: Record<string, JsonValue | Masked>;
  /** Empty: the run was deleted, and its inputs with it. */
  readonly sealedInputs: Uint8Array;
  readonly instance: string;
  readonly resourceCount: number;
}

export function findLastDeployment(em: Em, instanceId: string): Promise<LastDeployment | undefined> {
  return db(em)
    .selectFrom('instances as i')
    .innerJoin('runs as r', 'r.id', 'i.deployedRunId')
    .where('i.id', '=', instanceId)
    .select([
      'r.id as runId',
      'r.operation',
      'r.templateVersionId as versionId',
      'r.variables',
      'r.sealedInputs',
      'i.name as instance',
      'i.resourceCount',
    ])
    .executeTakeFirst();
}

/** What decides whether an instance can be scanned. */
export interface ScanFacts {
  readonly instanceId: string;
  /** Whether the row of each owner, of the template and of the instance exists. */
  readonly exists: boolean;
  readonly organizationArchived: boolean;
  readonly teamArchived: boolean;
  readonly projectArchived: boolean;
  readonly environmentArchived: boolean;
  readonly templateArchived: boolean;
  /** Null: no run has deployed it. */
  readonly operation: RunOperation | null;
  readonly resourceCount: number;
  /** Whether the inputs of the deployment still exist: deleting its run deletes them. */
  readonly hasInputs: boolean;
  readonly executorKind: ExecutorKind | null;
  readonly hasDetect: boolean;
}

/** The facts of many instances, in one query. Nothing is locked. */
export function readScanFacts(em: Em, instanceIds: readonly string[]): Promise<ScanFacts[]> {
  if (instanceIds.length === 0) return Promise.resolve([]);
  return db(em)
    .selectFrom('instances as i')
    .innerJoin('templates as t', 't.id', 'i.templateId')
    .leftJoin('environments as e', 'e.id', 'i.environmentId')
    .leftJoin('projects as p', 'p.id', 'e.projectId')
    .leftJoin('teams as m', (join) =>
      join.on(({ eb, ref }) => eb('m.id', '=', eb.fn.coalesce('p.teamId', ref('t.teamId')))),
    )
    .leftJoin('organizations as o', 'o.id', 'm.organizationId')
    .leftJoin('runs as r', 'r.id', 'i.deployedRunId')
    .leftJoin('template_versions as v', 'v.id', 'r.templateVersionId')
    .where('i.id', 'in', instanceIds)
    .select((eb) => [
      'i.id as instanceId',
      eb
        .and(['i', 't', 'e', 'p', 'm', 'o'].map((alias) => eb(sql.ref(`${alias}.deletedAt`), 'is', null)))
        .$castTo<boolean>()
        .as('exists'),
      eb('o.archivedAt', 'is not', null).$castTo<boolean>().as('organizationArchived'),
      eb('m.archivedAt', 'is not', null).$castTo<boolean>().as('teamArchived'),
      eb('p.archivedAt', 'is not', null).$castTo<boolean>().as('projectArchived'),
      eb('e.archivedAt', 'is not', null).$castTo<boolean>().as('environmentArchived'),
      eb('t.archivedAt', 'is not', null).$castTo<boolean>().as('templateArchived'),
      'r.operation',
      'i.resourceCount',
      sql<boolean>`coalesce(octet_length(${eb.ref('r.sealedInputs')}) > 0, false)`.as('hasInputs'),
      sql<ExecutorKind | null>`${eb.ref('v.spec')} #>> '{executor,kind}'`.as('executorKind'),
      sql<boolean>`coalesce(${eb.ref('v.spec')} #> '{executor,detect}' is not null, false)`.as('hasDetect'),
    ])
    .execute();
}
