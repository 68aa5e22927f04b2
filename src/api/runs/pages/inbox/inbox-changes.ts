import type { FastifyReply } from 'fastify';
import type { EventTest } from '#api/web/live/change-feed.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { EventTypeName } from '#domain/events.ts';
import { mayReviewSome } from '#domain/runs/approval/rules.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { list as listApprovals } from '../../approvals/inbox-operations.ts';

/** The events after which an inbox may hold other runs. */
const relevant: ReadonlySet<EventTypeName> = new Set([
  'run.approval_required',
  'run.approval_requested',
  'run.approval_lapsed',
  'run.reviewed',
  'run.held',
  'run.applying',
  'run.cancel_requested',
  'run.finished',
] as const);

/** Tells an open inbox that it may have changed. It says nothing about runs that the visitor may not review. */
export function followApprovals(visit: Visit): Promise<FastifyReply> {
  const { changeFeed } = visit.context.services;
  return visit.stream(listApprovals, {}, async function* (signal) {
    for await (const _ of changeFeed.watch(concerns(visit.principal), signal)) yield { event: 'changed', data: '' };
  });
}

function concerns(reviewer: Principal): EventTest {
  return ({ type, teamId, organizationId }) =>
    relevant.has(type) && mayReviewSome(reviewer, { teamId, organizationId });
}
