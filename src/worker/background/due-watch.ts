import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import { addSharedWork, type DueWork, findDueWork, type SharedWork } from '#domain/due-work.ts';
import {
  anyEvent,
  dueTopic,
  outboxTopic,
  type SignalSource,
  sendingTopics,
  webhookTopics,
} from '#domain/shared/events/topics.ts';
import { PeriodicTask } from '#engine/periodic-task.ts';

const intervalMs = 5_000;
/** While events are committed one after another, it looks this often. */
const gapMs = 500;
/** What is due and was not taken, because its endpoint or its destination rests, is looked at again after this time. */
const restingMs = 1_000;

/** What a worker can do. */
export interface WorkOfWorker {
  readonly subscribers: readonly string[];
  readonly works: readonly SharedWork[];
  /** Called with the name of shared work that this worker has to do. */
  readonly onTaken: (name: string) => void;
}

export interface DueWatchDeps {
  readonly orm: Orm;
  readonly log: Logger;
  readonly signals: SignalSource;
}

/**
 * Asks the database, by one statement for all kinds of background work, what there is to do, and wakes the tasks that do it. It looks when
 * events were committed, when something is due, and every five seconds.
 */
export class DueWatch {
  readonly #deps: DueWatchDeps;
  readonly #work: WorkOfWorker;
  readonly #task: PeriodicTask;
  #timer: NodeJS.Timeout | undefined;
  #hasAdded = false;

  constructor(deps: DueWatchDeps, work: WorkOfWorker) {
    this.#deps = deps;
    this.#work = work;
    this.#task = new PeriodicTask({
      intervalMs,
      log: deps.log,
      failure: 'could not look for work that is due',
      run: () => this.#look(),
      wake: { signals: deps.signals, topics: [anyEvent, dueTopic], gapMs },
    });
  }

  start(): void {
    this.#task.start();
  }

  async stop(): Promise<void> {
    await this.#task.stop();
    clearTimeout(this.#timer);
  }

  async #look(): Promise<void> {
    const { orm, signals } = this.#deps;
    clearTimeout(this.#timer);
    if (!this.#hasAdded) await addSharedWork(orm.em.fork(), this.#work.works);
    this.#hasAdded = true;
    const due = await findDueWork(orm.em.fork(), this.#work);
    signals.signalHere(topicsOf(due));
    due.taken.forEach(this.#work.onTaken);
    const next = Math.min(...timesOf(due).map((ms) => (ms > 0 ? ms : restingMs)));
    if (next < intervalMs) this.#timer = setTimeout(() => this.#task.wake(), next);
  }
}

/** When something is due next, in milliseconds from now. */
function timesOf({ outbox, deliveriesInMs, hasMessages }: DueWork): number[] {
  const others = [deliveriesInMs, hasMessages ? 0 : null].filter((ms) => ms !== null);
  return [...Object.values(outbox), ...others];
}

function topicsOf({ outbox, deliveriesInMs, hasMessages, hearsEvents, hearsAudit }: DueWork): string[] {
  const dueSubscribers = Object.entries(outbox).flatMap(([subscriber, ms]) => (ms <= 0 ? [subscriber] : []));
  return [
    ...dueSubscribers.map(outboxTopic),
    ...(deliveriesInMs !== null && deliveriesInMs <= 0 ? [sendingTopics.webhooks] : []),
    ...(hasMessages ? [sendingTopics.messages] : []),
    ...(hearsEvents ? [webhookTopics.events] : []),
    ...(hearsAudit ? [webhookTopics.audit] : []),
  ];
}
