import { type Expression, expressionBuilder, type SqlBool, sql } from 'kysely';
import type { Tables } from '#domain/entities.ts';

/**
 * Whether the end of a run may change whether the inputs of an instance are up to date: if any run of its own instance read outputs, or if
 * any run, whatever became of it, read outputs of its instance. A run that reads is committed before it executes, so none is missed.
 */
export function mayChangeInputs(runId: Expression<string>): Expression<SqlBool> {
  const eb = expressionBuilder<Tables>();
  const ended = eb.selectFrom('runs as ended').where('ended.id', '=', runId);
  const deployment = ended
    .innerJoin('instances as i', 'i.id', 'ended.instanceId')
    .innerJoin('runs as deployed', 'deployed.id', 'i.deployedRunId')
    .where('deployed.reads', 'is not', null);
  const source = ended.select(sql`jsonb_build_array(jsonb_build_object('instanceId', ended.instance_id))`.as('source'));
  return eb.or([
    eb.exists(ended.where('ended.reads', 'is not', null).select('ended.id')),
    eb.exists(deployment.select('deployed.id')),
    eb.exists(
      eb
        .selectFrom('runs as reader')
        .where('reader.reads', 'is not', null)
        .where(({ ref }) => sql<boolean>`${ref('reader.reads')} @> (${source})`)
        .select('reader.id'),
    ),
  ]);
}
