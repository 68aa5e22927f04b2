import type { FastifyReply } from 'fastify';
import type { ServerEvent } from '#api/edge/sse.ts';
import type { EventTest } from '#api/web/live/change-feed.ts';
import { type Scope, scopeQuery } from '#api/web/visit/scope.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { decide } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { listAllRuns } from '../../lists/list-operations.ts';
import { readAccess } from '../../operations.ts';

/** Streams an event when a list of runs is out of date. */
export function streamListChanges(visit: Visit): Promise<FastifyReply> {
  const { scope, principal, context } = visit;
  const named = ['environment_id', 'instance_id'].flatMap((name) => {
    const value = visit.query(name);
    return value === undefined ? [] : [[name, value]];
  });
  const query = { scope: 'readable', ...scopeQuery(scope), ...Object.fromEntries(named) };
  return visit.stream(listAllRuns, { query }, (signal) =>
    toEvents(context.services.changeFeed.watch(concernsList(principal, scope), signal)),
  );
}

async function* toEvents(changes: AsyncIterable<'changed'>): AsyncGenerator<ServerEvent> {
  for await (const event of changes) yield { event, data: '' };
}

/** Matches events about runs of this scope that the principal may read. */
export function concernsList(principal: Principal, scope: Scope): EventTest {
  return ({ subject, organizationId, teamId }) => {
    if (subject.kind !== 'run') return false;
    if (scope.teamId !== undefined && teamId !== scope.teamId) return false;
    if (scope.teamId === undefined && scope.organizationId !== undefined && organizationId !== scope.organizationId)
      return false;
    return decide(principal, readAccess, { organizationId, teamId }).allowed;
  };
}
