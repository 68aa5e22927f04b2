import { setTimeout as sleep } from 'node:timers/promises';
import { backlogLimits } from '#domain/webhooks/deliveries/backlog.ts';
import { readUntil } from '#test/support/read-until.ts';
import { makePlace } from './harness/assembly-place.ts';
import type { Installation } from './harness/installation.ts';
import { openRandom } from './harness/random.ts';
import type { ServiceProcess } from './harness/service-process.ts';
import { openWebhookReceiver, type WebhookReceiver } from './harness/webhook-receiver.ts';

export interface WebhooksOptions {
  readonly endpoints: number;
  /** Half of them are published in peace, the others while processes are killed. */
  readonly events: number;
  /** Events per second. */
  readonly rate: number;
  readonly seed: number;
}

export interface WebhooksReport {
  readonly endpoints: number;
  readonly events: number;
  /** What was reached in peace: events per second, and milliseconds from the commit of an event to its receipt. */
  readonly inPeace: { readonly rate: number; readonly p50: number; readonly p95: number; readonly p99: number };
  readonly maxRequestsOfHangingEndpoint: number;
  readonly kills: number;
  /** Messages that came more than once. */
  readonly repeated: number;
  readonly secondsUntilAllWereReceived: number;
}

const largestP95Ms = 2_000;
/** No endpoint gets more requests at the same time. */
const maxRequestsAtOnce = 4;
/** A message of a killed worker is sent again when its lease of 60 s has ended, or by the second try. */
const receivedWithinMs = 180_000;
const senders = 24;

/** A project, and the endpoint that gets its events. */
interface Pair {
  readonly projectId: string;
  readonly endpoint: string;
}

/**
 * Sends events to many endpoints, each of which hears one project, while another endpoint that hears all of them hangs. Then workers and
 * APIs are killed meanwhile. Each endpoint must receive each event of its project, under one id.
 */
export async function disruptWebhooks(installation: Installation, options: WebhooksOptions): Promise<WebhooksReport> {
  const receiver = await openWebhookReceiver();
  try {
    const { pairs, hangingId } = await addEndpoints(installation, receiver, options.endpoints);
    const half = Math.ceil(options.events / 2);
    const seconds = await publish(installation, pairs, { from: 0, to: half, rate: options.rate });
    await awaitReceipts(installation, receiver, pairs);
    const { p50, p95, p99 } = await measureDelays(installation, receiver, pairs);
    if (p95 > largestP95Ms) installation.violations.push(`95 % of the events were received within ${p95} ms only`);
    const maxRequestsOfHangingEndpoint = receiver.maxHanging;
    if (maxRequestsOfHangingEndpoint > maxRequestsAtOnce)
      installation.violations.push(`the endpoint that hangs got ${maxRequestsOfHangingEndpoint} requests at once`);

    const killing = killAtRandom(installation, options.seed);
    await publish(installation, pairs, { from: half, to: options.events, rate: options.rate });
    const kills = await killing.stop();
    const secondsUntilAllWereReceived = await awaitReceipts(installation, receiver, pairs);
    await check(installation, { receiver, pairs, hangingId, events: options.events });
    const repeated = pairs
      .flatMap(({ endpoint }) => [...receiver.receiptsOf(endpoint).values()])
      .filter(({ count }) => count > 1).length;
    return {
      endpoints: options.endpoints,
      events: options.events,
      inPeace: { rate: Math.round(half / seconds), p50, p95, p99 },
      maxRequestsOfHangingEndpoint,
      kills,
      repeated,
      secondsUntilAllWereReceived,
    };
  } finally {
    await receiver.close();
  }
}

async function addEndpoints(installation: Installation, receiver: WebhookReceiver, count: number) {
  const { requester } = installation;
  const { teamId } = await makePlace(installation);
  const addHook = (owner: object, url: string): Promise<{ id: string }> =>
    requester.call('POST', '/admin/webhooks', { ...owner, name: 'Hook', url, events: ['project.updated'] });
  const hanging = await addHook({ team_id: teamId }, receiver.hangingUrl);
  const pairs: Pair[] = [];
  await inParallel(count, async (number) => {
    const { id: projectId } = await requester.call('POST', '/projects', { team_id: teamId, name: `Project ${number}` });
    const endpoint = String(number);
    await addHook({ project_id: projectId }, receiver.urlOf(endpoint));
    pairs.push({ projectId, endpoint });
  });
  return { pairs, hangingId: hanging.id };
}

/** Renames the projects in turn. A request is repeated until an API answers it. */
async function publish(
  { requester }: Installation,
  pairs: readonly Pair[],
  { from, to, rate }: { from: number; to: number; rate: number },
): Promise<number> {
  const startedAt = performance.now();
  await inParallel(to - from, async (number) => {
    await sleep(Math.max(0, startedAt + (number * 1000) / rate - performance.now()));
    const { projectId } = pairs[(from + number) % pairs.length]!;
    await requester.call('PATCH', `/projects/${projectId}`, { name: `Name ${from + number}` });
  });
  return (performance.now() - startedAt) / 1000;
}

/** Does something `count` times, several at once. */
async function inParallel(count: number, act: (number: number) => Promise<void>): Promise<void> {
  let next = 0;
  const actOnAll = async () => {
    for (let number = next++; number < count; number = next++) await act(number);
  };
  await Promise.all(Array.from({ length: senders }, actOnAll));
}

/** Kills workers and APIs, one of each at a time, at random moments, and starts them again a moment later. */
function killAtRandom({ workers, apis }: Installation, seed: number): { stop(): Promise<number> } {
  let kills = 0;
  let isOver = false;
  const killSome = async (processes: readonly ServiceProcess[], purpose: string) => {
    const random = openRandom(seed, purpose);
    while (!isOver) {
      await sleep(random.between(200, 3_000));
      const victim = random.pick(processes);
      await victim.kill('SIGKILL');
      kills += 1;
      await sleep(random.between(0, 1_500));
      await victim.start();
    }
  };
  const killing = Promise.all([killSome(workers, 'kills of workers'), killSome(apis, 'kills of APIs')]);
  return {
    stop: async () => {
      isOver = true;
      await killing;
      return kills;
    },
  };
}

/** What each event's project and the time of its commit are, in Unix time in milliseconds. */
const eventsSql = `
  select id::text, project_id::text as "projectId", sequence as ordinal,
         extract(epoch from pg_xact_commit_timestamp(transaction_id::xid))::float8 * 1000 as "committedAt"
    from domain_events where type = 'project.updated'`;

interface CommittedEvent {
  id: string;
  projectId: string;
  ordinal: number;
  committedAt: number;
}

const endpointsByProject = (pairs: readonly Pair[]) =>
  new Map(pairs.map(({ projectId, endpoint }) => [projectId, endpoint]));

/** @returns after how many seconds each event had been received by the endpoint of its project */
async function awaitReceipts(
  { query, violations }: Installation,
  receiver: WebhookReceiver,
  pairs: readonly Pair[],
): Promise<number> {
  const startedAt = Date.now();
  const endpoints = endpointsByProject(pairs);
  const events = await query<CommittedEvent>(eventsSql);
  const isMissing = ({ id, projectId }: CommittedEvent) => !receiver.receiptsOf(endpoints.get(projectId) ?? '').has(id);
  const findMissing = async () => events.filter(isMissing);
  const missing = await readUntil(findMissing, ({ length }) => length === 0, receivedWithinMs);
  if (missing.length > 0)
    violations.push(`${missing.length} of ${events.length} events were lost, such as ${missing[0]?.id}`);
  return Math.round((Date.now() - startedAt) / 1000);
}

async function measureDelays({ query }: Installation, receiver: WebhookReceiver, pairs: readonly Pair[]) {
  const endpoints = endpointsByProject(pairs);
  const delays = (await query<CommittedEvent>(eventsSql))
    .flatMap(({ id, projectId, committedAt }) => {
      const receipt = receiver.receiptsOf(endpoints.get(projectId) ?? '').get(id);
      return receipt ? [receipt.firstAt - committedAt] : [];
    })
    .sort((one, other) => one - other);
  const percentile = (part: number) => Math.round(delays[Math.floor(delays.length * part)] ?? Number.NaN);
  return { p50: percentile(0.5), p95: percentile(0.95), p99: percentile(0.99) };
}

interface Expected {
  readonly receiver: WebhookReceiver;
  readonly pairs: readonly Pair[];
  readonly hangingId: string;
  readonly events: number;
}

async function check({ query, violations }: Installation, { receiver, pairs, hangingId, events }: Expected) {
  violations.push(...receiver.contradictions);
  const published = await query<CommittedEvent>(eventsSql);
  const [audited] = await query<{ records: number; names: number }>(
    // A command that was repeated with another key after an unknown outcome may have changed nothing, and such a command leaves no event.
    `select count(*) filter (where before->>'name' is distinct from after->>'name')::int as records,
            count(distinct after->>'name')::int as names from audit_records
      where action = 'project.updated' and outcome = 'committed'`,
  );
  if (audited?.names !== events || audited.records !== published.length)
    violations.push(
      `${events} names were given by ${audited?.records} commands, which left ${published.length} events`,
    );
  const ordinals = new Map(published.map(({ id, ordinal }) => [id, ordinal]));
  const foreign = pairs.flatMap(({ endpoint }) =>
    [...receiver.receiptsOf(endpoint)].filter(([id, { ordinal }]) => ordinals.get(id) !== ordinal),
  );
  if (foreign.length > 0) violations.push(`${foreign.length} messages had an event or an ordinal that does not exist`);
  violations.push(...(await checkHanging(query, hangingId)));
}

/**
 * Everything still waits for the endpoint that hangs, unless so much waits that the service has disabled its webhook. Then everything waits that was
 * committed a minute before that: what is published shortly before may be distributed when the webhook hears nothing any more.
 */
async function checkHanging(query: Installation['query'], webhookId: string): Promise<string[]> {
  const [found] = await query<{ waiting: number; missing: number; reason: string | null; isEnabled: boolean }>(
    `with hanging as (
       select w.id, w.is_enabled, w.disabled_reason,
              (select max(at) from audit_records
                where action = 'webhook.disabled' and resource_id = w.id::text) as disabled_at
         from webhooks w where w.id = $1)
     select h.disabled_reason as reason, h.is_enabled as "isEnabled",
            (select count(*)::int from webhook_deliveries d where d.webhook_id = h.id and d.status = 'pending') as waiting,
            (select count(*)::int from domain_events e
              where e.type = 'project.updated'
                and (h.disabled_at is null
                  or pg_xact_commit_timestamp(e.transaction_id::xid) < h.disabled_at - interval '1 minute')
                and not exists (select from webhook_deliveries d
                                 where d.webhook_id = h.id and d.event_id = e.id and d.status = 'pending')) as missing
       from hanging h`,
    [webhookId],
  );
  if (!found) return ['the webhook of the endpoint that hangs is gone'];
  const { waiting, missing, reason, isEnabled } = found;
  const isOverfull = reason === 'behind' && waiting > backlogLimits.failing;
  return [
    ...(missing > 0 ? [`${missing} events no longer wait for the endpoint that hangs`] : []),
    ...(isEnabled || isOverfull
      ? []
      : [`the webhook that hangs was disabled (${reason}) while ${waiting} events wait`]),
  ];
}
