import { db } from '#domain/db.ts';
import { declarations } from '#domain/ownership.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import { recordSystemAction } from '#domain/shared/commands/system-command.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';

const senders = declarations.filter((declaration) => 'disabledByTransfer' in declaration);

/**
 * Disables what sends to receivers, such as webhooks, of a project, or of a team and its projects, after a transfer: the new owners have
 * not approved these receivers. The caller has locked the row of the project or team.
 */
export async function disableTransferred(
  tx: Transaction,
  moved: { readonly kind: 'project' | 'team'; readonly id: string },
  owners: Ownership,
): Promise<void> {
  const reason = 'transferred';
  for (const { table, disabledByTransfer: action } of senders) {
    const rows = await db(tx.em)
      .updateTable(table)
      .set((eb) => ({ isEnabled: false, disabledReason: reason, revision: eb('revision', '+', 1) }))
      .where(moved.kind === 'project' ? 'projectId' : 'teamId', '=', moved.id)
      .where('isEnabled', '=', true)
      .returning(['id', 'revision'])
      .execute();
    for (const { id, revision } of rows) {
      const change = { id, before: { enabled: true }, after: { enabled: false, reason }, revision };
      recordSystemAction(tx, action, change, owners);
    }
  }
}
