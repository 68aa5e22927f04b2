import { db } from '#domain/db.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import { recordSystemAction } from '#domain/shared/commands/system-command.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';

/**
 * The tables of senders that report events below their owner to others, each with the action that the audit records when the service
 * disables one.
 */
const telling = [
  ['webhooks', 'webhook.disabled'],
  ['notification_channels', 'notification_channel.disabled'],
] as const;

/**
 * Disables the webhooks and notification channels of a project, or of a team and its projects, after a transfer. They send to receivers
 * that the former owners chose and the new owners have not approved. The caller has locked the row of the project or team.
 */
export async function disableTransferred(
  tx: Transaction,
  moved: { readonly kind: 'project' | 'team'; readonly id: string },
  owners: Ownership,
): Promise<void> {
  const reason = 'transferred';
  for (const [table, action] of telling) {
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
