import type { FastifySerializerCompiler } from 'fastify';
import { safeEncode } from 'zod';
import { $ZodType, type input, type output } from 'zod/v4/core';

/** An answer that does not fit the schema its operation declares: a defect of this service, for the log alone. */
export class AnswerDoesNotFit extends Error {
  constructor(operation: string, status: string, places: readonly string[]) {
    super(`the answer of ${operation} with status ${status} does not fit its schema at ${places.join(', ')}`);
    this.name = 'AnswerDoesNotFit';
  }
}

/** Writes an answer through its zod schema, as JSON text; see `encodeAnswer`. */
export const serializeByZod: FastifySerializerCompiler<unknown> = ({ schema, method, url, httpStatus }) => {
  if (!(schema instanceof $ZodType)) throw new TypeError(`the answer schema of ${method} ${url} is not a zod schema`);
  const operation = `${method} ${url}`;
  return (data) => JSON.stringify(encodeAnswer(schema, data, operation, httpStatus ?? 'default')) ?? '';
};

/**
 * An answer as its schema shows it: what the schema does not declare never leaves, codecs encode, and an answer which
 * does not fit is an error (500) instead of a surprise to the client. The error names places, never values.
 */
export function encodeAnswer<S extends $ZodType>(
  schema: S,
  data: unknown,
  operation: string,
  status: string,
): input<S> {
  const result = safeEncode(schema, data as output<S>);
  if (result.success) return result.data;
  const places = result.error.issues.map(
    (issue) => `${issue.path.map(String).join('.') || 'its root'} (${issue.code})`,
  );
  throw new AnswerDoesNotFit(operation, status, places.slice(0, 10));
}
