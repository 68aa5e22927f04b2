import type { OpenAPIV3_1 } from 'openapi-types';
import type { z } from 'zod';
import { hostSessionCookie, sessionCookie } from '#api/edge/cookies.ts';
import { isPublic, type Operation, routeOf } from '#api/pipeline/operation.ts';
import { errorResponses, errorSchemas, errorsOf } from './errors.ts';
import { parametersOf } from './parameters.ts';
import { DocumentSchemas } from './schemas.ts';
import { successesOf } from './successes.ts';
import { tagOf } from './tags.ts';
import { describeWebhooks } from './webhooks.ts';

const securitySchemes = {
  sessionCookie: {
    type: 'apiKey',
    in: 'cookie',
    name: sessionCookie,
    description:
      'The session of a signed-in browser. Requests that change something must come from the same origin. Except on the machine itself, ' +
      `its name is \`${hostSessionCookie}\`.`,
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

/** A group of operations with its description. */
interface Tag {
  readonly name: string;
  readonly about: string;
}

/** Makes the OpenAPI 3.1 document of the operations from their declarations alone. @param tags in the order of the reference */
export function describeApi(
  operations: readonly Operation[],
  release: string,
  tags: readonly Tag[],
): OpenAPIV3_1.Document {
  const schemas = new DocumentSchemas();
  const paths: Record<string, Record<string, OpenAPIV3_1.OperationObject>> = {};
  for (const operation of operations) {
    const { method, path } = routeOf(operation);
    const template = path.replaceAll(/:(\w+)/g, '{$1}');
    paths[template] = { ...paths[template], [method.toLowerCase()]: describeOperation(operation, schemas) };
  }
  const webhooks = describeWebhooks(operations, schemas);
  return {
    openapi: '3.1.0',
    info: {
      title: 'delivery-coordinator',
      version: release,
      description: 'Runs, approvals, logs and state of governed delivery. Errors are `{ "error": "message" }`.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'This server' }],
    tags: describeTags(operations, tags),
    security: [{ sessionCookie: [] }, { bearer: [] }, { apiKey: [] }],
    paths: paths as OpenAPIV3_1.PathsObject,
    webhooks,
    components: {
      securitySchemes,
      responses: { ...errorResponses },
      schemas: sortByName({ ...schemas.components, ...errorSchemas }),
    },
  };
}

/** The groups that the operations belong to, in the order of `tags`. */
function describeTags(operations: readonly Operation[], tags: readonly Tag[]): OpenAPIV3_1.TagObject[] {
  const used = new Set(operations.map(tagOf));
  return tags.filter(({ name }) => used.has(name)).map(({ name, about }) => ({ name, description: about }));
}

function describeOperation(operation: Operation, schemas: DocumentSchemas): OpenAPIV3_1.OperationObject {
  const { id, summary, description, body, access, moreAbout } = operation;
  return {
    operationId: id,
    tags: [tagOf(operation)],
    summary,
    ...(description && { description }),
    ...(moreAbout && { externalDocs: { description: 'How to ask, with examples', url: moreAbout } }),
    parameters: parametersOf(operation, schemas) as OpenAPIV3_1.ParameterObject[],
    ...(body && { requestBody: describeBody(body, schemas) }),
    responses: { ...errorsOf(operation), ...successesOf(operation, schemas) },
    ...(isPublic(access) && { security: [] }),
  };
}

/** A body is optional if its schema accepts that there is none. */
function describeBody(body: z.ZodType, schemas: DocumentSchemas): OpenAPIV3_1.RequestBodyObject {
  return {
    required: !body.safeParse(undefined).success,
    content: { 'application/json': { schema: schemas.describe(body) } },
  };
}

function sortByName<Value>(values: Record<string, Value>): Record<string, Value> {
  return Object.fromEntries(Object.entries(values).sort(([one], [other]) => (one < other ? -1 : 1)));
}
