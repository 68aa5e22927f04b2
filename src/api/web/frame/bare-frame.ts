import type { FastifyRequest } from 'fastify';
import { anonymous, type Principal } from '#domain/shared/access/principal.ts';
import { describeClosed } from '#domain/shared/features/gates.ts';
import { pagePath, pages } from '../paths.ts';
import type { Frame } from './frame.ts';
import { navigationFor, type Offered } from './navigation.ts';

/**
 * The frame around an error page. It reads nothing from the database, because that may be what has failed. Null if the visitor is not
 * signed in.
 */
export function bareFrame(request: FastifyRequest, offered: Offered): Frame | null {
  // An error may occur before the visitor is authenticated.
  const principal = request.principal as Principal | null | undefined;
  if (!principal || principal === anonymous || principal.kind !== 'user') return null;
  const { id, name, role, email } = principal;
  const everything = { label: 'All teams', path: pagePath(pages.home), isCurrent: true };
  const scope = { label: everything.label, choices: [everything], organizations: [], query: {} };
  const navigation = navigationFor(offered, principal);
  return {
    visitor: { id, name, role, email },
    address: request.url,
    approvals: null,
    unread: null,
    hasNotifications: describeClosed('notifications', principal.closedFeatures) === null,
    scope,
    navigation,
  };
}
