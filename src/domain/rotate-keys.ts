import { toSnakeCase } from '#database/compiler.ts';
import type { LocalInstallation } from './identity/local-command.ts';
import { sealedColumns } from './sealed-columns.ts';
import { installationOwnership } from './shared/access/decide.ts';
import { runSystemCommand } from './shared/commands/system-command.ts';
import { Transactions } from './shared/commands/transaction.ts';
import { openInstallation } from './shared/installation/installation.ts';
import { countOld, type RotatedColumn, rotateColumn } from './shared/sealed/rotate-keys.ts';

type Report = (line: string) => void;

/** How many values of the database need another key than the first of the ring. Reports each column. */
export async function countAllOld(installation: LocalInstallation, report: Report): Promise<number> {
  let all = 0;
  for (const each of sealedColumns) {
    const left = await countOld(installation, each);
    report(`${each.table}.${toSnakeCase(each.column)}: ${left} left`);
    all += left;
  }
  return all;
}

/**
 * Seals every value of the database with the first key of the ring if another key has sealed it, and records this in the audit. Reports
 * each column.
 * @returns how many values still need another key
 */
export async function rotateAllKeys(installation: LocalInstallation, report: Report): Promise<number> {
  const columns: RotatedColumn[] = [];
  for (const each of sealedColumns) {
    const done = await rotateColumn(installation, each);
    const { table, column, sealed, unreadable, left } = done;
    report(`${table}.${toSnakeCase(column)}: ${sealed} encrypted anew, ${unreadable} that no key opens, ${left} left`);
    columns.push(done);
  }
  const [sealed, left] = [sum(columns, 'sealed'), sum(columns, 'left')];
  if (sealed > 0) await record(installation, { sealed, left });
  return left;
}

function sum(columns: readonly RotatedColumn[], figure: 'sealed' | 'left'): number {
  return columns.reduce((total, column) => total + column[figure], 0);
}

async function record({ orm, keyRing }: LocalInstallation, after: { sealed: number; left: number }): Promise<void> {
  const { bindingKey } = await openInstallation(orm, keyRing);
  const transactions = new Transactions(orm, { dispatch: () => undefined });
  const command = { action: 'secrets.resealed', target: {}, cause: null } as const;
  await runSystemCommand({ transactions, bindingKey }, command, {
    find: async () => installationOwnership,
    act: async () => ({ id: null, after }),
  });
}
