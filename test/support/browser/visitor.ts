import type { FastifyInstance } from 'fastify';

export type PageAnswer = {
  status: number;
  text: string;
  headers: Record<string, string | string[] | number | undefined>;
  location: string | undefined;
  setCookie: string | undefined;
};

/** Somebody with a browser, as far as HTTP goes: keeps the session cookie, and sends forms from our own pages. */
export class Visitor {
  readonly #app: FastifyInstance;
  readonly #headers: Record<string, string>;
  cookie: string | undefined;

  constructor(app: FastifyInstance, headers: Record<string, string> = {}) {
    this.#app = app;
    this.#headers = { accept: 'text/html', ...headers };
  }

  get(url: string, headers: Record<string, string> = {}): Promise<PageAnswer> {
    return this.#send('GET', url, headers);
  }

  /** The text of a page that exists and may be seen. A test that a page lacks something says nothing about an error page. */
  async page(url: string, headers: Record<string, string> = {}): Promise<string> {
    const { status, text } = await this.get(url, headers);
    if (status !== 200) throw new Error(`the page ${url} answered ${status}`);
    return text;
  }

  submit(url: string, fields: Record<string, string> | string, headers: Record<string, string> = {}) {
    const payload = typeof fields === 'string' ? fields : new URLSearchParams(fields).toString();
    const type = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' };
    return this.#send('POST', url, { ...type, ...headers }, payload);
  }

  /** The revision with which an opened form is sent; empty for a form without one. */
  async openedRevision(url: string): Promise<string> {
    return /name="expected_revision"[^>]*value="(\d+)"/.exec(await this.page(url))?.[1] ?? '';
  }

  /** Opens a form and sends it. */
  async edit(url: string, fields: Record<string, string>): Promise<PageAnswer> {
    return this.submit(url, { ...fields, expected_revision: await this.openedRevision(url) });
  }

  async #send(method: 'GET' | 'POST', url: string, headers: Record<string, string>, payload?: string) {
    const sent = dropEmpty({ ...this.#headers, cookie: this.cookie ?? '', ...headers });
    const response = await this.#app.inject({ method, url, headers: sent, ...(payload !== undefined && { payload }) });
    const setCookie = [response.headers['set-cookie'] ?? []].flat()[0];
    const value = setCookie?.split(';', 1)[0];
    if (value) this.cookie = value.endsWith('=') ? undefined : value;
    const { statusCode: status, body: text, headers: answered } = response;
    return { status, text, headers: answered, location: response.headers.location, setCookie };
  }
}

/** An empty value stands for a header that is not sent. */
function dropEmpty(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ''));
}
