import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { describeDetail } from '#domain/runs/diagnostics/status-detail.ts';
import { inPlace } from './place-words.ts';

/** The facts about an assembly run for notifications. */
export type AssemblyRunFacts = NonNullable<Awaited<ReturnType<typeof findAssemblyRun>>>;

export function findAssemblyRun(em: Em, id: string) {
  return db(em)
    .selectFrom('assembly_runs as r')
    .innerJoin('assemblies as a', 'a.id', 'r.assemblyId')
    .leftJoin('environments as e', 'e.id', 'r.environmentId')
    .leftJoin('projects as p', 'p.id', 'r.projectId')
    .leftJoin('teams as t', 't.id', 'a.teamId')
    .where('r.id', '=', id)
    .select([
      'a.id as assemblyId',
      'a.name as assembly',
      'e.name as environment',
      'p.name as project',
      't.name as team',
    ])
    .select(['r.operation', 'r.message', 'r.statusDetail'])
    .select(['r.requestedById', 'r.requestedByType'])
    .select(['r.requestedByName', 'r.responsibleUserId'])
    .executeTakeFirst();
}

/** The first rejections of the latest runs of nodes: the node, the reviewer and the comment. Earlier runs of resumed nodes do not count. */
export function findNodeRejections(em: Em, assemblyRunId: string) {
  return db(em)
    .selectFrom('assembly_nodes as n')
    .innerJoin('runs as r', 'r.id', 'n.runId')
    .innerJoin('run_reviews as v', 'v.runId', 'r.id')
    .where('n.assemblyRunId', '=', assemblyRunId)
    .where('v.decision', '=', 'reject')
    .orderBy('v.id')
    .limit(5)
    .select(['v.reviewerName as by', 'v.comment', 'r.instance'])
    .execute();
}

/** The assembly of a run with its place, such as "Shop in Core / Backbone / Production". */
export function placeOfAssemblyRun(run: AssemblyRunFacts): string {
  return inPlace(run.assembly, run);
}

/** Which nodes failed and why, who requested the run, and what they said about it. */
export function factsOfAssemblyRun(run: AssemblyRunFacts): string[] {
  const { operation, requestedByName, message, statusDetail } = run;
  return [
    ...(statusDetail === null ? [] : [`What failed: ${describeDetail(statusDetail)}`]),
    `${requestedByName} requested the operation ${operation} of the assembly ${placeOfAssemblyRun(run)}.`,
    ...(message ? [`Message of the run: ${message}`] : []),
  ];
}
