import { sql } from 'kysely';
import { jsonObjectFrom } from 'kysely/helpers/postgres';
import type { OverRun } from './details-store.ts';

/**
 * The newer run that has deployed the instance of an ended apply since, or has destroyed it: a requeue of the apply would replace that. Null if there is none. It
 * may belong to another team, which not every reader of the apply may read.
 */
export function selectSuperseding(eb: OverRun) {
  return jsonObjectFrom(
    eb
      .selectFrom('instances as si')
      .innerJoin('runs as newer', 'newer.id', 'si.deployed_run_id')
      .leftJoin('teams as nt', 'nt.id', 'newer.team_id')
      .whereRef('si.id', '=', 'runs.instance_id')
      .where('si.deleted_at', 'is', null)
      .whereRef('newer.id', '<>', 'runs.id')
      .whereRef('newer.finished_at', '>', 'runs.finished_at')
      .where(sql<boolean>`${eb.ref('runs.operation')} = 'apply'`)
      .select(['newer.id as runId', 'newer.operation', 'newer.template_version as templateVersion'])
      .select(['newer.team_id as teamId', 'nt.organization_id as organizationId']),
  );
}
