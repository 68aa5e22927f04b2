import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ServerEvent, sendEvents } from '#api/edge/sse.ts';
import { authorizeRead } from '#api/pipeline/invocation/invoke.ts';
import { cutOffWithoutAccess } from '#api/pipeline/long-answers/cut-off.ts';
import type { ReadOperation } from '#api/pipeline/operation.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { authorizeForPage, type PageInput, type PageServices } from '../visit/operations.ts';

/** Yields events until the signal aborts. */
export type Producer = (signal: AbortSignal) => AsyncIterable<ServerEvent>;

interface Follower {
  readonly context: PageServices;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/**
 * Answers with a stream of events about the resource of a read operation. The visitor needs the authority to read it. The stream is cut off
 * within seconds when the visitor loses this authority, or when any of their roles or memberships changes.
 */
export async function streamForPage(
  { context, request, reply }: Follower,
  operation: ReadOperation,
  input: PageInput,
  produce: Producer,
): Promise<FastifyReply> {
  const followed = { ...operation, partShownTo: authorityOf };
  const invocation = await authorizeForPage(context, request, followed, input);
  await authorizeRead(invocation);
  cutOffWithoutAccess(invocation, reply);
  return sendEvents(request, reply, ({ signal }) => produce(signal));
}

function authorityOf({ role, teams, organizations }: Principal) {
  return { role, teams, organizations };
}
