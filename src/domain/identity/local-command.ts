import type { Config } from '#config';
import { systemPrincipal } from '#domain/shared/access/principal.ts';
import type { AuditedAction, Change } from '#domain/shared/audit.ts';
import { runCommand } from '#domain/shared/commands/command.ts';
import { type Transaction, Transactions } from '#domain/shared/commands/transaction.ts';
import { openInstallation } from '#domain/shared/installation.ts';
import { KeyRing } from '#domain/shared/secrets.ts';
import { openDatabase } from '#open-database';
import { administratorsLock } from './users/administrators.ts';

/**
 * Does something about administrators for whoever sits at the machine: who can read its settings owns the installation
 * anyway. The same transaction and the same audit row as by the API.
 */
export async function runLocalCommand(
  config: Config,
  { operation, audit }: { operation: string; audit: AuditedAction },
  act: (tx: Transaction) => Promise<Change>,
): Promise<{ id: string | null }> {
  const orm = openDatabase(config);
  try {
    const installation = await openInstallation(orm, new KeyRing(config.secretKeys));
    const transactions = new Transactions(orm, () => undefined);
    const command = {
      ...{ key: null, caller: systemPrincipal('command line'), operation, audit, target: {}, input: {} },
      ...{ locks: [administratorsLock], request: { requestId: null, address: null } },
    };
    const work = { find: async () => undefined, act };
    const { receipt } = await runCommand(transactions, installation.bindingKey, command, work);
    return { id: receipt.resourceId };
  } finally {
    await orm.close();
  }
}
