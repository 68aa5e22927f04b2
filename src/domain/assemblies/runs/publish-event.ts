import type { EventData, EventTypeName } from '#domain/events.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import type { AssemblyRun } from '../entity.ts';

type AssemblyRunEventType = Extract<EventTypeName, `assembly_run.${string}`>;

/** Publishes an event of an assembly run. The caller has locked its row, so that its events are numbered in the order of the commits. */
export function publishAssemblyRunEvent<Type extends AssemblyRunEventType>(
  tx: Transaction,
  run: Pick<AssemblyRun, 'id' | 'teamId'>,
  type: Type,
  data: EventData<Type>,
): void {
  tx.publish({ type, subjectId: run.id, owners: { teamId: run.teamId }, data });
}
