import { type Expression, expressionBuilder, type SqlBool } from 'kysely';
import type { Tables } from '#domain/entities.ts';

/**
 * Whether the end of a run may change what is known of drift: it is the scan of a monitor, or it changed an instance while there is any
 * monitor, from which the instance may inherit. A monitor that is made at this moment finds its instances itself.
 */
export function isWatched(runId: Expression<string>): Expression<SqlBool> {
  const eb = expressionBuilder<Tables>();
  const changing = eb
    .selectFrom('runs as ended')
    .where('ended.id', '=', runId)
    .where('ended.operation', '<>', 'scan')
    .where('ended.status', '=', 'succeeded');
  return eb.or([
    eb.exists(eb.selectFrom('drift_scans as s').where('s.runId', '=', runId).select('s.runId')),
    eb.and([eb.exists(eb.selectFrom('drift_monitors as m').select('m.id')), eb.exists(changing.select('ended.id'))]),
  ]);
}
