import { z } from 'zod';
import { type ActionContext, actionsOf, type RuleAgainst } from '#api/pipeline/actions.ts';
import { AnswerId, Time } from '#api/pipeline/schemas.ts';
import type { Em } from '#database/database.ts';
import { findConfirmationRefusal } from '#domain/identity/email-confirmations/confirmations.ts';
import { findResetRefusal } from '#domain/identity/passwords/resets.ts';
import { findLastAdministratorRefusal } from '#domain/identity/users/administrators.ts';
import type { UserTarget } from '#domain/identity/users/store.ts';
import { findRoleAboveOwn, ownPassword, ownPrivileges } from '#domain/identity/users/user-changes.ts';
import { type UserWithFacts, withUserFacts } from '#domain/identity/users/user-facts.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { PlatformRole } from '#domain/shared/vocabulary/roles.ts';

/** What a caller may do with a user. */
const userActions = actionsOf<UserWithFacts>()({
  update: { operation: 'users.update', findRefusal: findAboveOwn },
  change_role: {
    operation: 'users.update',
    findRefusal: (user, caller) =>
      findOwn(user, caller, ownPrivileges.role) ?? findAboveOwn(user, caller) ?? findLastAdministratorRefusal(user),
  },
  enable: {
    operation: 'users.update',
    findRefusal: (user, caller) =>
      user.enabled ? null : (findOwn(user, caller, ownPrivileges.enabled) ?? findAboveOwn(user, caller)),
  },
  disable: {
    operation: 'users.update',
    findRefusal: (user, caller) => {
      if (!user.enabled) return null;
      return (
        findOwn(user, caller, ownPrivileges.enabled) ?? findAboveOwn(user, caller) ?? findLastAdministratorRefusal(user)
      );
    },
  },
  confirm_email: { operation: 'users.confirm_email', findRefusal: findAboveOwn },
  issue_email_confirmation: {
    operation: 'users.issue_email_confirmation',
    findRefusal: (user, caller) => findAboveOwn(user, caller) ?? findConfirmationRefusal(user),
  },
  reset_password: {
    operation: 'users.reset_password',
    findRefusal: (user, caller) =>
      findOwn(user, caller, ownPassword) ?? findAboveOwn(user, caller) ?? findResetRefusal(user),
  },
  delete: {
    operation: 'users.delete',
    findRefusal: (user) => findLastAdministratorRefusal(user) ?? user.deletion,
  },
});

function findOwn(user: UserWithFacts, caller: Principal, message: string): RuleAgainst {
  return user.id === caller.id ? { message } : null;
}

/** Refuses changes of a user whose role is above the caller's. Users may change their own details whatever their role. */
function findAboveOwn({ role }: UserWithFacts, caller: Principal): RuleAgainst {
  const message = findRoleAboveOwn(caller, role);
  return message === null ? null : { message };
}

const fields = {
  id: AnswerId,
  email: z.string(),
  email_verified: z
    .boolean()
    .describe('Whether the address is confirmed. A changed one accepts no invitation until it is.'),
  name: z.string(),
  role: PlatformRole,
  enabled: z.boolean(),
  revision: z.int(),
  created_at: Time,
};

/** A user in a list. */
export const ListedUserView = z.object(fields).meta({ id: 'ListedUser' });

/** A user in every answer about one user. */
export const UserView = z.object({ ...fields, actions: userActions.view }).meta({ id: 'User' });

export function viewUser({ id, email, emailVerified, name, role, enabled, revision, createdAt }: UserTarget) {
  return { id, email, email_verified: emailVerified, name, role, enabled, revision, created_at: createdAt };
}

/** Shows one user with the actions that the caller may take. */
export async function showUser(em: Em, context: ActionContext, user: UserTarget) {
  const facts = await withUserFacts(em, context.principal, user);
  return { ...viewUser(user), actions: userActions.describe(context, facts) };
}
