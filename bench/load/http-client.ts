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

  /** Reads a long answer without keeping it; answers how many lines it had, which must be as many as it says that it has. */
  async countLines(path: string, trailer: string): Promise<number> {
    const { statusCode, body, trailers } = await this.#pool.request({
      method: 'GET',
      path: `/api/v1${path}`,
      headers: this.#headers,
    });
    let lines = 0;
    for await (const chunk of body) {
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines += 1;
    }
    if (statusCode === 200 && Number(trailers[trailer]) === lines) return lines;
    throw new Error(`${path} was answered ${statusCode} with ${lines} lines, and said ${trailers[trailer]}`);
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }
}
