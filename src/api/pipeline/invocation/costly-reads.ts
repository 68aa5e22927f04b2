import { FairLimit } from '#api/edge/limits/fair-limit.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { limitSubjectOfCaller } from '#domain/shared/tasks/limit-subject.ts';
import type { ReadOperation } from '../operation.ts';
import type { Invocation } from './invocation.ts';

/**
 * A read that searches or compares much occupies a connection and the processor for long. This process runs only a few of them at once, so
 * that other requests are not delayed. A limit on requests does not help: a hundred searches a second are few requests.
 */
const costlyReads = new FairLimit({ running: 2, waiting: 20 });

/**
 * Runs a costly read for a page that no operation answers, when its turn in the queue comes.
 * @throws HttpProblem (429) if too many costly reads of the person wait already
 */
export function inTurn<Result>(principal: Principal, read: () => Promise<Result>): Promise<Result> {
  return costlyReads.run(limitSubjectOfCaller(principal), read);
}

/**
 * Runs a read, and lets it wait in the queue if it is costly. The queue treats all credentials and service accounts of one responsible
 * person as one caller.
 */
export function inTurnIfCostly<Result>(
  { operation, principal, input }: Invocation<ReadOperation>,
  read: () => Promise<Result>,
): Promise<Result> {
  const turns = operation.turns ?? (operation.isCostly?.(input.query) ? costlyReads : null);
  return turns === null ? read() : turns.run(limitSubjectOfCaller(principal), read);
}
