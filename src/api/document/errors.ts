import type { OpenAPIV3_1 } from 'openapi-types';
import { isNegotiated } from '#api/pipeline/headers/media-types.ts';
import type { Operation } from '#api/pipeline/operation.ts';
import { errorCodes } from '#domain/error-codes.ts';

type Response = OpenAPIV3_1.ResponseObject;

const text = { type: 'string' } as const;

const errorCode = { $ref: '#/components/schemas/ErrorCode' } as const;

export const errorSchemas: Readonly<Record<string, OpenAPIV3_1.SchemaObject>> = {
  Error: {
    type: 'object',
    description: 'What was wrong, and what would be right.',
    required: ['error'],
    properties: { error: { type: 'string', examples: ['run was not found'] } },
  },
  ErrorCode: {
    type: 'string',
    description: 'Which rule was broken. A code never changes, while the message may.',
    enum: Object.keys(errorCodes),
  },
  Problem: {
    type: 'object',
    description: 'An error as RFC 9457 has it, for clients that accept `application/problem+json` rather than JSON.',
    required: ['type', 'status', 'detail', 'code'],
    properties: {
      type: text,
      title: text,
      status: { type: 'integer', minimum: 400, maximum: 599 },
      detail: { type: 'string', description: 'Everything that is wrong, and what would be right.' },
      code: errorCode,
      errors: {
        type: 'array',
        description: 'Each thing that is wrong, if there may be several.',
        items: {
          type: 'object',
          required: ['path', 'message'],
          properties: {
            in: { type: 'string', enum: ['body', 'query', 'path', 'header'] },
            path: { type: 'string', description: 'Empty: the problem is none of one field.' },
            message: text,
            file: { type: 'string', description: 'Of a version that cannot be published: the file at fault.' },
            line: { type: 'integer', minimum: 1, description: 'The line in that file.' },
            scope: { type: 'string', description: 'Of a quota that is used up, as `id`, `kind`, `limit` and `used`.' },
            id: { anyOf: [{ type: 'string', format: 'uuid' }, { const: 'global' }] },
            kind: text,
            limit: { type: 'integer' },
            used: { type: 'integer' },
          },
        },
      },
      outcome: { type: 'string', enum: ['unknown'] },
    },
  },
  Unavailable: {
    type: 'object',
    required: ['error'],
    properties: {
      error: text,
      outcome: {
        type: 'string',
        enum: ['unknown'],
        description:
          'The command may have been carried out: read `GET /api/v1/commands/outcome` with its key instead of sending it again.',
      },
    },
  },
};

const common = {
  'X-Error-Code': { description: 'Which rule was broken, for programs.', schema: errorCode },
  'X-Request-ID': { description: 'Names this request in logs and in the audit.', schema: text },
};
const retryAfter = {
  'Retry-After': { description: 'Seconds after which to try again.', schema: { type: 'integer', minimum: 1 } },
} as const;
const supportId = { 'X-Support-ID': { description: 'Finds the log line of this failure.', schema: text } };

function respond(description: string, schema = 'Error', headers: Response['headers'] = {}): Response {
  return {
    description,
    headers: { ...common, ...headers },
    content: {
      'application/json': { schema: { $ref: `#/components/schemas/${schema}` } },
      'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
    },
  };
}

const errorsByStatus = {
  400: ['BadRequest', respond('The request is malformed, or a field of it is wrong.')],
  401: [
    'Unauthorized',
    respond('The request has no valid credential.', 'Error', {
      'WWW-Authenticate': { description: 'How to authenticate (RFC 9110).', schema: text },
    }),
  ],
  403: [
    'Forbidden',
    respond('You may not do this. The page about `can-i` says how to ask what you may do.', 'Error', {
      Link: { description: 'The page about `can-i`, with `rel="help"`.', schema: text },
    }),
  ],
  404: ['NotFound', respond('There is no such thing, or you may not know of it.')],
  405: [
    'MethodNotAllowed',
    respond('The path has other methods.', 'Error', {
      Allow: { description: 'The methods that the path has.', schema: text },
    }),
  ],
  406: ['NotAcceptable', respond('No media type that the request accepts can be answered.')],
  409: ['Conflict', respond('The state of things, a stale revision, or an earlier use of the key rules this out.')],
  413: ['ContentTooLarge', respond('The body is too large.')],
  415: ['UnsupportedMediaType', respond('The body is of another content type than application/json.')],
  422: ['Unprocessable', respond('The request is well formed, and what it says cannot be done.')],
  429: [
    'TooManyRequests',
    respond(
      'Too many requests, too many wrong guesses at a secret, or too much time for evaluating schemas.',
      'Error',
      retryAfter,
    ),
  ],
  500: ['InternalError', respond('The service failed.', 'Error', supportId)],
  503: [
    'Unavailable',
    respond('The database or the engine does not answer.', 'Unavailable', { ...retryAfter, ...supportId }),
  ],
} as const satisfies Record<number, readonly [string, Response]>;

type ErrorStatus = keyof typeof errorsByStatus;

export const errorResponses: Readonly<Record<string, Response>> = Object.fromEntries(Object.values(errorsByStatus));

/** The errors that an operation may answer. A response that the operation itself declares replaces the general one. */
export function errorsOf(operation: Operation): Record<string, OpenAPIV3_1.ReferenceObject> {
  const statuses = ([400, 401, 403, 429, 500, 503] as ErrorStatus[]).concat(
    operation.target || operation.params ? [404] : [],
    operation.body ? [413, 415, 422] : [],
    operation.kind === 'command' ? [404, 409, 422] : [],
    operation.kind === 'read' && operation.mayConflict ? [409] : [],
    isNegotiated(operation) ? [406] : [],
  );
  const answered = statuses.filter((status) => !isAdapted(operation, status));
  return Object.fromEntries(
    [...new Set(answered)]
      .sort()
      .map((status) => [String(status), { $ref: `#/components/responses/${errorsByStatus[status][0]}` }]),
  );
}

/** Whether the operation answers another status in place of this one. */
function isAdapted({ adaptErrorAnswer }: Operation, status: number): boolean {
  const answer = { status, code: 'invalid_request', body: { error: '' }, headers: {}, log: 'nothing' } as const;
  return adaptErrorAnswer !== undefined && adaptErrorAnswer(answer, undefined).status !== status;
}
