import type { FastifyReply } from 'fastify';
import { openStreams } from '#api/edge/limits/stream-limit.ts';
import { limitSubjectOfCaller } from '#domain/shared/tasks/limit-subject.ts';
import { identify } from '../access/identification.ts';
import type { Invocation } from '../invocation/invocation.ts';
import { authorizeRead } from '../invocation/invoke.ts';
import type { ReadOperation } from '../operation.ts';

/** A caller who loses its access while it waits learns of that within this time. */
const checkEveryMs = 4_000;

/**
 * If the request asks for it, waits until its answer differs from what the client has. While it waits, and once more before the answer, the
 * caller is authenticated and authorized again. It stops waiting when the client disconnects or the server stops.
 * @throws HttpProblem (429) if the caller has too many open streams and waiting requests; the error that refuses a caller without access
 */
export async function waitForChange(
  invocation: Invocation<ReadOperation>,
  reply: FastifyReply,
): Promise<Invocation<ReadOperation>> {
  const { operation, request, input, principal } = invocation;
  const longestMs = operation.waits?.longestMs(input.query) ?? 0;
  if (!operation.waits || longestMs === 0 || request.method === 'HEAD') return invocation;
  const hasChanged = operation.waits.begin(await authorizeRead(invocation));
  const close = openStreams.open(limitSubjectOfCaller(principal));
  request.hasWaited = true;
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  const end = AbortSignal.any([gone.signal, request.server.stopping, AbortSignal.timeout(longestMs)]);
  try {
    for (let current = invocation; ; ) {
      const isNew = await hasChanged(AbortSignal.any([end, AbortSignal.timeout(checkEveryMs)]));
      current = await identify(current);
      if (isNew || end.aborted) return current;
      await authorizeRead(current);
    }
  } finally {
    close();
  }
}
