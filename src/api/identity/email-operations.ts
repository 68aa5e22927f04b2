import { z } from 'zod';
import { command } from '#api/pipeline/operation.ts';
import { Emailed, Time } from '#api/pipeline/schemas.ts';
import {
  confirmEmail,
  emailConfirmed,
  issueConfirmation,
  redeemConfirmation,
} from '#domain/identity/email-confirmations/confirmations.ts';
import { Email } from '#domain/identity/model.ts';
import { findUserToChange } from '#domain/identity/users/store.ts';
import { mailConfirmation } from '#domain/messages/queue/account-mail.ts';
import { authorityLock } from '#domain/shared/access/authority-lock.ts';
import { refuseStale } from '#domain/shared/revisions.ts';
import { limitSubjectOfCaller } from '#domain/shared/tasks/limit-subject.ts';
import { ownSession } from './session-operations.ts';
import { manageAccess, UserParams } from './user-operations.ts';
import { showUser, UserView } from './user-views.ts';

const ConfirmEmail = z
  .strictObject({
    email: Email.optional().describe('The address that you have checked. 409 if the user has another one by now.'),
  })
  .meta({ id: 'ConfirmEmail' })
  .optional();
const RedeemConfirmation = z.strictObject({ token: z.string().max(200) }).meta({ id: 'RedeemEmailConfirmation' });
const TokenView = z
  .object({ email: z.string(), token: z.string(), expires_at: Time, emailed: Emailed })
  .meta({ id: 'EmailConfirmationToken' });

const verified = { emailVerified: true };

export const confirm = command({
  id: 'users.confirm_email',
  route: 'POST /api/v1/users/:id/email-confirmation',
  summary: "Confirm a user's address, because you know that it is theirs",
  description: 'A changed address is unverified, and accepts no invitation, until it is confirmed.',
  params: UserParams,
  body: ConfirmEmail,
  responses: { 200: UserView },
  access: { ...manageAccess, review: { resource: 'users', verb: 'confirm_email' } },
  target: ({ em, params, lock }) => findUserToChange(em, params.id, lock),
  targetName: 'user',
  idempotency: 'none',
  ifMatch: true,
  locks: ({ params }) => [authorityLock(params.id)],
  audit: emailConfirmed.action,
  handle: async ({ tx, principal, target, body, expectedRevision, operations }) => {
    refuseStale(target, expectedRevision);
    const before = { emailVerified: target.emailVerified };
    const user = await confirmEmail(tx.em, principal, target, body?.email);
    const answer = await showUser(tx.em, { operations, principal }, user);
    return { id: user.id, before, after: verified, revision: user.revision, answer };
  },
});

export const issueToken = command({
  id: 'users.issue_email_confirmation',
  route: 'POST /api/v1/users/:id/email-confirmation-token',
  summary:
    'Create a token with which a user confirms their address; it is shown once and works once, within three days',
  description:
    'Send it to the address that is to be confirmed, and nowhere else. An installation that sends e-mail sends it there by itself. An earlier ' +
    'token becomes void.',
  params: UserParams,
  responses: { 201: TokenView },
  access: { ...manageAccess, review: { resource: 'users', verb: 'issue_email_confirmation' } },
  target: ({ em, params, lock }) => findUserToChange(em, params.id, lock),
  targetName: 'user',
  idempotency: 'none',
  showsOnce: true,
  locks: ({ params }) => [authorityLock(params.id)],
  audit: 'user.email_confirmation_issued',
  handle: async ({ tx, principal, target, services }) => {
    const link = await issueConfirmation(tx.em, principal, target);
    const sender = { em: tx.em, keyRing: services.keyRing, subject: limitSubjectOfCaller(principal) };
    const emailed = services.config.mail !== null && (await mailConfirmation(sender, target, link));
    const { token, expiresAt } = link;
    return {
      id: target.id,
      after: { expiresAt },
      answer: { email: target.email, token, expires_at: expiresAt, emailed },
    };
  },
});

export const redeemToken = command({
  id: 'profile.confirm_email',
  route: 'POST /api/v1/profile/email-confirmation',
  summary: 'Confirm your own address with the token that was sent to it',
  body: RedeemConfirmation,
  responses: { 200: UserView },
  access: ownSession,
  idempotency: 'none',
  locks: ({ principal }) => [authorityLock(principal.id)],
  audit: emailConfirmed.action,
  resource: emailConfirmed.resourceType,
  resourceId: ({ principal }) => principal.id,
  limitGuesses: ({ principal }) => principal.id,
  handle: async ({ tx, principal, body, operations }) => {
    const user = await redeemConfirmation(tx.em, principal, body.token);
    const before = { emailVerified: false };
    const answer = await showUser(tx.em, { operations, principal }, user);
    return { id: user.id, before, after: verified, revision: user.revision, answer };
  },
});
