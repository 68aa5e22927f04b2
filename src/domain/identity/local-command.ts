import type { Orm } from '#database/database.ts';
import { systemPrincipal } from '#domain/shared/access/principal.ts';
import type { AuditedAction, CommandChange } from '#domain/shared/audit.ts';
import { runCommand } from '#domain/shared/commands/command.ts';
import { type Transaction, Transactions } from '#domain/shared/commands/transaction.ts';
import { openInstallation } from '#domain/shared/installation/installation.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { administratorsLock } from './users/administrators.ts';

/** The installation that a local command line works on. */
export interface LocalInstallation {
  readonly orm: Orm;
  readonly keyRing: KeyRing;
}

/**
 * Changes administrators from the command line. Nobody is authenticated: a person who can read the service's settings already controls the
 * installation. The transaction and the audit record are those of the API.
 */
export async function runLocalCommand(
  { orm, keyRing }: LocalInstallation,
  { operation, audit }: { operation: string; audit: AuditedAction },
  act: (tx: Transaction) => Promise<CommandChange>,
): Promise<{ id: string | null }> {
  const installation = await openInstallation(orm, keyRing);
  if (installation.problem !== null) throw new Error(installation.problem);
  const transactions = new Transactions(orm, { dispatch: () => undefined });
  const command = {
    key: null,
    caller: systemPrincipal('command line'),
    operation,
    audit,
    target: {},
    input: {},
    locks: [administratorsLock],
    request: { requestId: null, address: null },
  };
  const work = { find: async () => undefined, act };
  const { receipt } = await runCommand(transactions, installation.bindingKey, command, work);
  return { id: receipt.resourceId };
}
