import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import type { RouteOptions } from 'fastify';
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod';
import type { OpenAPIV3_1 } from 'openapi-types';

const securitySchemes = {
  sessionCookie: {
    type: 'apiKey',
    in: 'cookie',
    name: 'coordinator_session',
    description: 'The session of a signed-in browser. Requests that change something must come from the same origin.',
  },
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'The session token that signing in returned.',
  },
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description: 'A personal key, or the key of a service account.',
  },
} as const satisfies Record<string, OpenAPIV3_1.SecuritySchemeObject>;

const errorSchema: OpenAPIV3_1.SchemaObject = {
  type: 'object',
  required: ['error'],
  properties: {
    error: { type: 'string', description: 'What is wrong, and how to correct it' },
    errors: {
      type: 'array',
      description: 'All problems of the request, if there can be several',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: {
          in: { type: 'string', enum: ['body', 'query', 'path', 'header'] },
          path: { type: 'string' },
          message: { type: 'string' },
        },
      },
    },
  },
};

const text = { type: 'string' } as const;

const errorResponse: OpenAPIV3_1.ResponseObject = {
  description: 'The request was refused or failed',
  headers: {
    'X-Request-ID': { description: 'Identifies this request', schema: text },
    'X-Support-ID': { description: 'Identifies the log entry of a failure (5xx)', schema: text },
    'Retry-After': { description: 'Seconds to wait before trying again (429, 503)', schema: text },
  },
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
};

const transformRoute = createJsonSchemaTransform({});
const transformDocument = createJsonSchemaTransformObject({});

/**
 * The options that build the OpenAPI 3.1 document from the routes. It contains every route with an `operationId`, described
 * by its zod schemas. Every operation may answer with an error, and needs a credential unless it declares `security: []`.
 */
export function openApiOptions(version: string): FastifyDynamicSwaggerOptions {
  return {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'delivery-coordinator',
        version,
        description: 'Runs, approvals, logs and state of governed delivery. Errors are `{ "error": "message" }`.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/', description: 'This server' }],
      components: { securitySchemes },
      security: [{ sessionCookie: [] }, { bearer: [] }, { apiKey: [] }],
    },
    transform: (route) => {
      const declared = (route.schema as { operationId?: string } | undefined)?.operationId !== undefined;
      return declared
        ? withIdempotencyKey(transformRoute(route), route.route)
        : { schema: { hide: true }, url: route.url };
    },
    transformObject: (document) => addErrors(transformDocument(document) as OpenAPIV3_1.Document),
  };
}

const keyHeader = {
  type: 'string',
  format: 'uuid',
  description:
    'The key of the command: a lowercase UUID other than zero, sent exactly once. The same key with the same request repeats ' +
    'the first answer; with any other request it conflicts.',
} as const;

/** Describes the Idempotency-Key header. The pipeline validates it, not a schema. */
function withIdempotencyKey<T extends { schema: object }>(transformed: T, { config }: RouteOptions): T {
  const demand = config?.operation?.idempotency ?? 'none';
  if (demand === 'none') return transformed;
  const required = demand === 'required' ? ['Idempotency-Key'] : [];
  const headers = { type: 'object', properties: { 'Idempotency-Key': keyHeader }, required };
  return { ...transformed, schema: { ...transformed.schema, headers } };
}

function addErrors(document: OpenAPIV3_1.Document): OpenAPIV3_1.Document {
  const operations = Object.values(document.paths ?? {}).flatMap((item) => Object.values(item ?? {}));
  for (const operation of operations as OpenAPIV3_1.OperationObject[]) {
    operation.responses = { ...operation.responses, default: { $ref: '#/components/responses/Error' } };
  }
  const { components } = document;
  return {
    ...document,
    components: {
      ...components,
      schemas: { ...components?.schemas, Error: errorSchema },
      responses: { ...components?.responses, Error: errorResponse },
    },
  };
}
