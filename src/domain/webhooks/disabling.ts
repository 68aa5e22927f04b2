import { db } from '#domain/db.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import {
  NothingToDo,
  recordSystemAction,
  runSystemCommand,
  type SystemCommandDeps,
} from '#domain/shared/commands/system-command.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import type { DisabledReason } from './model.ts';
import { findWebhook } from './store.ts';

/** Disables a webhook, which its audit record and its event tell. What waits is sent once somebody enables it again. */
export async function disableWebhook(deps: SystemCommandDeps, id: string, reason: DisabledReason): Promise<void> {
  const command = { action: 'webhook.disabled', target: { id }, cause: null } as const;
  await runSystemCommand(deps, command, {
    find: ({ em }) => findWebhook(em, id, true),
    act: async (tx, _caller, target) => {
      if (!target?.webhook.isEnabled) throw new NothingToDo();
      const { webhook } = target;
      Object.assign(webhook, { isEnabled: false, disabledReason: reason, revision: webhook.revision + 1 });
      await tx.em.flush();
      return { ...disabled(id, reason), revision: webhook.revision };
    },
  });
}

/**
 * Disables the webhooks of a project, or of a team and its projects, which has just got other owners: they report to whoever made them, and the new
 * owners have not agreed to that. The caller holds the row of the project or team.
 */
export async function disableTransferredWebhooks(
  tx: Transaction,
  moved: { readonly kind: 'project' | 'team'; readonly id: string },
  owners: Ownership,
): Promise<void> {
  const rows = await db(tx.em)
    .updateTable('webhooks')
    .set((eb) => ({ is_enabled: false, disabled_reason: 'transferred', revision: eb('revision', '+', 1) }))
    .where(moved.kind === 'project' ? 'project_id' : 'team_id', '=', moved.id)
    .where('is_enabled', '=', true)
    .returning(['id', 'revision'])
    .execute();
  for (const { id, revision } of rows)
    recordSystemAction(tx, 'webhook.disabled', { ...disabled(id, 'transferred'), revision }, owners);
}

function disabled(id: string, reason: DisabledReason) {
  return { id, before: { enabled: true }, after: { enabled: false, reason } };
}
