import type { Em } from '#database/database.ts';
import { describeClosed } from '#domain/shared/features/gates.ts';
import { readNames } from '#domain/tenancy/names.ts';
import type { Frame } from './frame.ts';
import type { InboxCount } from './inbox-link.ts';
import { navigationFor } from './navigation.ts';
import { describeScope, type Framed } from './scope-menu.ts';

/** The numbers in the bar above every page. Areas count them. */
export interface BarCounts {
  /** Runs that wait for the visitor's approval; null if the visitor may not approve any. */
  readonly approvals: InboxCount | null;
  /** Unread notifications; null if the visitor cannot have any. */
  readonly unread: InboxCount | null;
}

/** Reads what the frame around a page shows to its visitor. */
export async function readFrame(em: Em, framed: Framed, count: () => Promise<BarCounts>): Promise<Frame> {
  const { principal, address, scope } = framed;
  const { id, organizations, teams, name, role, email } = principal;
  const named = {
    organizations: [...Object.keys(organizations), scope.organizationId ?? null],
    teams: [...Object.keys(teams), scope.teamId ?? null],
  };
  const [names, counts] = await Promise.all([readNames(em, named), count()]);
  return {
    visitor: { id, name, role, email },
    address,
    ...counts,
    hasNotifications: describeClosed('notifications', principal.closedFeatures) === null,
    scope: describeScope(framed, names),
    navigation: navigationFor(framed, principal),
  };
}
