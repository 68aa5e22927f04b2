import type { Visit } from '#api/web/visit/visit.ts';
import { list as listApprovals } from '../inbox-operations.ts';

/** The bar counts no further. */
const most = 20;

/** How many runs wait for the visitor's approval; null if the visitor may approve none. */
export async function countApprovals(visit: Visit): Promise<{ count: number; isMore: boolean } | null> {
  if (!mayApprove(visit)) return null;
  const { approvals, next_cursor: next } = await visit.read(listApprovals, { query: { limit: String(most) } });
  return { count: approvals.length, isMore: next !== null };
}

/** Whether the visitor may approve runs at all. Others have no inbox. */
export function mayApprove(visit: Visit): boolean {
  return visit.mayDo(listApprovals).allowed;
}
