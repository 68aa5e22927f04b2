import type { FastifyRequest } from 'fastify';
import { isConcurrentConflict } from '#database/errors.ts';
import type { ErrorCode } from '#domain/error-codes.ts';
import { type ErrorDetails, type ErrorKind, type NamedProblem, ServiceError } from '#domain/shared/errors.ts';
import { SealUnopened } from '#domain/shared/secrets.ts';
import { jsonBodyLimit, unsupportedMediaType } from '../json/strict-json.ts';
import { HttpProblem } from './http-problem.ts';
import { isDependencyUnavailable } from './unavailability.ts';

/** The answer to an error, and the facts for its log entry. */
export interface ErrorAnswer {
  readonly status: number;
  readonly code: ErrorCode;
  readonly body: { readonly error: string; readonly outcome?: 'unknown' };
  /** The single problems, if there may be several. */
  readonly errors?: readonly NamedProblem[];
  readonly headers: Readonly<Record<string, string>>;
  readonly log: 'nothing' | 'warning' | 'failure';
}

/** The codes of errors that belong to HTTP or to the framework. */
const codeOfStatus: Readonly<Record<number, ErrorCode>> = {
  401: 'unauthenticated',
  403: 'permission_denied',
  404: 'not_found',
  405: 'method_not_allowed',
  406: 'not_acceptable',
  413: 'too_large',
  415: 'unsupported_media_type',
  421: 'wrong_host',
  429: 'rate_limited',
  500: 'internal_error',
  503: 'unavailable',
};

function codeOf(status: number): ErrorCode {
  return codeOfStatus[status] ?? 'invalid_request';
}

/** (specification, *Errors*) */
const statusOfKind: Readonly<Record<ErrorKind, number>> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  notFound: 404,
  conflict: 409,
  tooLarge: 413,
  unprocessable: 422,
  limited: 429,
  unavailable: 503,
};

/** The answers to Fastify's own errors. */
const frameworkAnswers: Readonly<Record<string, (request: FastifyRequest) => ErrorAnswer>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: (request) => plain(413, `the body is larger than ${describeLimit(request)}`),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: (request) => ofHttpProblem(unsupportedMediaType(request)),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () => plain(400, 'the body is not as long as Content-Length says'),
  FST_ERR_BAD_URL: () => plain(400, 'the path is not a valid URL: a percent sign must be followed by two hex digits'),
  FST_ERR_MAX_PARAM_LENGTH: () => plain(414, 'a part of the path is too long'),
  FST_ERR_NOT_FOUND: () => unknownPath,
  FST_ERR_HANDLER_TIMEOUT: () => ({ ...plain(503, 'the request took too long'), log: 'failure' }),
};

export const unknownPath: ErrorAnswer = plain(404, 'there is nothing at this path; /api/docs lists every operation');

/** Changes the answer to an error on one route, whose specified errors differ from those of all other routes. */
export type AdaptErrorAnswer = (answer: ErrorAnswer, error: unknown) => AdaptedErrorAnswer;

/** An answer whose body may have another shape than `{ error: message }`. */
export type AdaptedErrorAnswer = Pick<ErrorAnswer, 'status' | 'headers' | 'code'> & { readonly body: object };

/** The answer to an error. An unexpected error is answered as `internal error` without details (specification, *Errors*). */
export function answerError(error: unknown, request: FastifyRequest): ErrorAnswer {
  if (error instanceof ServiceError) return ofServiceError(error);
  if (error instanceof HttpProblem) return ofHttpProblem(error);
  if (error instanceof SealUnopened) return secretUnreadable;
  const { code, statusCode } = Object(error) as { code?: unknown; statusCode?: unknown };
  const framework = typeof code === 'string' ? frameworkAnswers[code] : undefined;
  if (framework) return framework(request);
  if (statusCode === 400 && code === 'ECONNRESET')
    return plain(400, 'the connection closed before the request was complete');
  if (isDependencyUnavailable(error)) return dependencyUnavailable;
  if (isConcurrentConflict(error)) return concurrentConflict;
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) return ofPluginError(statusCode);
  return { ...plain(500, 'internal error'), log: 'failure' };
}

const dependencyUnavailable: ErrorAnswer = {
  ...plain(503, 'a required service is unavailable: try again', { 'retry-after': '1' }),
  log: 'failure',
};

/** A retry helps only after the operator has acted, so there is no `Retry-After`. */
const secretUnreadable: ErrorAnswer = { ...plain(503, SealUnopened.advice), code: 'key_ring_unusable', log: 'failure' };

const concurrentConflict: ErrorAnswer = {
  ...plain(
    409,
    'the change conflicts with another change made at the same time: read the resource again, then repeat the change',
  ),
  code: 'concurrent_change',
  log: 'warning',
};

function ofServiceError(error: ServiceError): ErrorAnswer {
  const status = statusOfKind[error.kind];
  return {
    status,
    code: error.code,
    ...describe(error.message, error.details),
    headers: error.retryAfter === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(error.retryAfter))) },
    log: status >= 500 ? 'failure' : 'nothing',
  };
}

function ofHttpProblem(problem: HttpProblem): ErrorAnswer {
  const { statusCode: status, message, headers } = problem;
  return {
    status,
    code: codeOf(status),
    body: { error: message },
    headers,
    log: status >= 500 ? 'failure' : 'nothing',
  };
}

/** An error of a Fastify plugin. Its message may contain internals, so the answer says only what its status means. */
function ofPluginError(status: number): ErrorAnswer {
  const messages: Readonly<Record<number, string>> = {
    403: 'permission denied',
    404: unknownPath.body.error,
    408: 'the request took too long to arrive',
    429: 'too many requests: slow down',
  };
  return plain(status, messages[status] ?? 'the request is not valid');
}

function describe(message: string, { errors, outcome }: ErrorDetails = {}): Pick<ErrorAnswer, 'body' | 'errors'> {
  return { body: { error: message, ...(outcome && { outcome }) }, ...(errors && { errors }) };
}

function plain(status: number, error: string, headers: Record<string, string> = {}): ErrorAnswer {
  return { status, code: codeOf(status), body: { error }, headers, log: 'nothing' };
}

function describeLimit(request: FastifyRequest): string {
  const { bodyLimit } = request.routeOptions;
  const bytes = bodyLimit ?? jsonBodyLimit;
  return bytes % (1024 * 1024) === 0 ? `${bytes / 1024 / 1024} MiB` : `${Math.floor(bytes / 1024)} KiB`;
}
