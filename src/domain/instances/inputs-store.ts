import { type Expression, expressionBuilder, type SqlBool } from 'kysely';
import type { Tables } from '#domain/entities.ts';

/** The condition that outputs of other instances have changed since the present deployment of an instance read them. */
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
