import { setTimeout as sleep } from 'node:timers/promises';
import type { Em, Orm } from '#database/database.ts';
import { brokenConstraint, isConnectionError, sqlState } from '#database/errors.ts';
import type { Compilable } from '#database/queries.ts';
import { eventSubscriptions } from '#domain/event-subscriptions.ts';
import type { EventTypeName } from '#domain/events.ts';
import { type Principal, systemPrincipal } from '../access/principal.ts';
import { type AuditEntry, insertAuditRecord, type RequestFacts } from '../audit.ts';
import { Unavailable, unknownOutcome } from '../errors.ts';
import { eventOfEntry } from '../events/audited-events.ts';
import type { EventSubscription } from '../events/event-type.ts';
import { insertEvents, isEventNumberConstraint } from '../events/insert-store.ts';
import {
  type EngineMessage,
  engineSubscriber,
  type OutboxEntry,
  type OutboxMessage,
  ownDeliveryMs,
} from '../events/outbox.ts';
import { deliveriesOf, type EventActor, type NewEvent, type PendingEvent, toPendingEvent } from '../events/publish.ts';
import { anyEvent, eventTopic, outboxTopic, subjectTopic } from '../events/topics.ts';
import { type InsertRows, PendingStatements, prepareInsertRows } from './pending-statements.ts';

/** How long a transaction waits, with its locks and its connection, for work that needs no database. */
const patienceMs = 20;

/** The work outside the database is not finished in time. The transaction is rolled back, and tried again once the work is finished. */
class WorkUnfinished extends Unavailable {
  readonly finished: Promise<unknown>;

  constructor(finished: Promise<unknown>) {
    super('what the request depends on keeps changing: try again');
    this.finished = finished;
  }
}

/** The work of one transaction outside the database, by key. All tries of the transaction share it. */
class OutsideWork {
  readonly #started = new Map<string, Promise<unknown>>();

  /** @throws WorkUnfinished if the work takes long; any error of the work */
  async await<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    // Equal keys mean equal work.
    const started = (this.#started.get(key) as Promise<Result> | undefined) ?? work();
    this.#started.set(key, started);
    const timer = Promise.withResolvers<never>();
    const timeout = setTimeout(() => timer.reject(new WorkUnfinished(started)), patienceMs);
    try {
      return await Promise.race([started, timer.promise]);
    } finally {
      clearTimeout(timeout);
    }
  }
}

/** One unit of work that commits as a whole, with its events and the messages that follow from it. */
export interface Transaction {
  readonly em: Em;
  /**
   * Makes the commit wait for a statement that nothing else in the transaction awaits; the commit fails if the statement fails. Await its
   * rows only after the transaction.
   */
  send<Result>(statement: Promise<Result>): Promise<Result>;
  /** Keeps a change that is sent together with the commit. No two such changes may touch the same row. */
  write(statement: Compilable<unknown>): void;
  /**
   * Publishes an event, which is written with the commit and delivered to its subscribers after it. The caller has locked the row of the
   * subject, which orders the subject's events.
   * @throws InvalidEvent if the payload does not fit the schema of its type
   */
  publish<Type extends EventTypeName>(event: NewEvent<Type>): void;
  /** Writes an audit record, and publishes an event for it if no area declares one (`audited-events.ts`). */
  record(id: string, actor: Principal, entry: AuditEntry, request: RequestFacts): void;
  /**
   * Waits for work that needs no database. If it takes long, the transaction is rolled back, so that it holds neither locks nor a
   * connection in the meantime, and tried again when the work is done. The next try finds the result by the same key.
   */
  awaitOutside<Result>(key: string, work: () => Promise<Result>): Promise<Result>;
  /** Sends a message to a workflow or about a schedule after the commit. Each receives its messages in order. */
  notifyEngine(target: string, message: EngineMessage): void;
}

/** How a transaction runs. */
interface TransactionOptions {
  /** The actor of its events; by default the service itself. */
  readonly actor?: EventActor;
}

/** How a process delivers the messages for the engine that it commits. */
export interface MessageDelivery {
  /** Takes the messages of one commit, to deliver them at once. Never waits. */
  readonly dispatch: (messages: OutboxMessage[]) => void;
  /** How long a message that is committed now may wait for its delivery, in milliseconds. */
  readonly expectedWaitMs?: () => number;
  /** Tells this process and the others what was committed. Never waits. */
  readonly signal?: (topics: readonly string[]) => void;
}

const retriedStates = new Set(['40P01', '40001']);
const maxTries = 5;
const service = systemPrincipal('coordinator');

/**
 * Runs every change of the database, in a READ COMMITTED transaction that is tried again after a deadlock or a serialization failure.
 * Messages for the engine are handed to `dispatch` after the commit. If this process dies before it has delivered them, a sweeper delivers
 * them.
 */
export class Transactions {
  readonly #orm: Orm;
  readonly #delivery: MessageDelivery;
  readonly #subscriptions: readonly EventSubscription[];
  readonly #insertRows: InsertRows;

  constructor(orm: Orm, delivery: MessageDelivery, subscriptions: readonly EventSubscription[] = eventSubscriptions) {
    this.#orm = orm;
    this.#delivery = delivery;
    this.#subscriptions = subscriptions;
    this.#insertRows = prepareInsertRows(subscriptions);
  }

  /** @throws `unknownOutcome` if the connection was lost during the commit */
  async run<T>(work: (tx: Transaction) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    const outside = new OutsideWork();
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#try(work, options, outside);
      } catch (error) {
        if (attempt >= maxTries || !mayRetry(error)) throw error;
        if (error instanceof WorkUnfinished) await error.finished;
        else await sleep(Math.random() * 20 * 2 ** attempt);
      }
    }
  }

  async #try<T>(
    work: (tx: Transaction) => Promise<T>,
    { actor = service }: TransactionOptions,
    outside: OutsideWork,
  ): Promise<T> {
    const em = this.#orm.em.fork();
    const pending = new PendingStatements(em, this.#insertRows);
    const events: PendingEvent[] = [];
    const engineMessages: OutboxEntry[] = [];
    await em.begin();
    let result: T;
    try {
      result = await work({
        em,
        send: (statement) => pending.send(statement),
        write: (statement) => pending.write(statement),
        awaitOutside: (key, task) => outside.await(key, task),
        record: (id, by, entry, request) => {
          pending.write(insertAuditRecord(id, by, entry, request));
          const event = eventOfEntry(id, entry, by);
          if (event) events.push(event);
        },
        publish: (event) => void events.push(toPendingEvent(event, actor)),
        notifyEngine: (target, payload) => void engineMessages.push({ subscriber: engineSubscriber, target, payload }),
      });
      await em.flush();
    } catch (error) {
      await em.rollback().catch(() => undefined); // Without the connection, the transaction is gone too.
      throw error;
    }
    if (events.length > 0) pending.write(insertEvents(events));
    const entries = [...engineMessages, ...deliveriesOf(events, this.#subscriptions)];
    const added = pending.finish(entries, this.#dueAt());
    await commit(em, pending.sent);
    const { messages, subscribers } = await added;
    if (engineMessages.length > 0) this.#delivery.dispatch(messages);
    if (events.length > 0) this.#delivery.signal?.(topicsOf(events, subscribers));
    return result;
  }

  #dueAt(): Date {
    return new Date(Date.now() + ownDeliveryMs + (this.#delivery.expectedWaitMs?.() ?? 0));
  }
}

/** What a commit with these events, and with rows of the outbox for these subscribers, is signalled as. */
function topicsOf(events: readonly PendingEvent[], subscribers: readonly string[]): string[] {
  const ofEvents = events.flatMap(({ type, subjectId }) =>
    subjectId === null ? [eventTopic(type)] : [eventTopic(type), subjectTopic(subjectId)],
  );
  return [...new Set([anyEvent, ...ofEvents, ...subscribers.map(outboxTopic)])];
}

/**
 * Whether to try again: after a deadlock, a serialization failure or a clash of event numbers, and after work outside the database that
 * took too long.
 */
function mayRetry(error: unknown): boolean {
  if (error instanceof WorkUnfinished) return true;
  return retriedStates.has(sqlState(error) ?? '') || isEventNumberConstraint(brokenConstraint(error));
}

/** Commits, and waits for every statement that was sent before. If several fail, the first one is the cause of the others. */
async function commit(em: Em, sent: readonly Promise<unknown>[]): Promise<void> {
  const settled = await Promise.allSettled([...sent, em.commit()]);
  const failed = settled.find((result) => result.status === 'rejected');
  if (failed) throw toCommitError(failed.reason);
}

/** If the connection is lost during the commit, the outcome is unknown. */
function toCommitError(error: unknown): unknown {
  if (!isConnectionError(error)) return error;
  return unknownOutcome('the connection to the database was lost while committing, so the outcome is unknown', {
    cause: error,
  });
}
