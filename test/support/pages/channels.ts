import { newId } from '#domain/shared/ids.ts';
import type { TestApi } from '../api/in-process-api.ts';
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
    config: { recipients: ['on-call@northwind.example', 'platform-leads@northwind.example'] },
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
  await addMessage(api, mailed, 'sent', null);
  await addMessage(api, failing, 'pending', 'the address answered 503');
  return { mailed, failing, silent };
}

/** Adds a message of a channel as workers leave it. */
export async function addMessage(
  api: TestApi,
  channel: string,
  status: 'sent' | 'pending',
  problem: string | null,
): Promise<void> {
  const content = JSON.stringify({ purpose: 'notification', kind: 'run.finished', title: 'The run of net succeeded' });
  await api.rows(
    `insert into outgoing_messages (id, medium, channel_id, destination, cause, content, status, attempts, due_at, problem, created_at, settled_at)
     values (?, 'chat', ?, ?, 'page', ?::jsonb, ?, 1, now() + interval '1 hour', ?, now(), case when ? = 'sent' then now() end)`,
    [newId(), channel, `channel:${channel}`, content, status, problem, status],
  );
}
