import type { Medium } from '#domain/messages/model.ts';
import { queueMessages } from '#domain/messages/queue/queue-store.ts';
import { type MessageSettlement, settleMessage } from '#domain/messages/queue/settle-store.ts';
import { newId } from '#domain/shared/ids.ts';
import type { TestApi } from '../api/in-process-api.ts';
import { leaseAll } from '../messages/sending.ts';
import { required } from './answers.ts';
import type { People } from './people.ts';
import type { Tenants } from './tenants.ts';
import { unresolved } from './webhooks.ts';

/** Notification channels by what they show. */
export interface SeededChannels {
  /** E-mail of an organization, with several subscriptions and messages that have arrived. */
  readonly mailed: string;
  /** A chat of a team, whose address answers with errors. */
  readonly failing: string;
  /** A signed webhook of a project that hears of nothing, and whose secret was rotated. */
  readonly silent: string;
}

const mailRecipients = ['on-call@northwind.example', 'platform-leads@northwind.example'];

/** Adds notification channels of Northwind in every state. */
export async function addChannels(
  api: TestApi,
  { owner }: People,
  { organizations, teams, projects }: Tenants,
): Promise<SeededChannels> {
  const make = async (body: object): Promise<string> =>
    required(await owner.post('/admin/notification-channels', body), 201).id;
  const mailed = await make({
    name: 'On call',
    kind: 'email',
    config: { recipients: mailRecipients },
    organization_id: organizations.northwind.id,
    subscriptions: [
      { team_id: teams.platform.id, events: ['run.*', 'drift_monitor.drifted'] },
      { events: ['webhook.disabled', 'instance.expiring'] },
    ],
  });
  const failing = await make({
    name: 'Chat of the platform team',
    kind: 'slack',
    config: { url: unresolved },
    team_id: teams.platform.id,
  });
  const silent = await make({
    name: 'Ticket system',
    kind: 'webhook',
    config: { url: unresolved },
    project_id: projects['network']?.id,
    subscriptions: [],
  });
  required(await owner.post(`/admin/notification-channels/${silent}/rotate`, {}), 200);
  await api.rows(`update notification_channels set host = 'hooks.chat.example' where id = ?`, [failing]);
  for (const address of mailRecipients)
    await leaveMessage(api, { channelId: mailed, medium: 'email', address }, { status: 'sent' });
  await leaveMessage(api, { channelId: failing, medium: 'chat' }, failedTry('the address answered 503'));
  return { mailed, failing, silent };
}

/**
 * Queues a message for a channel, leases it and records how its first try ended, by the functions that workers call. Nothing else may wait at the
 * time, since a lease takes whatever is due.
 */
export async function leaveMessage(
  api: TestApi,
  to: { readonly channelId: string; readonly medium: Medium; readonly address?: string },
  settlement: MessageSettlement,
): Promise<void> {
  const em = api.services.orm.em.fork();
  const content = { purpose: 'notification', kind: 'run.finished', title: 'The run of net succeeded' } as const;
  await queueMessages(em, [{ ...to, content, cause: newId() }]);
  const [message, ...others] = await leaseAll(em, 2);
  if (message?.channelId !== to.channelId || others.length > 0)
    throw new Error('the message of the channel is not the only one that is due');
  await settleMessage(em, message, settlement);
}

const hourMs = 60 * 60_000;

/** What a worker records when the try of a message failed and another one follows. */
export function failedTry(problem: string): MessageSettlement {
  return { status: 'pending', problem, pauseMs: hourMs };
}
