import { z } from 'zod';
import { command } from '#api/pipeline/operation.ts';
import { Nothing } from '#api/pipeline/schemas.ts';
import { sessionLifetimeSeconds } from '#domain/identity/model.ts';
import { changeOwnPassword, verifyOwnPassword } from '#domain/identity/passwords/own-password.ts';
import { hashPassword } from '#domain/identity/passwords/passwords.ts';
import { findPasswordReset, passwordReset, redeemPasswordReset } from '#domain/identity/passwords/resets.ts';
import { GivenPassword, Password, refusePersonal } from '#domain/identity/passwords/rules.ts';
import { signSessionToken } from '#domain/identity/sessions/sessions.ts';
import { authorityLock } from '#domain/shared/access/authority-lock.ts';
import { invalidField } from '#domain/shared/errors.ts';
import { ownSession, SignedInView, sessionFactsOf } from './session-operations.ts';

/** By default, API keys survive a new password, so that unrelated automation continues. */
export const RevokeKeys = z
  .boolean()
  .default(false)
  .describe('Whether all API keys of the user are revoked too, as after a theft. They stay unless you ask for it.');

const ChangePassword = z
  .strictObject({
    current_password: GivenPassword,
    new_password: Password,
    confirm_password: GivenPassword,
    revoke_api_keys: RevokeKeys,
  })
  .meta({ id: 'ChangePassword' });
const ResetPassword = z
  .strictObject({ token: z.string().max(200), new_password: Password, revoke_api_keys: RevokeKeys })
  .meta({ id: 'ResetPassword' });

export const changeOwn = command({
  id: 'profile.change_password',
  route: 'POST /api/v1/profile/password',
  summary: 'Change your own password: all your sessions end, and this one is replaced by a new one',
  description: 'Needs a session; API keys are refused.',
  body: ChangePassword,
  responses: { 200: SignedInView },
  access: ownSession,
  idempotency: 'none',
  locks: ({ principal }) => [authorityLock(principal.id)],
  audit: 'user.password_changed',
  resource: 'users',
  resourceId: ({ principal }) => principal.id,
  limitGuesses: ({ principal }) => principal.id,
  prepare: async ({ em, principal, body }) => {
    const { current_password: current, new_password: wanted, confirm_password: repeated } = body;
    if (repeated !== wanted) throw invalidField('confirm_password', 'must be the same as the new password');
    refusePersonal('new_password', wanted, { email: principal.email ?? '', name: principal.name });
    const generation = await verifyOwnPassword(em, principal, current);
    const hash = await hashPassword(wanted);
    return { generation, password: { hash, revokesKeys: body.revoke_api_keys } };
  },
  handle: async ({ tx, principal, prepared, request, services }) => {
    const { session, revokedApiKeys } = await changeOwnPassword(tx.em, principal, prepared, sessionFactsOf(request));
    const token = await signSessionToken(services.installation, session);
    const answer = { session_id: session.id, token, expires_at: session.expiresAt, user: principal };
    return { id: principal.id, after: { revokedApiKeys }, answer };
  },
  sessionCookie: ({ token }) => ({ token, maxAgeSeconds: sessionLifetimeSeconds }),
});

export const redeemReset = command({
  id: 'auth.reset_password',
  route: 'POST /api/v1/password-reset',
  summary: 'Set a new password with the token of a password reset link; all sessions of the user end',
  body: ResetPassword,
  responses: { 204: Nothing },
  access: { public: 'a user with a forgotten password cannot sign in; the token of the link takes its place' },
  idempotency: 'none',
  audit: passwordReset.action,
  resource: passwordReset.resourceType,
  limitGuesses: () => 'password reset',
  prepare: async ({ em, body }) => {
    const user = await findPasswordReset(em, body.token);
    refusePersonal('new_password', body.new_password, user);
    const hash = await hashPassword(body.new_password);
    return { user, password: { hash, revokesKeys: body.revoke_api_keys } };
  },
  handle: async ({ tx, body, prepared: { user, password } }) => {
    const { revokedApiKeys } = await redeemPasswordReset(tx.em, user, body.token, password);
    return { id: user.id, actor: user, after: { revokedApiKeys } };
  },
});
