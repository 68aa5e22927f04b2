import { STATUS_CODES } from 'node:http';
import type { OpenAPIV3_1 } from 'openapi-types';
import { z } from 'zod';
import type { Operation } from '#api/pipeline/operation.ts';
import type { DocumentSchemas } from './schemas.ts';

type Response = OpenAPIV3_1.ResponseObject;
type Headers = NonNullable<Response['headers']>;

const text = { type: 'string' } as const;
const count = { type: 'integer', minimum: 0 } as const;

const everyAnswer: Headers = {
  'Cache-Control': { description: '`no-store`, unless what is answered never changes.', schema: text },
  'X-Request-ID': { description: 'Names this request in logs and in the audit.', schema: text },
  'RateLimit-Limit': { description: 'Requests a minute that you may send.', schema: count },
  'RateLimit-Remaining': { description: 'How many of them are left.', schema: count },
  'RateLimit-Reset': { description: 'Seconds until the minute is over.', schema: count },
};

/** The answers that an operation declares, with their headers and media types. */
export function successesOf(operation: Operation, schemas: DocumentSchemas): Record<string, Response> {
  const answers = Object.entries(operation.responses).map(([status, schema]) => [
    status,
    {
      description: schema.description ?? describeStatus(Number(status)),
      headers: { ...everyAnswer, ...headersOf(operation, Number(status)), ...entityTag(schema) },
      ...contentOf(operation, Number(status), schema, schemas),
    },
  ]);
  return Object.fromEntries(answers);
}

function describeStatus(status: number): string {
  if (status === 200) return 'Done.';
  if (status === 201) return 'Made.';
  if (status === 202) return 'Accepted: the work goes on.';
  return STATUS_CODES[status] ?? String(status);
}

function headersOf(operation: Operation, status: number): Headers {
  if (operation.kind === 'read') return operation.produces ? downloads : {};
  return {
    ...(operation.at && status < 300 && { Location: { description: 'Where what it changed is read.', schema: text } }),
    ...(operation.idempotency !== 'none' && {
      'Idempotency-Key': { description: 'The key of this command.', schema: { type: 'string', format: 'uuid' } },
    }),
  };
}

const etag =
  'The revision in quotes, for `If-Match`. It stands for what a change of the resource would change. Members that say how other resources are, such as `actions`, ' +
  'change without it, so `If-None-Match` has no effect.';

/** An answer with a revision has it as its entity tag, too. */
function entityTag(schema: z.ZodType): Headers {
  if (!(schema instanceof z.ZodObject) || !('revision' in schema.shape)) return {};
  return { ETag: { description: etag, schema: text } };
}

const downloads: Headers = {
  'Content-Disposition': { description: 'The name of the file, where it is one.', schema: text },
};

function contentOf(
  { produces, responses }: Operation,
  status: number,
  schema: z.ZodType,
  schemas: DocumentSchemas,
): Pick<Response, 'content'> {
  if (schema instanceof z.ZodUndefined) return {};
  const isSuccess = status === Number(Object.keys(responses)[0]);
  const json = schema instanceof z.ZodNever ? {} : { 'application/json': { schema: schemas.describe(schema) } };
  const others = isSuccess
    ? Object.entries(produces ?? {}).map(([type, description]) => [
        type,
        { schema: type === 'application/json' ? { description } : { type: 'string', description } },
      ])
    : [];
  return { content: { ...json, ...Object.fromEntries(others) } };
}
