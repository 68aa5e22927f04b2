import { NothingToDo, runSystemCommand, type SystemCommandDeps } from '#domain/shared/commands/system-command.ts';
import type { DisabledReason } from './model.ts';
import { findWebhook } from './store.ts';

/** Disables a webhook, with an audit record and an event. The pending deliveries are sent when somebody enables it again. */
export async function disableWebhook(deps: SystemCommandDeps, id: string, reason: DisabledReason): Promise<void> {
  const command = { action: 'webhook.disabled', target: { id }, cause: null } as const;
  await runSystemCommand(deps, command, {
    find: ({ em }) => findWebhook(em, id, true),
    act: async (tx, _caller, target) => {
      if (!target?.webhook.isEnabled) throw new NothingToDo();
      const { webhook } = target;
      Object.assign(webhook, { isEnabled: false, disabledReason: reason, revision: webhook.revision + 1 });
      await tx.em.flush();
      return { id, before: { enabled: true }, after: { enabled: false, reason }, revision: webhook.revision };
    },
  });
}
