import type { Em } from '#database/database.ts';
import { findStoredPrincipal } from '#domain/identity/stored-authority.ts';
import { decide } from '#domain/shared/access/decide.ts';
import { workAuthority } from './authority.ts';
import type { FiringReason } from './model.ts';
import { findPauseReason } from './pause-store.ts';
import { findSchedule } from './store.ts';

/** Why the authority of a schedule does not let it start its work now; null if it does. */
export async function findStartRefusal(em: Em, id: string): Promise<FiringReason | null> {
  const target = await findSchedule(em, id);
  if (!target) return null;
  const because = await findPauseReason(em, id);
  if (because) return because;
  const principal = await findStoredPrincipal(em, target.schedule);
  return decide(principal, workAuthority(target.schedule.work), target).allowed ? null : 'not_permitted';
}
