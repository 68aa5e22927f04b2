import { Pool } from 'undici';

// biome-ignore lint/suspicious/noExplicitAny: the benchmark knows the shape of the response
export type Response = { status: number; body: any };

/** A client of the service with one credential. It keeps its connections open and reads every response to its end. */
export class HttpClient {
  readonly #pool: Pool;
  readonly #headers: Record<string, string>;

  constructor(url: string, headers: Record<string, string>, connections = 64) {
    this.#pool = new Pool(url, { connections, pipelining: 1, headersTimeout: 120_000, bodyTimeout: 120_000 });
    this.#headers = headers;
  }

  async send(
    method: 'GET' | 'POST' | 'PUT',
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const response = await this.#pool.request({
      method,
      path: `/api/v1${path}`,
      headers: { ...this.#headers, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.body.text();
    return { status: response.statusCode, body: text ? JSON.parse(text) : undefined };
  }

  /** Sends a request that must succeed. @returns the body of the response @throws Error for any other status */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  async call(method: 'GET' | 'POST' | 'PUT', path: string, body?: unknown): Promise<any> {
    const answer = await this.send(method, path, body);
    if (answer.status < 300) return answer.body;
    throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  }

  /**
   * Reads a long response without keeping it.
   * @param trailer the trailer in which the response says how many lines it has
   * @returns the number of lines @throws Error where the response is not a success or the trailer differs
   */
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
    throw new Error(
      `${path} answered ${statusCode} with ${lines} lines, but its trailer ${trailer} says ${trailers[trailer]}`,
    );
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }
}
