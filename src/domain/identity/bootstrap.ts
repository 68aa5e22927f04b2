import type { Config } from '#config';
import { Conflict } from '#domain/shared/errors.ts';
import type { Transaction } from '#domain/shared/transaction.ts';
import type { Principal, User } from './entity.ts';
import { runLocalCommand } from './local-command.ts';
import { refusePersonal } from './password-rules.ts';
import { hashPassword } from './passwords.ts';
import { createUser, hasAnyUser } from './users.ts';

export interface Administrator {
  readonly email: string;
  readonly name: string;
  readonly password: string;
}

/** Makes the first user, an administrator; refused for good once there is anybody. (specification, *Bootstrap*, rule 1) */
export async function bootstrapAdministrator(
  tx: Transaction,
  { email, name, passwordHash }: { email: string; name: string; passwordHash: string },
): Promise<{ principal: Principal; user: User }> {
  if (await hasAnyUser(tx.em)) {
    throw new Conflict('this installation already has users: bootstrap works only before the first one');
  }
  return createUser(tx.em, { email, name, role: 'admin', passwordHash });
}

/** The same from the command line, for the embedded default. */
export async function createFirstAdministrator(config: Config, administrator: Administrator): Promise<{ id: string }> {
  refusePersonal('password', administrator.password, administrator);
  const passwordHash = await hashPassword(administrator.password);
  const { resourceId } = await runLocalCommand(config, 'bootstrap.admin', async (tx) => {
    const { principal } = await bootstrapAdministrator(tx, { ...administrator, passwordHash });
    return { status: 201, audit: bootstrapAudit(principal, administrator.email) };
  });
  return { id: resourceId ?? '' };
}

export function bootstrapAudit(principal: Principal, email: string) {
  const after = { email, name: principal.name, role: principal.role };
  return { action: 'user.bootstrapped', resource: { type: 'users', id: principal.id }, after };
}
