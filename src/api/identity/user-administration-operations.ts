import { z } from 'zod';
import { command } from '#api/pipeline/operation.ts';
import { Emailed, Nothing, Time } from '#api/pipeline/schemas.ts';
import { issuePasswordReset } from '#domain/identity/passwords/resets.ts';
import { administratorsLock } from '#domain/identity/users/administrators.ts';
import { findUserToChange } from '#domain/identity/users/store.ts';
import { deleteUser } from '#domain/identity/users/user-deletion.ts';
import { passwordResetPath } from '#domain/message-sending/links.ts';
import { mailPasswordReset } from '#domain/messages/queue/account-mail.ts';
import { authorityLock } from '#domain/shared/access/authority-lock.ts';
import { refuseStale } from '#domain/shared/revisions.ts';
import { limitSubjectOfCaller } from '#domain/shared/tasks/limit-subject.ts';
import { manageAccess, UserParams } from './user-operations.ts';

const ResetLinkView = z
  .object({ url: z.string(), token: z.string(), expires_at: Time, emailed: Emailed })
  .meta({ id: 'ResetLink' });

export const remove = command({
  id: 'users.delete',
  route: 'DELETE /api/v1/users/:id',
  summary: 'Delete a user; the address is free again',
  description:
    'Sessions, API keys and memberships end. Refused with 409 where the user owns service accounts, is the only owner of an ' +
    'organization or a team, is the last administrator, or is named by history that is kept: disable the user instead.',
  params: UserParams,
  responses: { 204: Nothing },
  access: { ...manageAccess, review: { resource: 'users', verb: 'delete' } },
  target: ({ em, params, lock }) => findUserToChange(em, params.id, lock),
  targetName: 'user',
  ifMatch: true,
  idempotency: 'none',
  locks: ({ params }) => [authorityLock(params.id), administratorsLock],
  audit: 'user.deleted',
  handle: async ({ tx, principal, target, expectedRevision }) => {
    refuseStale(target, expectedRevision);
    await deleteUser(tx.em, principal, target);
    const { id, email, name, role, enabled } = target;
    return { id, before: { email, name, role, enabled } };
  },
});

export const resetPassword = command({
  id: 'users.reset_password',
  route: 'POST /api/v1/users/:id/password-reset',
  summary: 'Create a link with which a user sets a new password; it is shown once and works once, within 24 hours',
  description: 'An earlier link becomes void, and so does this one after any other change of the password.',
  params: UserParams,
  responses: { 201: ResetLinkView },
  access: { ...manageAccess, review: { resource: 'users', verb: 'reset_password' } },
  target: ({ em, params, lock }) => findUserToChange(em, params.id, lock),
  targetName: 'user',
  idempotency: 'none',
  showsOnce: true,
  locks: ({ params }) => [authorityLock(params.id)],
  audit: 'user.password_reset_issued',
  handle: async ({ tx, principal, target, services, request }) => {
    const link = await issuePasswordReset(tx.em, principal, target);
    const sender = { em: tx.em, keyRing: services.keyRing, subject: limitSubjectOfCaller(principal) };
    const emailed = services.config.mail !== null && (await mailPasswordReset(sender, target, link));
    const { token, expiresAt } = link;
    const url = request.linkOrigin + passwordResetPath(token);
    return {
      id: target.id,
      after: { expiresAt: expiresAt.toISOString() },
      answer: { url, token, expires_at: expiresAt, emailed },
    };
  },
});
