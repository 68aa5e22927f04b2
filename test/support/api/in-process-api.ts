import { rmSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import pino, { type Logger } from 'pino';
import { createMetricsRegistry } from '#api/edge/admin/metrics.ts';
import { Readiness } from '#api/edge/admin/readiness.ts';
import { RowFeed } from '#api/pipeline/long-answers/row-feed.ts';
import { buildServer } from '#api/server.ts';
import type { Services } from '#api/services.ts';
import { ChangeFeed } from '#api/web/live/change-feed.ts';
import type { Config } from '#config';
import { readWatchedAssemblyRuns } from '#domain/assemblies/runs/store.ts';
import { issueApiKey } from '#domain/identity/api-keys/api-keys.ts';
import { KeyUses } from '#domain/identity/api-keys/uses.ts';
import { hashPassword } from '#domain/identity/passwords/passwords.ts';
import { createUser } from '#domain/identity/users/users.ts';
import { readWatchedRuns } from '#domain/runs/lists/watched-runs-store.ts';
import { RefusalLog } from '#domain/shared/commands/refusals.ts';
import { Transactions } from '#domain/shared/commands/transaction.ts';
import { Evaluator } from '#domain/shared/evaluation/evaluator.ts';
import type { OutboxMessage } from '#domain/shared/events/outbox.ts';
import { openInstallation } from '#domain/shared/installation/installation.ts';
import { OutboundHttp } from '#domain/shared/outbound/outbound-http.ts';
import { KeyRing } from '#domain/shared/secrets.ts';
import type { PlatformRole } from '#domain/shared/vocabulary/roles.ts';
import { openDatabase } from '#open-database';
import { LocalSignals } from '#test/support/signals.ts';
import { expectKnownActions } from '../access/audited-actions.ts';
import { createTestConfig } from '../config.ts';
import { borrowDatabase, type LentDatabase } from '../database/kept-database.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
// biome-ignore lint/suspicious/noExplicitAny: tests inspect any body
export type ApiAnswer = { status: number; body: any; headers: Record<string, unknown>; text: string };

/** The API on its own migrated database, without a socket. Messages to the workflow engine are recorded instead of sent. */
export class TestApi {
  readonly app: FastifyInstance;
  readonly services: Services;
  /** The committed messages to the workflow engine. */
  readonly engineMessages: readonly OutboxMessage[];
  readonly #close: () => Promise<void>;
  #made = 0;

  constructor(
    app: FastifyInstance,
    services: Services,
    engineMessages: readonly OutboxMessage[],
    close: () => Promise<void>,
  ) {
    this.app = app;
    this.services = services;
    this.engineMessages = engineMessages;
    this.#close = close;
  }

  /** Adds a user with a platform role and an API key, without memberships. */
  async addUser(role: PlatformRole, name = `${role} ${++this.#made}`): Promise<ApiUser> {
    const em = this.services.orm.em.fork();
    const email = `${name.toLowerCase().replace(/[^a-z0-9]+/g, '-')}-${++this.#made}@example.com`;
    passwordHash ??= hashPassword(testPassword);
    const { principal } = await createUser(em, { email, name, role, passwordHash: await passwordHash });
    const key = { principalId: principal.id, name: 'test', expiresAt: null, issuedBy: principal.id };
    const issued = issueApiKey(em, key);
    await em.flush();
    return new ApiUser(this, { 'x-api-key': issued.key }, { id: principal.id, email });
  }

  /** Signs a user in with the test password or another. */
  async signIn(user: { id: string; email: string }, password = testPassword): Promise<ApiUser> {
    const { status, body, text } = await this.nobody.post('/auth/sessions', { email: user.email, password });
    if (status !== 201) throw new Error(`sign-in answered ${status}: ${text}`);
    return new ApiUser(this, { authorization: `Bearer ${body.token}` }, user);
  }

  /** A client without a credential. */
  get nobody(): ApiUser {
    return new ApiUser(this, {}, { id: '', email: '' });
  }

  /** Queries the database directly. */
  rows<Row extends object>(sql: string, params: unknown[] = []): Promise<Row[]> {
    return this.services.orm.em.fork().execute<Row[]>(sql, params);
  }

  close(): Promise<void> {
    return this.#close();
  }
}

export const testPassword = 'correct horse battery';
let passwordHash: Promise<string> | undefined;

/** Starts the API for one test file. `overrides` are settings. */
export async function startApi(
  overrides: Record<string, string> = {},
  log: Logger = pino({ level: 'silent' }),
): Promise<TestApi> {
  const database = await borrowDatabase(overrides);
  return openApi(createTestConfig(database.url, overrides), log, database);
}

/** Opens the API on a migrated database, and ends the use of that database when it closes. */
export async function openApi(
  config: Config,
  log: Logger,
  { orm, giveBack }: Pick<LentDatabase, 'orm' | 'giveBack'> = openOwn(config),
): Promise<TestApi> {
  const keyRing = new KeyRing(config.secretKeys);
  const engineMessages: OutboxMessage[] = [];
  // Threads of a lower priority than the other tests that run at the time would hardly ever run.
  const evaluator = new Evaluator(undefined, { priority: null });
  // Threads start from it in half the time.
  await evaluator.keepCode();
  const signals = new LocalSignals();
  const services: Services = {
    config,
    orm,
    keyRing,
    log,
    refusals: new RefusalLog(),
    keyUses: new KeyUses(orm, log),
    runFeed: new RowFeed({ orm, log, signals }, readWatchedRuns),
    assemblyRunFeed: new RowFeed({ orm, log, signals }, readWatchedAssemblyRuns),
    changeFeed: new ChangeFeed({ orm, log, signals }),
    evaluator,
    outboundHttp: new OutboundHttp(config.outbound, { connections: null }),
    installation: await openInstallation(orm, keyRing),
    transactions: new Transactions(orm, {
      dispatch: (messages) => engineMessages.push(...messages),
      signal: (topics) => signals.signal(topics),
    }),
  };
  const app = await buildServer(services, { readiness: new Readiness([]), registry: createMetricsRegistry() });
  await app.ready();
  return new TestApi(app, services, engineMessages, async () => {
    await app.close();
    await services.keyUses.settle();
    await services.evaluator.close();
    await services.outboundHttp.close();
    await expectKnownActions(orm);
    await giveBack();
    rmSync(config.dataDir, { recursive: true, force: true });
  });
}

function openOwn(config: Config): Pick<LentDatabase, 'orm' | 'giveBack'> {
  const orm = openDatabase(config);
  return { orm, giveBack: () => orm.close() };
}

/** A client of the API with a credential. Paths are relative to `/api/v1`. */
export class ApiUser {
  readonly id: string;
  readonly email: string;
  readonly api: TestApi;
  /** The headers that hold its credential. */
  readonly credential: Record<string, string>;

  constructor(api: TestApi, headers: Record<string, string>, { id, email }: { id: string; email: string }) {
    this.api = api;
    this.credential = headers;
    this.id = id;
    this.email = email;
  }

  async send(method: Method, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<ApiAnswer> {
    const response = await this.api.app.inject({
      method,
      url: `/api/v1${path}`,
      headers: { ...this.credential, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { payload: JSON.stringify(body) }),
    });
    const text = response.body;
    const isJson = String(response.headers['content-type']).startsWith('application/json');
    const answer = { status: response.statusCode, text, headers: response.headers };
    return { ...answer, body: isJson && text !== '' ? JSON.parse(text) : undefined };
  }

  get(path: string, headers?: Record<string, string>): Promise<ApiAnswer> {
    return this.send('GET', path, undefined, headers);
  }

  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiAnswer> {
    return this.send('POST', path, body, headers);
  }

  put(path: string, body: unknown): Promise<ApiAnswer> {
    return this.send('PUT', path, body);
  }

  patch(path: string, body: unknown): Promise<ApiAnswer> {
    return this.send('PATCH', path, body);
  }

  delete(path: string, headers?: Record<string, string>): Promise<ApiAnswer> {
    return this.send('DELETE', path, undefined, headers);
  }

  /** Creates a resource. @throws Error if the answer is not 201 */
  async make(path: string, body: unknown): Promise<{ id: string } & Record<string, unknown>> {
    const { status, text, body: made } = await this.post(path, body);
    if (status !== 201) throw new Error(`POST ${path} answered ${status}: ${text}`);
    return made;
  }
}
