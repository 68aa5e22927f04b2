import { z } from 'zod';
import { actionsOf } from '#api/pipeline/actions.ts';
import type { NamedResource, RequestMetadata } from '#api/pipeline/call.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { AnswerId, Nothing, pageOf, Time } from '#api/pipeline/schemas.ts';
import { Email, sessionLifetimeSeconds } from '#domain/identity/model.ts';
import { GivenPassword } from '#domain/identity/passwords/rules.ts';
import {
  checkPassword,
  openSession,
  revokeSession,
  type SessionFacts,
  signSessionToken,
} from '#domain/identity/sessions/sessions.ts';
import { findActiveSession, listActiveSessions, type SessionDetails } from '#domain/identity/sessions/store.ts';
import { authorityLock } from '#domain/shared/access/authority-lock.ts';
import { type Access, installationOwnership, type Ownership } from '#domain/shared/access/decide.ts';
import { rolePermissions } from '#domain/shared/access/permissions.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { HiddenResource, Invalid } from '#domain/shared/errors.ts';
import { Id } from '#domain/shared/ids.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { organizationRoles, PlatformRole, principalKinds, teamRoles } from '#domain/shared/vocabulary/roles.ts';

export const own: Access = { anyOf: ['profile:manage'], scope: 'self', hidden: 'not_found', review: 'none' };
export const ownSession: Access = { ...own, principals: ['user'] };

const SignIn = z.strictObject({ email: Email, password: GivenPassword }).meta({ id: 'SignIn' });

const IdentityView = z
  .object({
    type: z.enum(principalKinds),
    id: AnswerId,
    name: z.string(),
    email: z.string().nullable(),
    role: PlatformRole.nullable(),
    enabled: z.boolean(),
    permissions: z.array(z.string()).describe('What the role allows; in a team, the role there must allow it as well.'),
    responsible_user_id: AnswerId.nullable().describe('The user who answers for what it does.'),
    credential: z.object({ type: z.enum(['session', 'api_key', 'system']), id: z.string() }),
    organizations: z.array(z.object({ id: AnswerId, role: z.enum(organizationRoles) })),
    teams: z.array(z.object({ id: AnswerId, role: z.enum(teamRoles) })),
  })
  .meta({ id: 'Identity' });

export const SessionView = z
  .object({
    id: AnswerId,
    created_at: Time,
    expires_at: Time,
    current: z.boolean(),
    address: z.string().nullable(),
    user_agent: z.string().nullable(),
  })
  .meta({ id: 'Session' });

const sessionActions = actionsOf<Ownership>()({ end: { operation: 'auth.sign_out' } });

/** A single session, with what its user may do with it. */
const SessionDetailsView = SessionView.extend({ actions: sessionActions.view }).meta({ id: 'SessionDetails' });

export const SignedInView = z
  .object({
    session_id: AnswerId,
    token: z.string(),
    expires_at: Time,
    user: IdentityView.pick({ id: true, name: true, email: true, role: true, enabled: true }),
  })
  .meta({ id: 'SignedIn' });

export const listSessions = read({
  id: 'auth.list_sessions',
  route: 'GET /api/v1/auth/sessions',
  summary: 'List your own active sessions',
  query: z.strictObject(pageQuery),
  responses: { 200: pageOf('sessions', SessionView) },
  access: ownSession,
  resource: 'sessions',
  handle: async ({ em, principal, query }) => {
    const page = await listActiveSessions(em, principal.id, query);
    return { sessions: page.items.map((session) => viewSession(session, principal)), next_cursor: page.nextCursor };
  },
});

export const getSession = read({
  id: 'auth.get_session',
  route: 'GET /api/v1/auth/sessions/:id',
  summary: 'Read one of your own active sessions',
  params: z.strictObject({ id: Id.or(z.literal('current')) }),
  responses: { 200: SessionDetailsView },
  access: ownSession,
  resource: 'sessions',
  resourceId,
  handle: async ({ em, principal, params, operations }) => {
    const session = await findActiveSession(em, principal.id, sessionId(params.id, principal));
    if (!session) throw new HiddenResource('session');
    const actions = sessionActions.describe({ operations, principal }, installationOwnership);
    return { ...viewSession(session, principal), actions };
  },
});

export const signIn = command({
  id: 'auth.sign_in',
  route: 'POST /api/v1/auth/sessions',
  summary: 'Sign in with e-mail address and password',
  body: SignIn,
  responses: { 201: SignedInView },
  at: getSession,
  access: { public: 'a caller has no credential before signing in' },
  idempotency: 'none',
  showsOnce: true,
  audit: 'session.opened',
  limitGuesses: ({ body }) => body.email,
  resource: 'sessions',
  prepare: ({ em, body }) => checkPassword(em, body.email, body.password),
  handle: async ({ tx, prepared, request, services }) => {
    const { user } = prepared;
    const session = await openSession(tx.em, prepared, sessionFactsOf(request));
    const token = await signSessionToken(services.installation, session);
    const answer = { session_id: session.id, token, expires_at: session.expiresAt, user };
    return { id: session.id, actor: user, answer };
  },
  sessionCookie: ({ token }) => ({ token, maxAgeSeconds: sessionLifetimeSeconds }),
});

export const signOut = command({
  id: 'auth.sign_out',
  route: 'DELETE /api/v1/auth/sessions/:id',
  summary: 'End one of your own sessions; `current` is the one of this request',
  params: z.strictObject({ id: Id.or(z.literal('current')) }),
  responses: { 204: Nothing },
  access: ownSession,
  idempotency: 'none',
  locks: ({ principal }) => [authorityLock(principal.id)],
  audit: 'session.revoked',
  resource: 'sessions',
  resourceId,
  handle: async ({ tx, principal, params }) => {
    const id = sessionId(params.id, principal);
    if (!(await revokeSession(tx.em, principal.id, id))) throw new HiddenResource('session');
    return { id };
  },
  sessionCookie: (_answer, { params, principal }) =>
    sessionId(params.id, principal) === principal.credential.id ? null : undefined,
});

export const whoami = read({
  id: 'auth.whoami',
  route: 'GET /api/v1/auth/whoami',
  summary: 'Read who you are by the credential that you sent',
  responses: { 200: IdentityView },
  access: own,
  handle: async ({ principal }) => ({
    type: principal.kind,
    id: principal.id,
    name: principal.name,
    email: principal.email,
    role: principal.role,
    enabled: principal.enabled,
    permissions: principal.role === null ? [] : [...rolePermissions[principal.role]].sort(),
    responsible_user_id: principal.responsibleUserId,
    credential: principal.credential,
    organizations: toList(principal.organizations),
    teams: toList(principal.teams),
  }),
});

function toList<Role>(roles: Readonly<Record<string, Role>>) {
  return Object.entries(roles).map(([id, role]) => ({ id, role }));
}

function viewSession(session: SessionDetails, principal: Principal) {
  return {
    id: session.id,
    created_at: session.createdAt,
    expires_at: session.expiresAt,
    current: session.id === principal.credential.id,
    address: session.address,
    user_agent: session.userAgent,
  };
}

/** The session that a path names; null for `current` in a request without a session. */
function resourceId({ params: { id }, principal: { credential } }: NamedResource<{ id: string }, undefined>) {
  if (id !== 'current') return id;
  return credential.type === 'session' ? credential.id : null;
}

function sessionId(id: string, principal: Principal): string {
  if (id !== 'current') return id;
  if (principal.credential.type !== 'session')
    throw new Invalid('the request was not made with a session: give the id of the session instead of "current"');
  return principal.credential.id;
}

export function sessionFactsOf({ address, headers }: RequestMetadata): SessionFacts {
  const agent = headers['user-agent'];
  return { address, userAgent: typeof agent === 'string' ? agent : null };
}
