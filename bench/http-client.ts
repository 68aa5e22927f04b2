import { Pool } from 'undici';

// biome-ignore lint/suspicious/noExplicitAny: an answer is whatever came, and the measure looks into it
export type Answer = { status: number; body: any };

/** Whoever calls the service: connections that are kept, one credential, answers read whole. */
export class HttpClient {
  readonly #pool: Pool;
  readonly #headers: Record<string, string>;

  constructor(url: string, headers: Record<string, string>, connections = 64) {
    this.#pool = new Pool(url, { connections, pipelining: 1, headersTimeout: 120_000, bodyTimeout: 120_000 });
    this.#headers = headers;
  }

  async send(
    method: 'GET' | 'POST',
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const response = await this.#pool.request({
      method,
      path: `/api/v1${path}`,
      headers: { ...this.#headers, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.body.text();
    return { status: response.statusCode, body: text ? JSON.parse(text) : undefined };
  }

  /** The body of an answer that must be a success. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  async call(method: 'GET' | 'POST', path: string, body?: unknown): Promise<any> {
    const answer = await this.send(method, path, body);
    if (answer.status < 300) return answer.body;
    throw new Error(`${method} ${path} was answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }
}
