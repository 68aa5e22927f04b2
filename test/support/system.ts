import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { inject } from 'vitest';
import { runApi } from '#api/main.ts';
import type { Config } from '#config';
import { createFirstAdministrator } from '#domain/identity/bootstrap.ts';
import { runWorker } from '#worker/main.ts';
import { createTestConfig } from './config.ts';
import { createDatabase, type TestDatabase } from './database.ts';

// biome-ignore lint/suspicious/noExplicitAny: an answer is whatever came, and the test looks into it
export type Answer = { status: number; body: any; headers: Headers; text: string };

/** The whole service as its users meet it: HTTP in front, a worker, its own database and its own engine namespace. */
export interface System {
  readonly config: Config;
  readonly url: string;
  readonly adminUrl: string;
  readonly administrator: Caller;
  readonly database: TestDatabase;
  stopWorker(): Promise<void>;
  startWorker(): Promise<void>;
  close(): Promise<void>;
}

const administrator = { email: 'root@example.com', name: 'Root', password: 'correct horse battery' };

export async function startSystem(overrides: Record<string, string> = {}): Promise<System> {
  const [database, namespace] = await Promise.all([createDatabase(), createNamespace()]);
  const config = createTestConfig(database.url, { TEMPORAL_NAMESPACE: namespace, ...overrides });
  await createFirstAdministrator(config, administrator);
  const api = await runApi(config);
  let worker: Awaited<ReturnType<typeof runWorker>> | undefined = await runWorker(config);
  const stopWorker = async () => {
    await worker?.close();
    worker = undefined;
  };
  return {
    ...{ config, url: api.url, adminUrl: api.adminUrl, database, stopWorker },
    administrator: await Caller.signIn(api.url, administrator.email, administrator.password),
    startWorker: async () => {
      worker = await runWorker(config);
    },
    close: async () => {
      await stopWorker();
      await api.close();
      await database.drop();
      rmSync(config.dataDir, { recursive: true, force: true });
    },
  };
}

/** Somebody with a credential. */
export class Caller {
  readonly #url: string;
  readonly #headers: Record<string, string>;

  constructor(url: string, headers: Record<string, string>) {
    this.#url = url;
    this.#headers = headers;
  }

  static async signIn(url: string, email: string, password: string): Promise<Caller> {
    const answer = await new Caller(url, {}).send('POST', '/auth/sessions', { email, password });
    if (answer.status !== 201) throw new Error(`signing in failed: ${answer.text}`);
    return new Caller(url, { authorization: `Bearer ${answer.body.token}` });
  }

  async send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const response = await fetch(`${this.#url}/api/v1${path}`, {
      method,
      headers: { ...this.#headers, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    return { status: response.status, headers: response.headers, text, body: isJson && text ? JSON.parse(text) : undefined };
  }

  get(path: string, headers?: Record<string, string>): Promise<Answer> {
    return this.send('GET', path, undefined, headers);
  }

  post(path: string, body: unknown = {}, headers?: Record<string, string>): Promise<Answer> {
    return this.send('POST', path, body, headers);
  }

  /** The run, once its status is one of those; fails with its story where that takes too long. */
  async awaitRun(id: string, statuses: string[], withinMs = 40_000) {
    const deadline = Date.now() + withinMs;
    for (;;) {
      const { body } = await this.get(`/runs/${id}`);
      if (statuses.includes(body.status)) return body;
      if (Date.now() > deadline) {
        const { body: story } = await this.get(`/runs/${id}/events`);
        throw new Error(`run ${id} is ${JSON.stringify(body)} after ${withinMs} ms: ${JSON.stringify(story)}`);
      }
      await sleep(50);
    }
  }
}

export const ended = ['succeeded', 'failed', 'canceled', 'timed_out'];

async function createNamespace(): Promise<string> {
  const namespace = `test-${randomUUID()}`;
  const connection = await Connection.connect({ address: inject('temporalAddress') });
  try {
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
    });
    await untilUsable(connection, namespace);
  } finally {
    await connection.close();
  }
  return namespace;
}

/** The server learns of a new namespace a little later than it answers for having made it. */
async function untilUsable(connection: Connection, namespace: string): Promise<void> {
  for (;;) {
    try {
      await connection.workflowService.listOpenWorkflowExecutions({ namespace });
      return;
    } catch {
      await sleep(100);
    }
  }
}
