import type { Config } from '#config';
import { anonymous } from '#domain/shared/access/principal.ts';
import { runCommand } from '#domain/shared/command.ts';
import { openDatabase } from '#domain/shared/database.ts';
import { Conflict } from '#domain/shared/errors.ts';
import { openInstallation } from '#domain/shared/installation.ts';
import { KeyRing } from '#domain/shared/secrets.ts';
import { type Transaction, Transactions } from '#domain/shared/transaction.ts';
import { administratorsLock } from './administrators.ts';
import type { Principal, User } from './entity.ts';
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

/** The same from the command line, for the embedded default: whoever can read its data directory owns it anyway. */
export async function createFirstAdministrator(config: Config, administrator: Administrator): Promise<{ id: string }> {
  const orm = openDatabase(config);
  try {
    const installation = await openInstallation(orm, new KeyRing(config.secretKeys));
    const passwordHash = await hashPassword(administrator.password);
    const transactions = new Transactions(orm, () => undefined);
    const command = {
      ...{ key: null, caller: anonymous, operation: 'bootstrap.admin', target: {}, input: {} },
      ...{ locks: [administratorsLock], request: { requestId: null, address: null } },
    };
    const { receipt } = await runCommand(transactions, installation.bindingKey, command, {
      find: async () => undefined,
      act: async (tx) => {
        const { principal } = await bootstrapAdministrator(tx, { ...administrator, passwordHash });
        return { status: 201, audit: bootstrapAudit(principal, administrator.email) };
      },
    });
    return { id: receipt.resourceId ?? '' };
  } finally {
    await orm.close();
  }
}

export function bootstrapAudit(principal: Principal, email: string) {
  const after = { email, name: principal.name, role: principal.role };
  return { action: 'user.bootstrapped', resource: { type: 'users', id: principal.id }, after };
}
