import type { OpenAPIV3_1 } from 'openapi-types';
import { z } from 'zod';
import { honoursIfMatch } from '#api/pipeline/headers/if-match.ts';
import type { Operation } from '#api/pipeline/operation.ts';
import type { DocumentSchemas } from './schemas.ts';

/** A parameter of OpenAPI 3.1. The package of types still has the schema of 3.0 here. */
type Parameter = Omit<OpenAPIV3_1.ParameterObject, 'schema'> & { schema: OpenAPIV3_1.SchemaObject };

/** The parameters of an operation: in its path, in its query, and the headers that the pipeline reads for it. */
export function parametersOf(operation: Operation, schemas: DocumentSchemas): Parameter[] {
  return [
    ...describeParts('path', operation.params, schemas),
    ...describeParts('query', operation.query, schemas),
    ...keyHeader(operation),
    ...revisionHeader(operation),
    ...resumeHeader(operation),
  ];
}

function describeParts(place: 'path' | 'query', parts: z.ZodType | undefined, schemas: DocumentSchemas): Parameter[] {
  if (!(parts instanceof z.ZodObject)) return [];
  return Object.entries(parts.shape as Record<string, z.ZodType>).map(([name, part]) => {
    const { description, ...schema } = schemas.describe(part) as OpenAPIV3_1.SchemaObject;
    const absent = part.safeParse(undefined);
    const required = place === 'path' || !absent.success;
    const fallback = absent.data === undefined ? {} : { default: absent.data };
    return { name, in: place, required, ...(description && { description }), schema: { ...schema, ...fallback } };
  });
}

const commandKey =
  'A lowercase UUID other than zero: the key of the command. Sending the same request again with the same key answers ' +
  'what the first one answered. Another request with that key answers 409.';

/** The description of a key that a read accepts. */
const askedKeys: Readonly<Record<string, string>> = {
  required: 'The key of the command that you ask about: a lowercase UUID other than zero.',
  checked:
    'Not needed: this changes nothing, and a key has no effect. One that is no lowercase UUID other than zero answers 400.',
};

function keyHeader({ kind, idempotency = 'none' }: Operation): Parameter[] {
  if (idempotency === 'none') return [];
  const description = kind === 'read' ? askedKeys[idempotency] : commandKey;
  return [
    {
      name: 'Idempotency-Key',
      in: 'header',
      required: idempotency === 'required',
      ...(description !== undefined && { description }),
      schema: { type: 'string', format: 'uuid' },
    },
  ];
}

/** An operation that compares a revision also accepts it as an entity tag. */
function revisionHeader(operation: Operation): Parameter[] {
  if (!honoursIfMatch(operation)) return [];
  return [
    {
      name: 'If-Match',
      in: 'header',
      required: false,
      description:
        'The revision that you have read, in quotes, such as `"3"`: the change is refused (409) if it is stale.',
      schema: { type: 'string', examples: ['"3"'] },
    },
  ];
}

function resumeHeader({ produces }: Operation): Parameter[] {
  if (!produces || !('text/event-stream' in produces)) return [];
  return [
    {
      name: 'Last-Event-ID',
      in: 'header',
      required: false,
      description: 'The id of the last event that you have: the stream goes on after it.',
      schema: { type: 'string' },
    },
  ];
}
