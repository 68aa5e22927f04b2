import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { FastifyReply } from 'fastify';
import { endEvents } from '#api/edge/sse.ts';
import { installationOwnership } from '#domain/shared/access/decide.ts';
import { readOwnerGeneration } from '#domain/shared/access/owner-generation-store.ts';
import { ServiceError } from '#domain/shared/errors.ts';
import { authenticate } from '../access/authentication.ts';
import type { Invocation } from '../invocation/invocation.ts';
import { authorizeCall, requirePermission } from '../invocation/invoke.ts';
import { isPublic, type ReadOperation } from '../operation.ts';

/** A caller who loses the access is cut off within five seconds. */
const checkEveryMs = 2_000;
/** Most answers are complete before the first check. */
const firstCheckMs = 250;
/** How long an answer continues while the database does not respond, because the access cannot be checked meanwhile. */
const maxMsWithoutAnswer = 4_000;

/**
 * Cuts off a long answer, such as a stream of events or an export, when its caller would no longer get it: the credential has expired or
 * was revoked, the user is disabled, a role or a membership is gone, the caller would get another part of the whole, or the owner of the
 * target was archived, transferred or deleted. A stream of events ends. Any other answer is aborted, so that the client sees that it is
 * incomplete. The client learns why when it asks again.
 */
export function cutOffWithoutAccess(invocation: Invocation<ReadOperation>, reply: FastifyReply): void {
  if (isPublic(invocation.operation.access)) return;
  const closed = new AbortController();
  reply.raw.once('close', () => closed.abort());
  void keepChecking(invocation, closed.signal).then((reason) => {
    if (closed.signal.aborted) return;
    invocation.request.log.info({ reason }, "cut off an answer: the caller's access ended or could not be checked");
    if (!endEvents(reply)) reply.raw.destroy();
  });
}

/** Waits until the caller may no longer read, or until the signal aborts. Resolves to the reason. */
async function keepChecking(invocation: Invocation<ReadOperation>, signal: AbortSignal): Promise<string> {
  let checkedAt = Date.now();
  let generation: string | null | undefined;
  for (let pauseMs = firstCheckMs; ; pauseMs = checkEveryMs) {
    await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
    if (signal.aborted) return 'the answer has ended';
    try {
      const current = await readAccess(invocation);
      if (!current.isSamePart) return 'the caller would be shown another part of the whole';
      if (generation !== undefined && current.generation !== generation) return 'the owner of the target has changed';
      generation = current.generation;
      checkedAt = Date.now();
    } catch (error) {
      if (error instanceof ServiceError && error.kind !== 'unavailable') return error.message;
      if (Date.now() - checkedAt > maxMsWithoutAnswer) return 'the authority could not be checked';
    }
  }
}

interface CurrentAccess {
  /** The generation of the target's owner. */
  readonly generation: string | null;
  /** The caller would be shown the same part of the whole as when the answer began. */
  readonly isSamePart: boolean;
}

/** Decides again whether the caller may read, and which part. @throws the error that refuses the caller */
async function readAccess(invocation: Invocation<ReadOperation>): Promise<CurrentAccess> {
  const { services, request, operation, principal } = invocation;
  const em = services.orm.em.fork();
  const current = { ...invocation, principal: await authenticate(services, request), found: undefined };
  requirePermission(current);
  const { target } = await authorizeCall(current, em);
  return {
    generation: await readOwnerGeneration(em, target ?? installationOwnership),
    isSamePart: isDeepStrictEqual(operation.partShownTo?.(current.principal), operation.partShownTo?.(principal)),
  };
}
