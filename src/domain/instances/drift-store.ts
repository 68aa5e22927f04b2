import { type Expression, expressionBuilder, type SqlBool } from 'kysely';
import type { Tables } from '#domain/entities.ts';

/** The condition that an instance has open drift findings of a monitor that still exists. */
export function hasDrifted(instanceId: Expression<string>): Expression<SqlBool> {
  const eb = expressionBuilder<Tables>();
  return eb.exists(
    eb
      .selectFrom('drift_findings as drift')
      .innerJoin('drift_monitors as monitor', 'monitor.id', 'drift.monitorId')
      .where('drift.instanceId', '=', instanceId)
      .where('drift.status', '=', 'open')
      .where('monitor.deletedAt', 'is', null)
      .select('drift.id'),
  );
}
