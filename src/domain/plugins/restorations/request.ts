import { setTimeout as sleep } from 'node:timers/promises';
import type { Orm } from '#database/database.ts';
import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import type { Command } from '#domain/shared/commands/command.ts';
import type { Transactions } from '#domain/shared/commands/transaction.ts';
import { Conflict, ServiceError, Unavailable } from '#domain/shared/errors.ts';
import { restorationWorkflow } from './model.ts';
import { findRestoration, insertRestoration, type RestorationDetails } from './store.ts';
import type { ExpectedResource, StoredRestore } from './stored-request.ts';

/** How long a request waits for its restoration to end. */
const longestWaitMs = 30_000;
const shortestPauseMs = 25;
const longestPauseMs = 500;

export interface RestoreRequest {
  readonly command: Command;
  readonly resourceId: string;
  readonly expected: ExpectedResource;
  readonly answer: StoredRestore['answer'];
}

/**
 * Lets a workflow restore a resource, and waits until it has. The workflow has the command's key as its id, so that a repeated request finds it. It goes on if
 * nobody waits any more. (specification, *Plugin authority*, rule 4)
 * @throws ServiceError the refusal with which it ended; Unavailable with `outcome: unknown` if its end is not known in time
 */
export async function requestRestoration(
  { transactions, orm }: { readonly transactions: Transactions; readonly orm: Orm },
  request: RestoreRequest,
  withinMs = longestWaitMs,
): Promise<void> {
  const { key } = request.command;
  if (key === null) throw new Error('a restoration has no key');
  const { caller, key: _, ...asked } = request.command;
  const { id, kind, name, credential } = caller;
  const { expected, answer } = request;
  const stored: StoredRestore = { ...asked, caller: { id, kind, name, credential }, expected, answer };
  await transactions.run(async (tx) => {
    if (!(await insertRestoration(tx.em, key, request.resourceId, stored))) return;
    tx.notifyEngine(key, { kind: 'start', workflow: restorationWorkflow, input: { restoration_id: key } });
  });
  await awaitEnd(orm, key, stored, withinMs);
}

async function awaitEnd(orm: Orm, key: string, asked: StoredRestore, withinMs: number): Promise<void> {
  const deadline = Date.now() + withinMs;
  for (let pauseMs = shortestPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    const found = await findRestoration(orm.em.fork(), key);
    if (found) refuseOther(found, asked);
    if (found?.problem) throw toError(found.problem);
    if (found?.status === 'restored') return;
    if (Date.now() > deadline) throw unknownEnd();
    await sleep(pauseMs);
  }
}

/** @throws Conflict if the key stands for another request */
function refuseOther({ request }: RestorationDetails, asked: StoredRestore): void {
  const bound = ({ caller, operation, target, input }: StoredRestore) =>
    canonicalJson([caller.id, operation, target, input ?? null]);
  if (bound(request) === bound(asked)) return;
  throw new Conflict(
    'this idempotency key was used for another request: send a fresh key, or repeat the original request unchanged',
    'idempotency_key_reused',
  );
}

function toError({ kind, code, message }: NonNullable<RestorationDetails['problem']>): ServiceError {
  return new ServiceError(kind, message, { code });
}

function unknownEnd(): Unavailable {
  return new Unavailable(
    'the restoration has not ended yet: read the outcome of its idempotency key, or repeat the request with the same key',
    { details: { outcome: 'unknown' } },
  );
}
