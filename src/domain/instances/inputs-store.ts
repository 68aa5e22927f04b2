import { type Expression, expressionBuilder, type SqlBool } from 'kysely';
import type { Tables } from '#domain/entities.ts';

/** The condition that outputs changed with which an instance is deployed now. A newer deployment has read them anew. */
export function haveInputsChanged(instanceId: Expression<string | null>): Expression<SqlBool> {
  const eb = expressionBuilder<Tables>();
  return eb.exists(
    eb
      .selectFrom('instances as reading')
      .where('reading.id', '=', instanceId)
      .whereRef('reading.inputsChangedRunId', '=', 'reading.deployedRunId')
      .select('reading.id'),
  );
}
