import { anonymous } from '#domain/shared/access/principal.ts';
import { ServiceError } from '#domain/shared/errors.ts';
import { auditingRefusals } from '../audit/auditing.ts';
import type { Invocation } from '../invocation/invocation.ts';
import { joinableTargetOf } from '../joinable-target.ts';
import { authenticate, authenticateWithTarget } from './authentication.ts';

/**
 * The invocation with its caller as it is now. If the target is joinable, one statement reads both.
 * @param targetIsKnown false if the input could not be parsed, so that nobody knows the target
 * @throws as `authenticate`
 */
export async function identify<I extends Invocation>(invocation: I, targetIsKnown = true): Promise<I> {
  const { operation, operations, services, request, input } = invocation;
  const query = targetIsKnown ? joinableTargetOf(operation)?.queryOf({ ...input, operations }) : undefined;
  return auditingRefusals({ ...invocation, principal: anonymous, found: undefined }, async () => {
    if (query) {
      const both = await authenticateWithTarget(services, request, query).catch(refuseOrFindSeparately);
      if (both) return { ...invocation, principal: both.principal, found: { row: both.row } };
    }
    return { ...invocation, principal: await authenticate(services, request), found: undefined };
  });
}

/** If only the lookup of the target fails, the caller is authenticated by itself, and the lookup then fails where its failure belongs. */
function refuseOrFindSeparately(error: unknown): undefined {
  if (error instanceof ServiceError && error.kind !== 'unavailable') throw error;
  return undefined;
}
