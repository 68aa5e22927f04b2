import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from 'pino';

const channel = 'coordinator_signals';
/** Topics of commits that follow each other within this time leave together. */
const collectMs = 5;
/** PostgreSQL accepts fewer than 8,000 bytes. */
const maxBytes = 7_500;
/** While the connection is lost, more topics than this are dropped. */
const maxWaiting = 10_000;
const reconnectMs = 1_000;
const endWithinMs = 1_000;

interface SignalTimes {
  /** How often an idle connection is tried. */
  readonly checkMs: number;
  /** How long PostgreSQL may take to answer. */
  readonly answerWithinMs: number;
}

const usualTimes: SignalTimes = { checkMs: 30_000, answerWithinMs: 10_000 };

type Listener = () => void;

/**
 * Tells the other processes of the installation what was committed, over one connection of its own with LISTEN and NOTIFY. The transactions
 * that commit do not notify themselves, because PostgreSQL lets such transactions commit only one after another.
 */
export class Signals {
  readonly #databaseUrl: string;
  readonly #log: Pick<Logger, 'warn'>;
  readonly #times: SignalTimes;
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #waiting = new Set<string>();
  readonly #stop = new AbortController();
  /** Names this process, which has heard its own topics already. */
  readonly #sender = randomUUID();
  #client: pg.Client | null = null;
  #connecting: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #check: NodeJS.Timeout | undefined;

  constructor(databaseUrl: string, log: Pick<Logger, 'warn'>, times = usualTimes) {
    this.#times = times;
    this.#databaseUrl = databaseUrl;
    this.#log = log;
  }

  /** Begins to hear the other processes. It goes on to connect in the background if the database cannot be reached. */
  start(): void {
    this.#connecting ??= this.#connect();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#timer);
    await this.#connecting;
    clearInterval(this.#check);
    const client = this.#client;
    this.#client = null;
    if (client === null) return;
    // A server that does not answer must not keep the process.
    await Promise.race([client.end().catch(() => undefined), sleep(endWithinMs, undefined, { ref: false })]);
    giveUp(client);
  }

  /** Tells the listeners of this process at once, and those of the others within some milliseconds. */
  signal(topics: Iterable<string>): void {
    const all = [...topics];
    for (const topic of all) if (this.#waiting.size < maxWaiting) this.#waiting.add(topic);
    if (this.#waiting.size > 0) this.#timer ??= setTimeout(() => this.#send(), collectMs);
    this.signalHere(all);
  }

  signalHere(topics: Iterable<string>): void {
    for (const topic of topics) for (const listener of this.#listeners.get(topic) ?? []) listener();
  }

  on(topics: readonly string[], listener: Listener): () => void {
    for (const topic of topics) {
      const listeners = this.#listeners.get(topic) ?? new Set();
      this.#listeners.set(topic, listeners.add(listener));
    }
    return () => {
      for (const topic of topics) this.#leave(topic, listener);
    };
  }

  #leave(topic: string, listener: Listener): void {
    const listeners = this.#listeners.get(topic);
    listeners?.delete(listener);
    if (listeners?.size === 0) this.#listeners.delete(topic);
  }

  #send(): void {
    this.#timer = undefined;
    if (this.#client === null) return; // They leave once it is connected.
    const payloads = toPayloads(this.#sender, [...this.#waiting]);
    this.#waiting.clear();
    const text = 'select pg_notify($1, payload) from unnest($2::text[]) payload';
    this.#query(this.#client, { name: 'signal', text, values: [channel, payloads] });
  }

  /** Sends a statement. A connection on which that fails, or that gives no answer, is replaced. */
  #query(client: pg.Client, statement: pg.QueryConfig): void {
    client.query(statement).catch((err: unknown) => {
      if (this.#client !== client) return;
      this.#log.warn({ err }, 'could not signal other processes, which look by themselves; connecting again');
      giveUp(client);
      this.#reconnect(client);
    });
  }

  async #connect(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        await this.#listen();
        return;
      } catch (err) {
        this.#log.warn({ err }, 'could not listen to the signals of other processes; trying again');
        await sleep(reconnectMs, undefined, { signal }).catch(() => undefined); // aborted: the loop ends
      }
    }
  }

  async #listen(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#databaseUrl,
      application_name: 'delivery-coordinator signals',
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
      query_timeout: this.#times.answerWithinMs,
    });
    client.on('error', () => undefined); // `end` follows.
    client.on('notification', ({ payload = '' }) => this.#hear(payload));
    try {
      await client.connect();
      await client.query(`listen ${channel}`);
    } catch (error) {
      giveUp(client);
      throw error;
    }
    client.once('end', () => this.#reconnect(client));
    this.#client = client;
    // A connection that vanished without a word would otherwise seem idle.
    this.#check = setInterval(() => this.#query(client, { text: 'select 1' }), this.#times.checkMs);
    if (this.#waiting.size > 0) this.#timer ??= setTimeout(() => this.#send(), 0);
    // Nobody heard what was signalled before.
    this.signalHere([...this.#listeners.keys()]);
  }

  #reconnect(lost: pg.Client): void {
    if (this.#client !== lost || this.#stop.signal.aborted) return;
    this.#client = null;
    clearInterval(this.#check);
    this.#connecting = this.#connect();
  }

  #hear(payload: string): void {
    const [sender, ...topics] = payload.split(' ');
    if (sender !== this.#sender) this.signalHere(topics);
  }
}

/** Drops a connection, whatever the server does. */
function giveUp({ connection }: pg.Client): void {
  connection.stream.destroy();
}

/** Joins topics to as few notifications as PostgreSQL accepts. */
function toPayloads(sender: string, topics: readonly string[]): string[] {
  const payloads: string[] = [];
  let payload = sender;
  for (const topic of topics) {
    if (Buffer.byteLength(payload) + Buffer.byteLength(topic) >= maxBytes) {
      payloads.push(payload);
      payload = sender;
    }
    payload += ` ${topic}`;
  }
  return [...payloads, payload];
}
