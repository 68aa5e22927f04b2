import { sealingKeyOf } from '#domain/audit/chain/seal.ts';
import { sealRecords } from '#domain/audit/chain/sealing.ts';
import type { MessageDeps } from '#domain/message-sending/deliver.ts';
import { media } from '#domain/messages/model.ts';
import { removeOldMessages } from '#domain/messages/queue/settle-store.ts';
import type { EnabledMedia } from '#domain/notifications/creation/drafts.ts';
import { notifiedTypes, notifyOfEvents } from '#domain/notifications/creation/follow.ts';
import { notifyOfUpcomingEnds } from '#domain/notifications/creation/upcoming.ts';
import { removeOldNotifications } from '#domain/notifications/store.ts';
import { removeAbandonedChecks } from '#domain/registry/checks/store.ts';
import { removeOldDebugLogs } from '#domain/runs/debug-logs/debug-logs.ts';
import { scheduledWorks } from '#domain/scheduled-work-kinds.ts';
import { recordMissedTimes } from '#domain/schedules/history/missed-times.ts';
import { readGates } from '#domain/settings/store.ts';
import { eventBatch } from '#domain/shared/events/kept-cursor.ts';
import { engineSubscriber } from '#domain/shared/events/outbox.ts';
import { dueTopic, eventTopic, type SignalSource, sendingTopics, webhookTopics } from '#domain/shared/events/topics.ts';
import { describeClosed } from '#domain/shared/features/gates.ts';
import { disableOverfull, dropOldDeliveries } from '#domain/webhooks/deliveries/backlog.ts';
import type { DeliverDeps } from '#domain/webhooks/deliveries/deliver-queue.ts';
import { fanOut, streamAudit } from '#domain/webhooks/deliveries/fan-out.ts';
import { type KeyUpkeepDeps, keepSigningKeys } from '#domain/workload-identity/signing-keys/rotation.ts';
import { openDatabaseMaintenance } from '#engine/database-maintenance.ts';
import { openEngineSweeper } from '#engine/engine-sweeper.ts';
import { EventDelivery } from '#engine/event-delivery.ts';
import { PeriodicTask, type PeriodicTaskOptions } from '#engine/periodic-task.ts';
import { type DriftRetentionDeps, forgetOldHistory } from './drift-retention.ts';
import { keepUpDrift } from './drift-upkeep.ts';
import { DueWatch } from './due-watch.ts';
import { createEventHandlers, type EventHandlerDeps } from './event-handlers.ts';
import { type ExpiryTaskDeps, expireInstances } from './expiry.ts';
import { type ReconcilerDeps, reconcile } from './reconciler.ts';
import { repairResourceLists } from './resource-list-repair.ts';
import { repairSchedules, type ScheduleRepairDeps } from './schedule-repair.ts';
import { openMessageSender, openWebhookSender } from './sending/senders.ts';
import { reportSilentWorkers } from './worker-supervision.ts';

export interface BackgroundTaskDeps
  extends ReconcilerDeps,
    ExpiryTaskDeps,
    EventHandlerDeps,
    ScheduleRepairDeps,
    KeyUpkeepDeps,
    DriftRetentionDeps,
    MessageDeps,
    DeliverDeps {
  readonly auditRetentionDays: number | null;
  readonly signals: SignalSource;
}

/**
 * Starts the background tasks of a worker. Every worker runs all of them, and several at once do no harm. Work that has a name is done by one
 * worker at a time.
 */
export function startBackgroundTasks(deps: BackgroundTaskDeps): { stop(): Promise<void> } {
  const { log } = deps;
  const handlers = createEventHandlers(deps);
  const shared = [...followWhatHappens(deps), ...repair(deps), ...endWhatIsDue(deps), ...removeOld(deps)];
  const sharedTasks = new Map(shared.map((options) => [options.name, openSharedTask(deps, options)]));
  const work = {
    subscribers: [engineSubscriber, ...Object.keys(handlers)],
    works: shared.map(({ name, intervalMs }) => ({ name, seconds: intervalMs / second })),
    onTaken: (name: string) => sharedTasks.get(name)?.wake(),
  };
  const tasks = [
    openEngineSweeper({ ...deps, client: deps.engine.client }),
    new EventDelivery(deps, handlers),
    openWebhookSender(deps),
    openMessageSender(deps, 'mails'),
    openMessageSender(deps, 'posts'),
    openDatabaseMaintenance(deps),
    // Nothing can be signed before the first key exists.
    new PeriodicTask({ ...keepKeys(deps), log }),
    new DueWatch(deps, work),
  ];
  for (const task of tasks) task.start();
  for (const task of sharedTasks.values()) task.start('later');
  return {
    stop: async () => void (await Promise.all([...tasks, ...sharedTasks.values()].map((task) => task.stop()))),
  };
}

/** Work that one worker at a time does for all. */
interface SharedTask extends Pick<PeriodicTaskOptions, 'failure' | 'run'> {
  readonly intervalMs: number;
  /** Names it among all workers. It never changes. */
  readonly name: string;
  /** What else starts it, and how many milliseconds there are at least between two runs. */
  readonly topics?: readonly string[];
  readonly gapMs?: number;
}

/** Shared work is done when the due watch has taken it, and when one of its topics was signalled. */
function openSharedTask({ log, signals }: BackgroundTaskDeps, { topics = [], gapMs = 0, failure, run }: SharedTask) {
  return new PeriodicTask({ intervalMs: null, log, failure, run, wake: { signals, topics, gapMs } });
}

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Creates the first key that signs the tokens of runs, and its successors in time. A pass with nothing to do is two short queries. */
function keepKeys(deps: BackgroundTaskDeps): Omit<PeriodicTaskOptions, 'log'> {
  return {
    intervalMs: minute,
    failure: 'could not renew or remove the keys that sign the tokens of runs',
    run: async () => {
      const id = await keepSigningKeys(deps);
      if (id !== null) deps.log.info({ signing_key_id: id }, 'published a new key for signing the tokens of runs');
    },
  };
}

/** Each of these follows events or audit records: soon after them, and in any case before its cursor is far behind. */
function followWhatHappens({ orm, mail, log, bindingKey, signals }: BackgroundTaskDeps): SharedTask[] {
  const sealingKey = sealingKeyOf(bindingKey);
  return [
    {
      name: 'webhook deliveries of events',
      intervalMs: minute,
      topics: [webhookTopics.events],
      failure: 'could not make deliveries for webhooks',
      run: async () => {
        const events = await fanOut(orm);
        if (events) signals.signal([sendingTopics.webhooks]);
        return againIf(events === eventBatch);
      },
    },
    {
      name: 'webhook deliveries of audit records',
      intervalMs: minute,
      topics: [webhookTopics.audit],
      failure: 'could not make deliveries of audit records for webhooks',
      run: async () => againIf((await streamAudit(orm)) === 'more'),
    },
    {
      name: 'notifications of events',
      intervalMs: 30 * second,
      topics: notifiedTypes.map(eventTopic),
      gapMs: second,
      failure: 'could not notify users of new events',
      run: async () => {
        const events = await notifyOfEvents(orm, () => readEnabledMedia({ orm, mail }), log);
        if (events) signals.signalHere([dueTopic]);
        return againIf(events === eventBatch);
      },
    },
    {
      name: 'seal of the audit',
      intervalMs: 30 * second,
      failure: 'could not seal audit records',
      run: () => sealRecords(orm, sealingKey),
    },
  ];
}

function againIf(hasMore: boolean): 'again' | undefined {
  return hasMore ? 'again' : undefined;
}

/** How notifications are delivered now. While they are turned off, they are created, but none leaves the service. */
async function readEnabledMedia({ orm, mail }: Pick<BackgroundTaskDeps, 'orm' | 'mail'>): Promise<EnabledMedia> {
  if (describeClosed('notifications', await readGates(orm.em.fork())) !== null) return new Set();
  return new Set(media.filter((medium) => medium !== 'email' || mail !== null));
}

/** Each of these compares what is stored with what should be, and repairs it. */
function repair(deps: BackgroundTaskDeps): SharedTask[] {
  return [
    {
      name: 'reconciliation with the engine',
      intervalMs: minute,
      failure: 'could not compare open runs and other work with the workflows of the engine',
      run: () => reconcile(deps),
    },
    {
      name: 'repair of schedules',
      intervalMs: minute,
      failure: 'could not compare the schedules with the engine',
      run: () => repairSchedules(deps, scheduledWorks),
    },
    {
      name: 'missed times of schedules',
      intervalMs: minute,
      failure: 'could not look for missed times of schedules',
      run: () => recordMissedTimes({ ...deps, em: deps.orm.em.fork() }),
    },
    {
      name: 'repair of resource lists',
      intervalMs: minute,
      failure: 'could not look for instances whose resources are not listed',
      run: () => repairResourceLists(deps),
    },
    {
      name: 'supervision of workers',
      intervalMs: 10 * second,
      failure: 'could not look for workers whose heartbeats have stopped',
      run: () => reportSilentWorkers(deps),
    },
  ];
}

/** Each of these looks for what its time or a limit ends. */
function endWhatIsDue(deps: BackgroundTaskDeps): SharedTask[] {
  const { orm, log } = deps;
  return [
    {
      name: 'expiry of instances',
      intervalMs: 30 * second,
      failure: "could not look for instances that have outlived their environment's time to live",
      run: () => expireInstances(deps),
    },
    {
      name: 'upkeep of drift',
      intervalMs: 30 * second,
      failure: 'could not end expired suppressions or create inherited monitors',
      run: () => keepUpDrift(deps),
    },
    {
      name: 'backlogs of webhooks',
      intervalMs: minute,
      failure: 'could not look for webhooks whose backlog exceeds the limit',
      run: async () => {
        const webhooks = await disableOverfull(deps, orm.em.fork());
        if (webhooks.length > 0) log.warn({ webhooks }, 'disabled webhooks whose backlog exceeds the limit');
      },
    },
    {
      name: 'upcoming ends',
      intervalMs: 10 * minute,
      failure: 'could not notify owners of upcoming expiries, or could not remove old notifications',
      run: async () => {
        await notifyOfUpcomingEnds(orm.em.fork(), await readEnabledMedia(deps), log);
        return againIf(await removeOldNotifications(orm.em.fork()));
      },
    },
  ];
}

/** Each of these removes what is out of retention. */
function removeOld(deps: BackgroundTaskDeps): SharedTask[] {
  const { orm, log } = deps;
  return [
    {
      name: 'retention of drift',
      intervalMs: 10 * minute,
      failure: 'could not remove drift history that is out of retention',
      run: () => forgetOldHistory(deps),
    },
    {
      name: 'retention of deliveries',
      intervalMs: hour,
      failure: 'could not remove old deliveries of webhooks',
      run: async () => {
        const months = await dropOldDeliveries(orm.em.fork());
        if (months.length > 0) log.info({ months }, 'removed old deliveries of webhooks');
      },
    },
    {
      name: 'retention of messages',
      intervalMs: hour,
      failure: 'could not remove old messages',
      run: async () => againIf(await removeOldMessages(orm.em.fork())),
    },
    {
      name: 'retention of debug logs',
      intervalMs: hour,
      failure: 'could not remove old debug logs',
      run: async () => againIf(await removeOldDebugLogs(orm.em.fork())),
    },
    {
      name: 'abandoned checks',
      intervalMs: 10 * minute,
      failure: 'could not remove checks of template versions that no request waits for',
      run: () => removeAbandonedChecks(orm.em.fork()),
    },
  ];
}
