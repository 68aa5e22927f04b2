import type { FastifySerializerCompiler } from 'fastify';
import { safeEncode } from 'zod';
import { $ZodType, type input, type output } from 'zod/v4/core';

/** An answer that does not match its operation's schema. This is a defect of the service; clients see no details. */
export class AnswerMismatch extends Error {
  constructor(operation: string, status: string, places: readonly string[]) {
    super(`the answer of ${operation} with status ${status} does not match its schema at ${places.join(', ')}`);
    this.name = 'AnswerMismatch';
  }
}

/** Serializes an answer to JSON text with its zod schema. See `encodeAnswer`. */
export const serializeByZod: FastifySerializerCompiler<unknown> = ({ schema, method, url, httpStatus }) => {
  if (!(schema instanceof $ZodType)) throw new TypeError(`the answer schema of ${method} ${url} is not a zod schema`);
  const operation = `${method} ${url}`;
  return (data) => JSON.stringify(encodeAnswer(schema, data, operation, httpStatus ?? 'default')) ?? '';
};

/**
 * Encodes an answer with its schema: members that the schema does not declare are removed, and codecs encode their values.
 * @throws AnswerMismatch (answered as 500) if the answer does not match. It names the places, never the values.
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
  throw new AnswerMismatch(operation, status, places.slice(0, 10));
}
