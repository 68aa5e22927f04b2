import formbody from '@fastify/formbody';
import type { FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { Invalid } from '#domain/shared/errors.ts';
import { formatPath } from '#domain/shared/validation/field-path.ts';
import { parseStrictJson } from '#domain/shared/values/strict-json.ts';
import { HttpProblem } from '../errors/http-problem.ts';
import { parseUploads } from './uploads.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route accepts only a browser's form: one with fields, or one that may also have files (`multipart/form-data`). */
    form?: boolean | 'files';
    /** The route accepts the bytes of a JSON body without parsing or checking them. */
    exactBody?: boolean;
  }
}

export type StrictJsonOptions = {
  /** Maximum size of a body in bytes; 1 MiB by default (specification, *Limits*). */
  bodyLimit?: number;
};

export const jsonBodyLimit = 1024 * 1024;
/** The default size limit of a form. A route may set its own. */
export const formBodyLimit = 64 * 1024;
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The strict decoder. A body is exactly one JSON value in UTF-8 of at most 1 MiB, a browser's form on routes with `config.form`, or any
 * bytes on routes with `config.exactBody`, which have their own limit. An empty body counts as no body. The route's schema decides whether
 * a body is required.
 */
export const strictJson = fp<StrictJsonOptions>(
  async (app, options) => {
    const bodyLimit = options.bodyLimit ?? jsonBodyLimit;
    app.removeAllContentTypeParsers();
    await app.register(formbody, { bodyLimit: formBodyLimit });
    app.addContentTypeParser(
      'multipart/form-data',
      { parseAs: 'buffer', bodyLimit: formBodyLimit },
      (request: FastifyRequest, body: Buffer) => parseUploads(request.headers['content-type'] ?? '', body),
    );
    app.addContentTypeParser(
      'application/json',
      { parseAs: 'buffer', bodyLimit },
      async (request: FastifyRequest, body: Buffer) => {
        if (request.is404 || body.length === 0) return undefined;
        return request.routeOptions.config.exactBody ? body : decodeJsonBody(body);
      },
    );
    app.addHook('preParsing', async (request) => {
      if (!request.is404) refuseUnsupportedContent(request);
    });
  },
  { name: 'strict-json', fastify: '5.x' },
);

/** Decodes a JSON body; undefined if it is empty. @throws Invalid naming the key or the line */
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

function refuseUnsupportedContent(request: FastifyRequest): void {
  const { 'content-type': type, 'content-encoding': encoding } = request.headers;
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new HttpProblem(415, 'compressed bodies are not accepted: send the body without Content-Encoding');
  }
  if (type === undefined || request.method === 'GET' || request.method === 'HEAD') return;
  if (isWithoutBody(request)) {
    // Some clients send a content type without a body (`curl -d ''`).
    delete request.headers['content-type'];
    return;
  }
  const accepted = acceptedMediaType(request);
  const [essence = ''] = type.split(';', 1);
  if (essence.trim().toLowerCase() !== accepted) throw unsupportedMediaType(request);
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(type)?.[1];
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) {
    throw new HttpProblem(415, 'the body must be UTF-8: leave the charset out or send charset=utf-8');
  }
}

function isWithoutBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0';
}

/** The 415 answer. It names the content type that the route accepts. */
export function unsupportedMediaType(request: FastifyRequest): HttpProblem {
  const accepted = acceptedMediaType(request);
  return new HttpProblem(415, `the content type is not supported: send Content-Type: ${accepted}`, {
    headers: { accept: accepted },
  });
}

function acceptedMediaType(request: FastifyRequest): string {
  const { form } = request.routeOptions.config;
  if (form === 'files') return 'multipart/form-data';
  return form ? 'application/x-www-form-urlencoded' : 'application/json';
}
