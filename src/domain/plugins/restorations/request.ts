import { setTimeout as sleep } from 'node:timers/promises';
import type { Orm } from '#database/database.ts';
import { type Command, reserveForWorkflow } from '#domain/shared/commands/command.ts';
import type { Transactions } from '#domain/shared/commands/transaction.ts';
import { ServiceError, unknownOutcome } from '#domain/shared/errors.ts';
import type { InstallationKeys } from '#domain/shared/installation/installation.ts';
import { restorationWorkflow } from './model.ts';
import { findRestoration, insertRestoration, type RestorationDetails } from './store.ts';
import type { ExpectedResource, StoredRestore } from './stored-request.ts';

/** How long a request waits for its restoration to end. */
const maxWaitMs = 30_000;
const minPauseMs = 25;
const maxPauseMs = 500;

export interface RestoreRequest {
  readonly command: Command;
  readonly resourceId: string;
  readonly expected: ExpectedResource;
  readonly answer: StoredRestore['answer'];
}

export interface RequestDeps {
  readonly transactions: Transactions;
  readonly orm: Orm;
  readonly installation: Pick<InstallationKeys, 'bindingKey'>;
}

/**
 * Starts a workflow that restores a resource, and waits for its end. The workflow has the command's key as its id, so that a repeated
 * request finds it. The key is bound from then on, even if the workflow refuses. The workflow continues even if nobody waits any longer.
 * (specification, *Plugin authority*, rule 4)
 * @throws ServiceError the refusal with which it ended; Conflict if the key was used for something else; `unknownOutcome` if its end is not
 * known in time
 */
export async function requestRestoration(
  { transactions, orm, installation: { bindingKey } }: RequestDeps,
  request: RestoreRequest,
  withinMs = maxWaitMs,
): Promise<void> {
  const { caller, key: _, ...asked } = request.command;
  const { id, kind, name, credential } = caller;
  const { expected, answer } = request;
  const stored: StoredRestore = { ...asked, caller: { id, kind, name, credential }, expected, answer };
  const key = await transactions.run(async (tx) => {
    const reserved = await reserveForWorkflow(tx.em, bindingKey, request.command);
    if (await insertRestoration(tx.em, reserved, request.resourceId, stored))
      tx.notifyEngine(reserved, { kind: 'start', workflow: restorationWorkflow, input: { restoration_id: reserved } });
    return reserved;
  });
  await awaitEnd(orm, { key, resourceId: request.resourceId }, withinMs);
}

async function awaitEnd(
  orm: Orm,
  { key, resourceId }: { readonly key: string; readonly resourceId: string },
  withinMs: number,
): Promise<void> {
  const deadline = Date.now() + withinMs;
  for (let pauseMs = minPauseMs; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
    // The restoration has begun, so its outcome is unknown while the database does not answer.
    const found = await findRestoration(orm.em.fork(), key).catch((cause: unknown) => {
      throw unknownEnd(resourceId, cause);
    });
    if (found?.problem) throw toError(found.problem);
    if (found?.status === 'restored') return;
    if (Date.now() > deadline) throw unknownEnd(resourceId);
    await sleep(pauseMs);
  }
}

function toError({ kind, code, message }: NonNullable<RestorationDetails['problem']>): ServiceError {
  return new ServiceError(kind, message, { code });
}

function unknownEnd(resourceId: string, cause?: unknown): ServiceError {
  const alsoRead = `GET /api/v1/plugin-resources/${resourceId}, whose restoration says whether it runs or was refused`;
  return unknownOutcome('it is not known yet how the restoration ends', { cause, alsoRead });
}
