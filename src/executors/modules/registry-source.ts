import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { z } from 'zod';
import type { ModuleSource } from '#domain/connections/module-sources/model.ts';
import type { Egress } from '../egress/egress.ts';
import { asRefusal } from '../egress/refusal.ts';
import { answerText, passOn } from './answers.ts';
import { askUpstream, readShort } from './upstream.ts';

const services = ['modules.v1', 'providers.v1'] as const;
type Service = (typeof services)[number];
const Discovered = z.object({ 'modules.v1': z.string().optional(), 'providers.v1': z.string().optional() });
const Located = z.looseObject({ location: z.string(), use_registry_credentials: z.boolean().nullish() });

const maxAnswerBytes = 8 * 1024 * 1024;
const maxFiles = 1_000;
const safePath = /^\/[A-Za-z0-9._~!$&'()*+,;=:@%/-]*$/;
/** The query parameters that go-getter itself uses. The others stay here, because some registries put a token into them. */
const getterParameters = ['archive', 'checksum', 'filename'];

/** A private registry of modules and providers. The tool sends its requests here, and they are forwarded with the token. */
export class RegistrySource {
  readonly #source: Extract<ModuleSource, { kind: 'registry' }>;
  readonly #place: string;
  readonly #egress: Egress;
  readonly #urls = new Map<Service, URL>();
  /** Archives that the registry serves itself, by the paths under which this object serves them. */
  readonly #files = new Map<string, URL>();

  constructor(source: Extract<ModuleSource, { kind: 'registry' }>, place: string, egress: Egress) {
    this.#source = source;
    this.#place = place;
    this.#egress = egress;
  }

  /** The settings block that directs the tool here. Empty if the services of the host cannot be discovered; the tool then reports that. */
  async settings(note: (line: string) => void): Promise<string> {
    const { host } = this.#source;
    try {
      await this.#discover();
    } catch (error) {
      note(`the services of the registry ${host} were not found: ${asRefusal(error).message}`);
      return '';
    }
    const found = [...this.#urls.keys()].map((service) => `    "${service}" = "${this.#place}/${service}/"`);
    return found.length === 0 ? '' : [`host "${host}" {`, '  services = {', ...found, '  }', '}', ''].join('\n');
  }

  async answer(target: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = '', query] = target.split('?', 2);
    const [, place = '', rest = ''] = /^\/([a-z0-9.]+)(\/.*)$/.exec(path) ?? [];
    const service = services.find((each) => each === place);
    if (place === 'files') return this.#sendFile(rest, request, response);
    const base = service && this.#urls.get(service);
    const url = base && query === undefined && request.method === 'GET' ? joinBelow(base, rest) : null;
    if (url === null || url === undefined)
      return answerText(response, 403, 'only modules and providers can be asked for here');
    const answer = await this.#ask(url, 'GET', response);
    const isLocation = service === 'modules.v1' && url.pathname.endsWith('/download');
    await this.#sendAnswer(answer, isLocation ? url : null, response);
  }

  async #discover(): Promise<void> {
    const url = new URL(`https://${this.#source.host}/.well-known/terraform.json`);
    const client = new PassThrough();
    try {
      const answer = await this.#ask(url, 'GET', client);
      const body = await readShort(answer, maxAnswerBytes);
      if (answer.statusCode !== 200) throw new Error(`it answered ${answer.statusCode}`);
      const found = Discovered.parse(JSON.parse(body.toString()));
      for (const service of services) {
        const at = found[service];
        const place = at !== undefined && URL.canParse(at, url.href) ? new URL(at, url.href) : null;
        if (place?.protocol === 'https:') this.#urls.set(service, place);
      }
    } finally {
      client.destroy();
    }
  }

  #ask(url: URL, method: 'GET' | 'HEAD', client: ServerResponse | PassThrough): Promise<IncomingMessage> {
    const headers = { authorization: `Bearer ${this.#source.token}`, 'user-agent': 'coordinator' };
    return askUpstream(this.#egress, { url, method, headers }, client);
  }

  async #sendAnswer(answer: IncomingMessage, locatedBy: URL | null, response: ServerResponse): Promise<void> {
    const body = await readShort(answer, maxAnswerBytes);
    const status = answer.statusCode ?? 502;
    if (status >= 300 && status < 400) return answerText(response, 403, `${this.#source.host} redirects elsewhere`);
    const location = answer.headers['x-terraform-get'];
    const moved = locatedBy !== null &&
      typeof location === 'string' && { 'x-terraform-get': this.#locate(location, locatedBy) };
    const content = locatedBy !== null && status === 200 ? this.#relocate(body, locatedBy) : body;
    const type = answer.headers['content-type'] ?? 'application/json';
    response.writeHead(status, { ...(status !== 204 && { 'content-type': type }), ...moved, connection: 'close' });
    response.end(status === 204 ? undefined : content);
  }

  #relocate(body: Buffer, by: URL): Buffer {
    try {
      const parsed = Located.parse(JSON.parse(body.toString()));
      const direct = parsed.use_registry_credentials;
      const location = this.#locate(parsed.location, by);
      // The token is added here. The tool does not have it.
      return Buffer.from(
        JSON.stringify({ location, ...(typeof direct === 'boolean' && { use_registry_credentials: false }) }),
      );
    } catch {
      return body;
    }
  }

  /** The address of a module for the tool. What the registry serves itself is served from here, because it may need the token. */
  #locate(location: string, by: URL): string {
    const isRelative = /^(?:\/|\.\.?\/)/.test(location);
    if (!isRelative && !/^https?:\/\//i.test(location)) return location;
    if (!URL.canParse(location, by.href)) return location;
    const url = new URL(location, by.href);
    if (url.origin !== by.origin || this.#files.size >= maxFiles) return isRelative ? url.href : location;
    const [, path = url.pathname, directory] = /^(.*?)\/\/(.*)$/.exec(url.pathname) ?? [];
    const name =
      path
        .split('/')
        .at(-1)
        ?.replace(/[^A-Za-z0-9._-]/g, '') || 'module';
    const id = randomBytes(12).toString('base64url');
    this.#files.set(`/${id}/${name}`, new URL(path + url.search, url.origin));
    const kept = getterParameters.flatMap((parameter) => {
      const value = url.searchParams.get(parameter);
      return value === null ? [] : [`${parameter}=${encodeURIComponent(value)}`];
    });
    const query = kept.length === 0 ? '' : `?${kept.join('&')}`;
    return `${this.#place}/files/${id}/${name}${directory === undefined ? '' : `//${directory}`}${query}`;
  }

  async #sendFile(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = this.#files.get(path);
    const { method } = request;
    if (url === undefined || (method !== 'GET' && method !== 'HEAD'))
      return answerText(response, 404, 'there is nothing here');
    const answer = await this.#ask(url, method, response);
    const { location } = answer.headers;
    const isMoved = location !== undefined && URL.canParse(location, url.href);
    passOn(answer, response, isMoved ? { location: this.#locate(location, url) } : {});
  }
}

/** Joins a path to the address of a service; null if the result would not be below that address. */
function joinBelow(base: URL, rest: string): URL | null {
  if (!safePath.test(rest) || /%2f|%5c|%00/i.test(rest)) return null;
  const directory = base.pathname.endsWith('/') ? base.pathname : `${base.pathname}/`;
  const url = new URL(directory + rest.slice(1), base.origin);
  return url.origin === base.origin && url.pathname.startsWith(directory) ? url : null;
}
