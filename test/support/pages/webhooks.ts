import { newId } from '#domain/shared/ids.ts';
import type { TestApi } from '../api/in-process-api.ts';
import { required } from './answers.ts';
import type { People } from './people.ts';
import type { Tenants } from './tenants.ts';

/** Webhooks by what they show. */
export interface SeededWebhooks {
  /** Of a team, with deliveries of every status, and a secret that was rotated. */
  readonly chat: string;
  /** Of an organization, whose endpoint takes nothing. */
  readonly failing: string;
  /** Disabled by the service. */
  readonly gone: string;
  /** Disabled by somebody, without deliveries. */
  readonly empty: string;
  /** A delivery of `chat` that failed for good, with the answer of the endpoint. */
  readonly failedDelivery: string;
}

interface Delivery {
  readonly type: string;
  readonly status: 'pending' | 'delivered' | 'failed' | 'withheld';
  readonly attempts: number;
  readonly answer?: { readonly status: number | null; readonly ms: number; readonly text: string | null };
  readonly problem?: string;
}

/** An address that needs no look-up when a webhook is saved. Nothing is sent there: the pages run without workers. */
export const unresolved = 'https://1.1.1.1/hooks';

/** Adds webhooks of Northwind in every state of health. */
export async function addWebhooks(
  api: TestApi,
  { owner }: People,
  { organizations, teams, projects }: Tenants,
): Promise<SeededWebhooks> {
  const make = async (name: string, host: string, of: object, events: string[]): Promise<string> => {
    const body = { name, url: unresolved, events, ...of };
    const { id } = required(await owner.post('/admin/webhooks', body), 201);
    await api.rows('update webhooks set url = ? where id = ?', [`https://${host}/coordinator`, id]);
    return id;
  };
  const team = { team_id: teams.platform.id };
  const organization = { organization_id: organizations.northwind.id };
  const chat = await make('Chat of the platform team', 'chat.northwind.example', team, [
    'run.*',
    'drift_finding.opened',
  ]);
  const failing = await make('Ticket system', 'tickets.northwind.example', organization, ['*']);
  const gone = await make('Old dashboard', 'dashboard.northwind.example', team, ['run.finished']);
  const empty = await make('Cost report', 'costs.northwind.example', { project_id: projects['network']?.id }, ['*']);
  required(await owner.patch(`/admin/webhooks/${empty}`, { enabled: false }), 200);
  required(await owner.post(`/admin/webhooks/${chat}/rotate`, {}), 200);
  await api.rows(`update webhook_queues set failing_since = now() - interval '26 hours' where webhook_id = ?`, [
    failing,
  ]);
  await api.rows(`update webhooks set is_enabled = false, disabled_reason = 'gone' where id = ?`, [gone]);
  const deliveries = await addDeliveries(api, chat, chatDeliveries);
  await addTries(api, deliveries[2] ?? '', teams.platform.id);
  await addDeliveries(api, failing, [unreachable, unreachable]);
  return { chat, failing, gone, empty, failedDelivery: deliveries[2] ?? '' };
}

const taken = { status: 204, ms: 41, text: null };
const chatDeliveries: readonly Delivery[] = [
  { type: 'run.finished', status: 'delivered', attempts: 1, answer: taken },
  { type: 'run.approved', status: 'delivered', attempts: 2, answer: { ...taken, ms: 380 } },
  {
    type: 'run.finished',
    status: 'failed',
    attempts: 10,
    answer: { status: 503, ms: 1204, text: '{"error": "maintenance until Monday"}' },
    problem: 'the endpoint answered 503; only 2xx is a delivery',
  },
  {
    type: 'run.transferred',
    status: 'withheld',
    attempts: 0,
    problem: 'the subject of the event has another owner now, so nothing was sent',
  },
  { type: 'drift_finding.opened', status: 'pending', attempts: 0 },
];
const unreachable: Delivery = {
  type: 'environment.locked',
  status: 'pending',
  attempts: 4,
  answer: { status: null, ms: 15_000, text: null },
  problem: 'the endpoint did not answer within 15 seconds',
};

/** Gives a delivery its last ten tries, and an event of a run of the team as its content. */
async function addTries(api: TestApi, id: string, team: string): Promise<void> {
  const tries = Array.from({ length: 10 }, (_, number) => ({
    at: new Date(Date.now() - (10 - number) ** 3 * 60_000).toISOString(),
    status: number === 0 ? null : 503,
    ms: number === 0 ? 15_000 : 1_100 + number * 13,
    problem:
      number === 0
        ? 'the endpoint did not answer within 15 seconds'
        : 'the endpoint answered 503; only 2xx is a delivery',
  }));
  const [event] = await api.rows<{ id: string; type: string }>(
    `select id, type from domain_events where team_id = ? and type like 'run.%' order by id desc limit 1`,
    [team],
  );
  if (!event) throw new Error('the team has no run whose event could be delivered');
  await api.rows('update webhook_deliveries set tries = ?::jsonb, event_id = ?, event_type = ? where id = ?', [
    JSON.stringify(tries),
    event.id,
    event.type,
    id,
  ]);
}

const none = { status: null, ms: null, text: null };

/** Adds deliveries as workers leave them. Returns their ids. */
export async function addDeliveries(api: TestApi, webhook: string, deliveries: readonly Delivery[]): Promise<string[]> {
  const ids: string[] = [];
  for (const { type, status, attempts, answer = none, problem = null } of deliveries) {
    const [id, event] = [newId(), newId()];
    const message = `msg_${event}_${webhook}`;
    ids.push(id);
    await api.rows(
      `insert into webhook_deliveries (id, created_at, webhook_id, event_id, event_type, message_id, status, attempts, due_at,
         tried_at, answer_status, answer_ms, answer_text, problem)
       values (?, now(), ?, ?, ?, ?, ?, ?, now() + interval '2 hours', case when ?::boolean then now() end, ?, ?, ?, ?)`,
      [
        id,
        webhook,
        event,
        type,
        message,
        status,
        attempts,
        attempts > 0,
        answer.status,
        answer.ms,
        answer.text,
        problem,
      ],
    );
  }
  return ids;
}
