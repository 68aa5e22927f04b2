import formbody from '@fastify/formbody';
import type { FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { Invalid } from '#domain/shared/errors.ts';
import { HttpProblem } from '../errors/http-problem.ts';
import { formatPath } from './field-path.ts';
import { parseStrictJson } from './json-text.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route takes a browser's form (`application/x-www-form-urlencoded`), and nothing else. */
    form?: boolean;
  }
}

export type StrictJsonOptions = {
  /** Bytes of a body, 1 MiB unless told (specification, *Limits*). */
  bodyLimit?: number;
};

export const jsonBodyLimit = 1024 * 1024;
const formBodyLimit = 64 * 1024;
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The strict decoder: a body is exactly one JSON value of at most 1 MiB in UTF-8, or on routes with `config.form` a
 * browser's form. An empty body is no body; whether one is required is the route's schema to say.
 */
export const strictJson = fp<StrictJsonOptions>(
  async (app, options) => {
    const bodyLimit = options.bodyLimit ?? jsonBodyLimit;
    app.removeAllContentTypeParsers();
    await app.register(formbody, { bodyLimit: formBodyLimit });
    app.addContentTypeParser(
      'application/json',
      { parseAs: 'buffer', bodyLimit },
      async (request: FastifyRequest, body: Buffer) => (request.is404 ? undefined : decodeJsonBody(body)),
    );
    app.addHook('preParsing', async (request) => {
      if (!request.is404) refuseOtherContent(request);
    });
  },
  { name: 'strict-json', fastify: '5.x' },
);

/** The value of a JSON body; undefined when it is empty. Throws `Invalid`, which names the key or the line. */
export function decodeJsonBody(body: Buffer): unknown {
  if (body.length === 0) return undefined;
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) {
    throw new Invalid('the body starts with a byte order mark: send JSON in UTF-8 without one');
  }
  const result = parseStrictJson(decodeText(body));
  if (result.ok) return result.value;
  const { kind, message, path, line, column } = result.problem;
  if (path.length === 0 || kind === 'depth') throw new Invalid(message);
  throw new Invalid(message, { errors: [{ in: 'body', path: formatPath(path), message, line, column }] });
}

function decodeText(body: Buffer): string {
  try {
    return decoder.decode(body);
  } catch {
    throw new Invalid('the body is not valid UTF-8');
  }
}

function refuseOtherContent(request: FastifyRequest): void {
  const { 'content-type': type, 'content-encoding': encoding } = request.headers;
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new HttpProblem(415, 'compressed bodies are not accepted: send the body without Content-Encoding');
  }
  if (type === undefined || request.method === 'GET' || request.method === 'HEAD') return;
  if (hasNoBody(request)) {
    // Nothing has no type, though clients name one all the same (`curl -d ''`).
    delete request.headers['content-type'];
    return;
  }
  const wanted = wantedMediaType(request);
  const [essence = ''] = type.split(';', 1);
  if (essence.trim().toLowerCase() !== wanted) throw unsupportedMediaType(request);
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(type)?.[1];
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) {
    throw new HttpProblem(415, 'the body must be UTF-8: leave the charset out or send charset=utf-8');
  }
}

function hasNoBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0';
}

/** The refusal of a body of another type, or of none, which names the type that this route takes. */
export function unsupportedMediaType(request: FastifyRequest): HttpProblem {
  const wanted = wantedMediaType(request);
  return new HttpProblem(415, `the content type is not supported: send Content-Type: ${wanted}`, {
    headers: { accept: wanted },
  });
}

function wantedMediaType(request: FastifyRequest): string {
  return request.routeOptions.config.form ? 'application/x-www-form-urlencoded' : 'application/json';
}
