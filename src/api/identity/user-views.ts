import { z } from 'zod';
import type { ActionContext } from '#api/pipeline/actions.ts';
import { AnswerId, Time } from '#api/pipeline/schemas.ts';
import type { Em } from '#database/database.ts';
import type { UserTarget } from '#domain/identity/users/store.ts';
import { withUserFacts } from '#domain/identity/users/user-facts.ts';
import { PlatformRole } from '#domain/shared/vocabulary/roles.ts';
import { userActions } from './user-actions.ts';

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
