import { z } from 'zod';
import { command, read } from '#api/pipeline/operation.ts';
import { Flag, pageOf } from '#api/pipeline/schemas.ts';
import type { Services } from '#api/services.ts';
import type { Em } from '#database/database.ts';
import { issueConfirmation } from '#domain/identity/email-confirmations/confirmations.ts';
import { Email } from '#domain/identity/model.ts';
import { hashPassword } from '#domain/identity/passwords/passwords.ts';
import { refusePersonal } from '#domain/identity/passwords/rules.ts';
import { administratorsLock } from '#domain/identity/users/administrators.ts';
import { findUser, findUserToChange, listUsers, type UserTarget } from '#domain/identity/users/store.ts';
import { addUser, refuseOwnPassword, refuseOwnPrivileges, updateUser } from '#domain/identity/users/user-changes.ts';
import { mailAddressChange, mailOwnConfirmation } from '#domain/messages/queue/account-mail.ts';
import { authorityLock } from '#domain/shared/access/authority-lock.ts';
import type { Access } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { Id } from '#domain/shared/ids.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { limitSubjectOfCaller } from '#domain/shared/tasks/limit-subject.ts';
import { PlatformRole } from '#domain/shared/vocabulary/roles.ts';
import { CreateUser, toUserChange, UpdateUser } from './bodies.ts';
import { ListedUserView, showUser, UserView, viewUser } from './user-views.ts';

export const UserParams = z.strictObject({ id: Id });

export const manageAccess: Access = {
  anyOf: ['user:manage'],
  scope: 'platform',
  hidden: 'forbidden',
  review: { resource: 'users', verb: 'list' },
};
/** Access to one's own user, or with `user:manage` to any user; `accessTo` decides which of the two. */
const namedAccess: Access = {
  anyOf: ['user:manage', 'profile:manage'],
  scope: 'self',
  hidden: 'forbidden',
  review: { resource: 'users', verb: 'get' },
};

/**
 * A caller who may not manage users gets the same answer for another user as for one who does not exist (specification, *Users and
 * profile*, rule 4).
 */
function accessTo(user: { id: string }, principal: Principal): Access {
  return { ...namedAccess, anyOf: [principal.id === user.id ? 'profile:manage' : 'user:manage'] };
}

export const list = read({
  id: 'users.list',
  route: 'GET /api/v1/users',
  summary: 'List users',
  query: z.strictObject({
    ...pageQuery,
    email: Email.optional(),
    q: z.string().max(100).optional().describe('Text in the name or the address, in any case.'),
    role: PlatformRole.optional(),
    enabled: Flag.optional(),
  }),
  responses: { 200: pageOf('users', ListedUserView) },
  access: manageAccess,
  handle: async ({ em, query }) => {
    const enabled = query.enabled && query.enabled === 'true';
    const page = await listUsers(em, { ...query, enabled });
    return { users: page.items.map(viewUser), next_cursor: page.nextCursor };
  },
});

export const get = read({
  id: 'users.get',
  route: 'GET /api/v1/users/:id',
  summary: 'Read a user: yourself, or with user:manage any user',
  params: UserParams,
  responses: { 200: UserView },
  access: namedAccess,
  target: ({ em, params }) => findUser(em, params.id),
  targetName: 'user',
  accessTo,
  handle: async ({ em, target, operations, principal }) => showUser(em, { operations, principal }, target),
});

export const create = command({
  id: 'users.create',
  route: 'POST /api/v1/users',
  summary: 'Create a user',
  body: CreateUser,
  responses: { 201: UserView },
  at: get,
  access: { ...manageAccess, review: { resource: 'users', verb: 'create' } },
  idempotency: 'none',
  audit: 'user.created',
  prepare: ({ body }) => hashPassword(body.password),
  handle: async ({ tx, principal, body, prepared, operations }) => {
    const user = await addUser(tx.em, principal, body, prepared);
    const { email, name, role, enabled, revision } = user;
    const answer = await showUser(tx.em, { operations, principal }, user);
    return { id: user.id, after: { email, name, role, enabled }, revision, answer };
  },
});

export const update = command({
  id: 'users.update',
  route: 'PUT /api/v1/users/:id',
  summary: 'Change a user; fields that are left out keep their values',
  description:
    'You can change your own address and name, and with user:manage every field of other users. A changed address is unverified ' +
    'until it is confirmed. Where the installation sends e-mail, it answers 429 if too many mails were sent to the new address. A new password ends all their sessions. The last administrator cannot be disabled or get another role.',
  params: UserParams,
  body: UpdateUser,
  responses: { 200: UserView },
  access: { ...namedAccess, review: { resource: 'users', verb: 'update' } },
  target: ({ em, params, lock }) => findUserToChange(em, params.id, lock),
  targetName: 'user',
  accessTo,
  idempotency: 'none',
  locks: ({ params }) => [authorityLock(params.id), administratorsLock],
  audit: 'user.updated',
  prepare: async ({ principal, target, body }) => {
    refuseOwn(principal, target, body);
    const { password, email = target.email, name = target.name } = body;
    if (password === undefined) return null;
    refusePersonal('password', password, { email, name });
    return { hash: await hashPassword(password), revokesKeys: body.revoke_api_keys ?? false };
  },
  handle: async ({ tx, principal, target, body, prepared, operations, services }) => {
    refuseOwn(principal, target, body);
    const { updated, difference, ended } = await updateUser(tx.em, principal, target, toUserChange(body), prepared);
    if (difference.after.email !== undefined)
      await mailChangedAddress(tx.em, services, principal, { before: target, updated });
    const verified = difference.after.email !== undefined && { emailVerified: updated.emailVerified };
    const after = { ...difference.after, ...verified, ...(ended && { password: 'changed', ...ended }) };
    const { id, revision } = updated;
    const answer = await showUser(tx.em, { operations, principal }, updated);
    return { id, before: difference.before, after, revision, answer };
  },
});

/** If the installation sends e-mail, sends the confirmation link to the new address, and a warning to the former one. */
async function mailChangedAddress(
  em: Em,
  { config, keyRing }: Services,
  principal: Principal,
  { before, updated }: { readonly before: UserTarget; readonly updated: UserTarget },
): Promise<void> {
  if (config.mail === null || updated.emailVerified) return;
  const link = await issueConfirmation(em, principal, updated);
  await mailOwnConfirmation({ em, keyRing, subject: limitSubjectOfCaller(principal) }, updated, link);
  if (before.emailVerified) await mailAddressChange(em, before);
}

/** Refuses changes that users may not make to themselves. */
function refuseOwn(principal: Principal, user: UserTarget, body: z.output<typeof UpdateUser>): void {
  if (body.password !== undefined) refuseOwnPassword(principal, user);
  refuseOwnPrivileges(principal, user, toUserChange(body));
}
