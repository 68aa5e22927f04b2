import type { FastifyRequest, FastifySchemaCompiler } from 'fastify';
import fp from 'fastify-plugin';
import { safeParse } from 'zod';
import type { $ZodType } from 'zod/v4/core';
import { Invalid } from '#domain/shared/errors.ts';
import { serializeByZod } from './serialization.ts';
import { describeIssues, type FieldProblem, type RequestPart } from './validation-messages.ts';

const partOf: Readonly<Record<string, RequestPart>> = {
  body: 'body',
  querystring: 'query',
  params: 'path',
  headers: 'header',
};

/** How many problems one answer lists; the rest would not help anybody. */
const mostProblems = 20;

/**
 * Requests are checked and answers written by the zod schemas of the route. Everything that is wrong with one part of a
 * request comes in one 400: `error` in words, `errors` as `[{ in, path, message }]`. Parameters that no schema declares
 * are refused: a body where none is declared, a query where none is declared.
 */
export const validation = fp(
  async (app) => {
    app.setValidatorCompiler(validateByZod);
    app.setSerializerCompiler(serializeByZod);
    app.addHook('preValidation', async (request) => {
      if (!request.is404) refuseUndeclared(request);
    });
  },
  { name: 'validation', fastify: '5.x' },
);

/** A validator of one part of a request. Its error is an `Invalid`, ready for the error handler. */
export const validateByZod: FastifySchemaCompiler<$ZodType> = ({ schema, httpPart }) => {
  const part = partOf[httpPart ?? 'body'] ?? 'body';
  return (data: unknown) => parsePart(schema, part, data);
};

/** One part of a request by its schema, with everything that is wrong with it in one `Invalid`. */
export function parsePart(
  schema: $ZodType,
  part: RequestPart,
  data: unknown,
): { value: unknown; error?: undefined } | { value?: undefined; error: Invalid } {
  const given = data === null && part === 'body' ? undefined : data;
  const problems = part === 'body' ? [] : findUnstorableText(part, given);
  if (problems.length > 0) return { error: invalidRequest(problems) };
  const result = safeParse(schema, given);
  if (result.success) return { value: result.data };
  if (part === 'body' && given === undefined)
    return { error: new Invalid('a JSON body is required, the request has none') };
  return { error: invalidRequest(describeIssues(part, result.error.issues)) };
}

/** One error for several problems: each in words, the first twenty as `errors`. */
export function invalidRequest(problems: readonly FieldProblem[]): Invalid {
  const listed = problems.slice(0, mostProblems);
  const more = problems.length > listed.length ? `; and ${problems.length - listed.length} more` : '';
  return new Invalid(listed.map((problem) => problem.message).join('; ') + more, { errors: listed });
}

/** Percent-encoding brings NUL into paths and queries, which no column can store: the database would answer 500. */
function findUnstorableText(part: RequestPart, data: unknown): FieldProblem[] {
  const problems: FieldProblem[] = [];
  for (const [name, value] of Object.entries(data ?? {})) {
    const texts = Array.isArray(value) ? value : [value];
    if (texts.every((text) => typeof text !== 'string' || (!text.includes('\0') && text.isWellFormed()))) continue;
    problems.push({ in: part, path: name, message: `${part} parameter ${JSON.stringify(name)} holds a NUL character` });
  }
  return problems;
}

function refuseUndeclared(request: FastifyRequest): void {
  const { schema, config } = request.routeOptions;
  if (schema?.querystring === undefined) {
    const names = Object.keys(request.query ?? {});
    if (names.length > 0 && !config.anyQuery) throw invalidRequest(describeIssues('query', [unknownKeys(names)]));
  }
  if (schema?.body === undefined && !config.form && isMoreThanNothing(request.body)) {
    throw new Invalid('this operation takes no body: send none, or {}');
  }
}

function unknownKeys(keys: string[]) {
  return { code: 'unrecognized_keys' as const, keys, path: [], message: 'unknown' };
}

function isMoreThanNothing(body: unknown): boolean {
  if (body === undefined || body === null) return false;
  return typeof body !== 'object' || Array.isArray(body) || Object.keys(body).length > 0;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route has no query schema and passes by what a browser adds to its address (static files, pages). */
    anyQuery?: boolean;
  }
}
