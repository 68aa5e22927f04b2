import { FairLimit } from '#api/edge/limits/fair-limit.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { limitSubjectOfCaller } from '#domain/shared/tasks/limit-subject.ts';
import type { ReadOperation } from '../operation.ts';
import type { Invocation } from './invocation.ts';

/**
 * A read that searches or compares much takes a connection and the processor for long. This process runs so few at once that everything
 * else goes on. A request limit does not help: a hundred searches a second are few requests.
 */
const costlyReads = new FairLimit({ running: 2, waiting: 20 });

/** Runs a costly read of a page that no operation answers. @throws HttpProblem (429) if too many of the person wait */
export function inTurn<Result>(principal: Principal, read: () => Promise<Result>): Promise<Result> {
  return costlyReads.run(limitSubjectOfCaller(principal), read);
}

/** Runs a read, in its turn if it is costly. All credentials and service accounts that one person answers for take one turn. */
export function inTurnIfCostly<Result>(
  { operation, principal, input }: Invocation<ReadOperation>,
  read: () => Promise<Result>,
): Promise<Result> {
  const turns = operation.turns ?? (operation.isCostly?.(input.query) ? costlyReads : null);
  return turns === null ? read() : turns.run(limitSubjectOfCaller(principal), read);
}
