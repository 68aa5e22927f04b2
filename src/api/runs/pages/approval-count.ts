import type { FastifyReply } from 'fastify';
import { describeInbox, type InboxCount } from '#api/web/frame/inbox-link.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { list as listApprovals } from '../approvals/inbox-operations.ts';

/** The highest number that the bar shows. */
const max = 20;

/** How many runs wait for the visitor's approval; null if the visitor may approve none. */
export async function countApprovals(visit: Visit): Promise<InboxCount | null> {
  return mayApprove(visit) ? readCount(visit) : null;
}

/** Answers the number to the script that updates the bar while a page is open. */
export async function sendApprovalCount(visit: Visit): Promise<FastifyReply> {
  const inbox = describeInbox(await readCount(visit));
  return visit.reply
    .header('cache-control', 'no-store')
    .type('application/json; charset=utf-8')
    .serializer((body: unknown) => body as string)
    .send(JSON.stringify(inbox));
}

async function readCount(visit: Visit): Promise<InboxCount> {
  const { approvals, next_cursor: next } = await visit.read(listApprovals, { query: { limit: String(max) } });
  return { count: approvals.length, isMore: next !== null };
}

/** Whether the visitor may approve runs at all. Only such visitors have an inbox. */
export function mayApprove(visit: Visit): boolean {
  return visit.mayDo(listApprovals).allowed;
}
