import type { FastifyRequest, FastifySchemaCompiler } from 'fastify';
import fp from 'fastify-plugin';
import { safeParse } from 'zod';
import { $ZodObject, type $ZodType } from 'zod/v4/core';
import { Invalid } from '#domain/shared/errors.ts';
import {
  describeIssues,
  type FieldProblem,
  invalidRequest,
  type RequestPart,
} from '#domain/shared/validation/validation-messages.ts';
import { serializeByZod } from './serialization.ts';

const partOf: Readonly<Record<string, RequestPart>> = {
  body: 'body',
  querystring: 'query',
  params: 'path',
  headers: 'header',
};

/**
 * Validates requests and serializes answers with the zod schemas of their route. All problems of one part of a request are
 * answered in one 400: `error` is a text, `errors` is a list of `{ in, path, message }`. A body or a query that the route
 * does not declare is rejected.
 */
export const validation = fp(
  async (app) => {
    app.setValidatorCompiler(validateByZod);
    app.setSerializerCompiler(serializeByZod);
    app.addHook('preValidation', async (request) => {
      if (request.is404) return;
      if (request.body === null) throw new Invalid('the body must be an object, not null');
      refuseUndeclared(request);
      refuseUnstorableForm(request);
    });
  },
  { name: 'validation', fastify: '5.x' },
);

/** Compiles the validator of one part of a request. Its error is an `Invalid`, which the error handler answers. */
export const validateByZod: FastifySchemaCompiler<$ZodType> = ({ schema, httpPart }) => {
  const part = partOf[httpPart ?? 'body'] ?? 'body';
  return (data: unknown) => parsePart(schema, part, data);
};

/** Parses one part of a request with its schema. The error holds all problems of that part. */
export function parsePart(
  schema: $ZodType,
  part: RequestPart,
  data: unknown,
): { value: unknown; error?: undefined } | { value?: undefined; error: Invalid } {
  // Fastify passes null where a request has no body. A body that is null has been refused before.
  const given = data === null && part === 'body' ? undefined : data;
  const problems = part === 'body' ? [] : findUnstorableText(part, given);
  if (problems.length > 0) return { error: invalidRequest(problems) };
  const result = safeParse(schema, given);
  if (result.success) return { value: result.data };
  if (part === 'body' && given === undefined)
    return { error: new Invalid('a JSON body is required, but the request has none') };
  return { error: invalidRequest(describeIssues({ part, data: given, known: namesOf(schema) }, result.error.issues)) };
}

/** The names of the members that a schema of an object declares. */
function namesOf(schema: $ZodType): string[] {
  return schema instanceof $ZodObject ? Object.keys(schema._zod.def.shape) : [];
}

/** Refuses text that no column can store. For JSON, the parser has already refused it. @throws Invalid */
function refuseUnstorableForm({ routeOptions, body }: FastifyRequest): void {
  const problems = routeOptions.config.form ? findUnstorableText('body', body) : [];
  if (problems.length > 0) throw invalidRequest(problems);
}

/** Finds NUL characters, which percent-encoding can bring into paths, queries and forms: no column can store them. */
function findUnstorableText(part: RequestPart, data: unknown): FieldProblem[] {
  const problems: FieldProblem[] = [];
  for (const [name, value] of Object.entries(data ?? {})) {
    const texts = Array.isArray(value) ? value : [value];
    if (texts.every((text) => typeof text !== 'string' || (!text.includes('\0') && text.isWellFormed()))) continue;
    problems.push({
      in: part,
      path: name,
      message: `${part === 'body' ? 'field' : `${part} parameter`} ${JSON.stringify(name)} contains a NUL character`,
    });
  }
  return problems;
}

function refuseUndeclared(request: FastifyRequest): void {
  const { schema, config } = request.routeOptions;
  if (schema?.querystring === undefined) {
    const names = Object.keys(request.query ?? {});
    if (names.length > 0 && !config.anyQuery) {
      const rejected = { part: 'query', data: request.query, known: [] } as const;
      throw invalidRequest(describeIssues(rejected, [unknownKeys(names)]));
    }
  }
  if (schema?.body === undefined && !config.form && isNonEmptyBody(request.body)) {
    throw new Invalid('this operation takes no body: send none, or {}');
  }
}

function unknownKeys(keys: string[]) {
  return { code: 'unrecognized_keys' as const, keys, path: [], message: 'unknown' };
}

function isNonEmptyBody(body: unknown): boolean {
  if (body === undefined || body === null) return false;
  return typeof body !== 'object' || Array.isArray(body) || Object.keys(body).length > 0;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route accepts any query without a schema, because browsers may add parameters (static files, pages). */
    anyQuery?: boolean;
  }
}
