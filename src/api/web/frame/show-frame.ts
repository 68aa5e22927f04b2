import { readNames } from '#domain/tenancy/names-store.ts';
import type { Page } from '../layout.ts';
import { isSignedIn } from '../visit/route.ts';
import type { Visit } from '../visit/visit.ts';
import type { Frame } from './frame.ts';
import { describeScope } from './scope-menu.ts';

/** What the frame shows beyond the page, and which the areas answer. */
export interface FrameSources {
  /** How many runs wait for the visitor's approval; null if the visitor approves none. */
  readonly countApprovals: (visit: Visit) => Promise<{ readonly count: number; readonly isMore: boolean } | null>;
}

/** Reads what the frame around a page shows to its visitor; null if nobody is signed in. */
export async function showFrame(visit: Visit, page: Page): Promise<Frame | null> {
  if (!isSignedIn(visit.request) || page.isBare) return null;
  const { organizations, teams } = visit.principal;
  const { organizationId, teamId } = visit.scope;
  const named = {
    organizations: [...Object.keys(organizations), ...(organizationId ? [organizationId] : [])],
    teams: [...Object.keys(teams), ...(teamId ? [teamId] : [])],
  };
  const [names, approvals] = await Promise.all([readNames(visit.em, named), visit.context.frame.countApprovals(visit)]);
  const { name, role, email } = visit.principal;
  return { visitor: { name, role, email }, address: visit.request.url, approvals, scope: describeScope(visit, names) };
}
