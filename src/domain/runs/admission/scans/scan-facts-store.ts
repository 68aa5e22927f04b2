import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { ExecutorKind } from '#domain/registry/spec.ts';
import type { RunOperation } from '#domain/shared/vocabulary/runs.ts';

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
