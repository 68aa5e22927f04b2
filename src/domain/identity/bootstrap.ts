import type { CommandChange } from '#domain/shared/audit.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Conflict } from '#domain/shared/errors.ts';
import type { PrincipalRecord, User } from './entity.ts';
import { type LocalInstallation, runLocalCommand } from './local-command.ts';
import { hashPassword } from './passwords/passwords.ts';
import { refusePersonal } from './passwords/rules.ts';
import { hasAnyPrincipal } from './users/store.ts';
import { createUser } from './users/users.ts';

/** The audit action of creating the first administrator. */
export const bootstrapped = { action: 'user.bootstrapped', resourceType: 'users' } as const;

export interface Administrator {
  readonly email: string;
  readonly name: string;
  readonly password: string;
}

/**
 * Creates the first user, an administrator. (specification, *Bootstrap*, rule 1)
 * @throws Conflict once the installation has ever had a user or a service account
 */
export async function bootstrapAdministrator(
  tx: Transaction,
  { email, name, passwordHash }: { email: string; name: string; passwordHash: string },
): Promise<{ principal: PrincipalRecord; user: User }> {
  if (await hasAnyPrincipal(tx.em)) {
    throw new Conflict(
      'this installation already has users: bootstrap works only before the first one',
      'already_bootstrapped',
    );
  }
  return createUser(tx.em, { email, name, role: 'admin', passwordHash });
}

/** Creates the first administrator from the command line. */
export async function createFirstAdministrator(
  installation: LocalInstallation,
  administrator: Administrator,
): Promise<{ id: string }> {
  refusePersonal('password', administrator.password, administrator);
  const passwordHash = await hashPassword(administrator.password);
  const command = { operation: 'bootstrap.admin', audit: bootstrapped };
  const { id } = await runLocalCommand(installation, command, async (tx) => {
    const { principal } = await bootstrapAdministrator(tx, { ...administrator, passwordHash });
    return bootstrapChange(principal, administrator.email);
  });
  return { id: id ?? '' };
}

/** The change that the audit records of creating the first administrator. */
export function bootstrapChange({ id, name, role }: PrincipalRecord, email: string): CommandChange {
  return { id, after: { email, name, role } };
}
