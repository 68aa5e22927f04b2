import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';

const Session = z.object({ token: z.string() });
const Created = z.object({ id: z.string() });
const Run = z.object({
  id: z.string(),
  instance_id: z.string(),
  status: z.string(),
  status_reason: z.string().nullish(),
  outputs: z.record(z.string(), z.object({ value: z.unknown() })).nullish(),
});
const Progress = z.object({ status: z.string().optional(), state: z.string().optional() });
const RunEvents = z.object({
  events: z.array(z.object({ sequence: z.number(), type: z.string(), data: z.record(z.string(), z.unknown()) })),
});
const Problem = z.object({ error: z.string() });

export type SampleRun = z.output<typeof Run>;
export type SampleRunEvent = z.output<typeof RunEvents>['events'][number];

const terminal = ['succeeded', 'failed', 'canceled', 'timed_out'];
const pollEveryMs = 200;

/** A client of the service's HTTP API with the calls that the sample needs. */
export class SampleClient {
  readonly token: string;
  readonly #url: string;

  constructor(url: string, token: string) {
    this.#url = url;
    this.token = token;
  }

  static async signIn(url: string, email: string, password: string): Promise<SampleClient> {
    const client = new SampleClient(url, '');
    const { token } = Session.parse(await client.#call('POST', '/auth/sessions', { email, password }));
    return new SampleClient(url, token);
  }

  /** Creates a resource. @returns its id */
  async create(path: string, body?: object): Promise<string> {
    return Created.parse(await this.#call('POST', path, body)).id;
  }

  /** Publishes a version of a template or of an assembly. */
  async publish(path: string, body: object): Promise<void> {
    await this.#call('POST', path, body);
  }

  /** Replaces a resource. */
  async replace(path: string, body: object): Promise<void> {
    await this.#call('PUT', path, body);
  }

  /** Polls a resource until its status or state is one of these. @throws Error if that takes too long */
  async awaitStatus(path: string, statuses: readonly string[], withinMs: number): Promise<{ status: string }> {
    for (const deadline = Date.now() + withinMs; Date.now() < deadline; await delay(pollEveryMs)) {
      const { status, state = '' } = Progress.parse(await this.#call('GET', path));
      if (statuses.includes(status ?? state)) return { status: status ?? state };
    }
    throw new Error(`${path} had none of the statuses ${statuses.join(', ')} within ${withinMs / 1000} seconds`);
  }

  /** Polls a run until it ends, and calls back for each of its events. @throws Error if the run takes too long */
  async follow(id: string, onEvent: (event: SampleRunEvent) => void, withinMs: number): Promise<SampleRun> {
    let lastSequence = 0;
    for (const deadline = Date.now() + withinMs; Date.now() < deadline; await delay(pollEveryMs)) {
      const run = Run.parse(await this.#call('GET', `/runs/${id}`));
      const { events } = RunEvents.parse(await this.#call('GET', `/runs/${id}/events`));
      const fresh = events.filter(({ sequence }) => sequence > lastSequence).sort((a, b) => a.sequence - b.sequence);
      for (const event of fresh) onEvent(event);
      lastSequence = fresh.at(-1)?.sequence ?? lastSequence;
      if (terminal.includes(run.status)) return run;
    }
    throw new Error(`the sample run ${id} did not end within ${withinMs / 1000} seconds`);
  }

  async #call(method: 'GET' | 'POST' | 'PUT', path: string, body?: object): Promise<unknown> {
    const response = await fetch(`${this.#url}/api/v1${path}`, {
      method,
      headers: {
        'user-agent': 'first-start-of-the-service',
        ...(this.token && { authorization: `Bearer ${this.token}` }),
        ...(method === 'POST' && { 'idempotency-key': randomUUID() }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000),
    });
    const answer: unknown = await response.json();
    if (response.ok) return answer;
    const problem = Problem.safeParse(answer);
    throw new Error(`${method} ${path} answered ${response.status}${problem.success ? `: ${problem.data.error}` : ''}`);
  }
}
