import type { EventData } from '#domain/events.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import type { UndoAttempt } from './entity.ts';
import type { undoEvents } from './events.ts';

/** Publishes an event of an attempt. The caller has locked its row, which orders its events. */
export function publishUndoEvent<Type extends keyof typeof undoEvents>(
  tx: Transaction,
  attempt: Pick<UndoAttempt, 'id'>,
  { teamId, organizationId }: Ownership,
  type: Type,
  data: EventData<Type>,
): void {
  tx.publish({ type, subjectId: attempt.id, owners: { teamId, organizationId }, data });
}

/** Publishes the new state of an attempt. */
export function publishState(tx: Transaction, attempt: UndoAttempt, owner: Ownership): void {
  const { state, problem } = attempt;
  publishUndoEvent(tx, attempt, owner, 'selective_undo.changed', { state, problem: problem?.code ?? null });
}
