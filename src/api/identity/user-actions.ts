import { actionsOf, type RuleAgainst } from '#api/pipeline/actions.ts';
import { findConfirmationRefusal } from '#domain/identity/email-confirmations/confirmations.ts';
import { findResetRefusal } from '#domain/identity/passwords/resets.ts';
import { findLastAdministratorRefusal } from '#domain/identity/users/administrators.ts';
import { findRoleAboveOwn, ownPassword, ownPrivileges } from '#domain/identity/users/user-changes.ts';
import type { UserWithFacts } from '#domain/identity/users/user-facts.ts';
import type { Principal } from '#domain/shared/access/principal.ts';

/** What a caller may do with a user. */
export const userActions = actionsOf<UserWithFacts>()({
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

/** Users may change their own details whatever their role; other users need a role that is not above the caller's. */
function findAboveOwn({ role }: UserWithFacts, caller: Principal): RuleAgainst {
  const message = findRoleAboveOwn(caller, role);
  return message === null ? null : { message };
}
