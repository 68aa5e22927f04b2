import { readUntil } from '../read-until.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests inspect any body
export type Answer = { status: number; body: any; headers: Headers; text: string };

/** A client of the API with a credential. Paths are relative to `/api/v1`. */
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
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson && text ? JSON.parse(text) : undefined,
    };
  }

  get(path: string, headers?: Record<string, string>): Promise<Answer> {
    return this.send('GET', path, undefined, headers);
  }

  post(path: string, body: unknown = {}, headers?: Record<string, string>): Promise<Answer> {
    return this.send('POST', path, body, headers);
  }

  /** Opens an event stream that resumes after the last event id. */
  stream(path: string, lastEventId?: string): Promise<Response> {
    const headers = {
      ...this.#headers,
      accept: 'text/event-stream',
      ...(lastEventId && { 'last-event-id': lastEventId }),
    };
    return fetch(`${this.#url}/api/v1${path}`, { headers });
  }

  /** Waits until the run has one of the statuses. @throws with the run's events if that takes too long */
  async awaitRun(id: string, statuses: string[], withinMs = 100_000) {
    const read = () => this.get(`/runs/${id}`);
    const { body } = await readUntil(read, (answer) => statuses.includes(answer.body.status), withinMs);
    if (statuses.includes(body.status)) return body;
    const { text } = await this.get(`/runs/${id}/events`);
    throw new Error(`run ${id} is ${JSON.stringify(body)} after ${withinMs} ms: ${text}`);
  }

  /** Waits until the log of the run contains a text. Returns the log. @throws with the log if that takes too long */
  async awaitLog(id: string, wanted: string, withinMs = 100_000): Promise<string> {
    const read = () => this.get(`/runs/${id}/logs`, { accept: 'text/plain' });
    const { text } = await readUntil(read, (answer) => answer.text.includes(wanted), withinMs);
    if (text.includes(wanted)) return text;
    throw new Error(`the log of run ${id} does not contain "${wanted}" after ${withinMs} ms: ${text}`);
  }
}

export const ended = ['succeeded', 'failed', 'canceled', 'timed_out'];
