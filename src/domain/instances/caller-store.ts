import { type Expression, expressionBuilder, type SqlBool } from 'kysely';
import type { Tables } from '#domain/entities.ts';
import { administersInstallation } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';

/**
 * Whether the caller has run an instance, and nobody else has run it or imported its state. Otherwise, everybody who can start a run of an
 * instance of the whole installation could read what others left in its state.
 */
export function isUsedByCallerAlone(instanceId: Expression<string>, callerId: string): Expression<SqlBool> {
  const eb = expressionBuilder<Tables>();
  const runs = eb
    .selectFrom('runs as used')
    .where((run) => run(run.ref('used.instanceId'), '=', instanceId))
    // A scan for drift leaves nothing in the instance.
    .where('used.operation', '<>', 'scan')
    .select('used.id');
  const others = runs
    .where('used.requestedById', 'is distinct from', callerId)
    .where('used.responsibleUserId', 'is distinct from', callerId);
  const imported = eb
    .selectFrom('state_versions as version')
    .where((version) => version(version.ref('version.instanceId'), '=', instanceId))
    .where('version.createdBy', '<>', callerId)
    .select('version.serial');
  return eb.and([eb.exists(runs), eb.not(eb.exists(others)), eb.not(eb.exists(imported))]);
}

/** Whether the caller may read the contents of an instance without a team, by the rule of `decide` for such targets. */
export function mayReadUnscoped(instanceId: Expression<string>, caller: Principal): Expression<SqlBool> {
  return administersInstallation(caller)
    ? expressionBuilder<Tables>().lit(true)
    : isUsedByCallerAlone(instanceId, caller.id);
}
