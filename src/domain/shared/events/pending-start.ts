import { type Expression, expressionBuilder, sql } from 'kysely';
import type { Tables } from '#domain/entities.ts';
import { engineSubscriber } from './outbox.ts';

/** Something whose workflow the engine has started. */
export interface Dispatched {
  readonly id: string;
  readonly workflowId: string;
}

/** Whether the request to start a workflow has not yet reached the engine. */
export function isWorkflowStartPending(workflowId: Expression<string>) {
  const eb = expressionBuilder<Tables>();
  return eb.exists(
    eb
      .selectFrom('outbox as o')
      .where('o.subscriber', '=', engineSubscriber)
      .where((row) => row('o.target', '=', row.cast<string>(workflowId, 'text')))
      .where((row) => sql<boolean>`${row.ref('o.payload')} ->> 'kind' = 'start'`)
      .select('o.id'),
  );
}
