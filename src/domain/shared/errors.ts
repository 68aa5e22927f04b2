import type { ErrorCode, RuleCode } from '#domain/error-codes.ts';

/**
 * The errors that rules raise. `message` is public: it names the field or the rule and says what would be right, and never contains
 * internals. `cause` is only for the log. The edge maps `kind` to a status (specification, *Errors*).
 */
export type ErrorKind =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'notFound'
  | 'conflict'
  | 'tooLarge'
  | 'unprocessable'
  | 'limited'
  | 'unavailable';

const codeOfKind: Readonly<Record<ErrorKind, ErrorCode>> = {
  invalid: 'invalid_request',
  unauthenticated: 'unauthenticated',
  forbidden: 'permission_denied',
  notFound: 'not_found',
  conflict: 'conflict',
  tooLarge: 'too_large',
  unprocessable: 'unprocessable',
  limited: 'rate_limited',
  unavailable: 'unavailable',
};

/** One problem of a request. Some problems have further members, which the OpenAPI document describes. */
export interface NamedProblem {
  readonly in?: string;
  /** Empty if the problem does not belong to one field. */
  readonly path: string;
  readonly message: string;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

/** What an error contains besides its message. */
export interface ErrorDetails {
  readonly errors?: readonly NamedProblem[];
  /** Set if the service does not know whether the command was carried out. */
  readonly outcome?: 'unknown';
}

export class ServiceError extends Error {
  readonly kind: ErrorKind;
  /** Identifies the broken rule for programs. */
  readonly code: ErrorCode;
  readonly details: ErrorDetails | undefined;
  /** Seconds after which a retry makes sense. Clients see it as `Retry-After`. */
  readonly retryAfter: number | undefined;

  constructor(
    kind: ErrorKind,
    message: string,
    options: { code?: ErrorCode; details?: ErrorDetails; retryAfter?: number; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.kind = kind;
    this.code = options.code ?? codeOfKind[kind];
    this.details = options.details;
    this.retryAfter = options.retryAfter;
  }
}

export class Invalid extends ServiceError {
  /** @param code identifies the rule that a request breaks which is otherwise well formed */
  constructor(message: string, details?: ErrorDetails, code: RuleCode = 'invalid_request') {
    super('invalid', message, { code, ...(details && { details }) });
  }
}

/** An error of one field of the body, in the same shape as the failed validation of a whole body. */
export function invalidField(field: string, problem: string): Invalid {
  const message = `${field}: ${problem}`;
  return new Invalid(message, { errors: [{ in: 'body', path: field, message }] });
}

export class Unauthenticated extends ServiceError {
  constructor(message = 'authentication is required: send a session token or an API key') {
    super('unauthenticated', message);
  }
}

/** The request has a wrong token or password. It counts as a guess (`limitGuesses` of operations). */
export class WrongSecret extends ServiceError {
  constructor(kind: 'invalid' | 'unauthenticated' | 'forbidden' | 'notFound', message: string) {
    super(kind, message);
  }
}

export class Forbidden extends ServiceError {
  constructor(message = 'permission denied') {
    super('forbidden', message);
  }
}

/** The settings have turned off the feature that the request uses. The message says why. */
export class FeatureDisabled extends ServiceError {
  constructor(message: string) {
    super('forbidden', message, { code: 'feature_disabled' });
  }
}

export class NotFound extends ServiceError {
  /** @param reason ends the message, as \`: it was removed\` */
  constructor(what: string, reason = '') {
    super('notFound', `${what} was not found${reason}`);
  }
}

/**
 * The resource does not exist, or the caller may not know that it exists. The answer is "not found", and the audit records a refusal. Use
 * `NotFound` for something missing in a resource that the caller may read.
 */
export class HiddenResource extends NotFound {}

/**
 * The body names something that does not exist, or that the caller may not know about. The answer reports an invalid field, and the audit
 * records a refusal.
 */
export class HiddenReference extends Invalid {
  constructor(field: string) {
    const message = `${field}: there is no such thing, or you may not read it`;
    super(message, { errors: [{ in: 'body', path: field, message }] });
  }
}

/**
 * A rule refuses the request because of the present state of a resource. Each rule has its own code, so that programs can distinguish the
 * rules.
 */
export class Conflict extends ServiceError {
  constructor(message: string, code: RuleCode) {
    super('conflict', message, { code });
  }
}

/** The content of a well-formed request breaks a rule. Each rule has its own code. */
export class Unprocessable extends ServiceError {
  constructor(message: string, options: { code: RuleCode; details?: ErrorDetails }) {
    super('unprocessable', message, options);
  }
}

/** A field of a request that is well formed, and whose value cannot be used. */
export interface RefusedField {
  readonly path: string;
  readonly problem: string;
}

/** The error for such fields: its message and its list name each of them. */
export function refuseFields(code: RuleCode, fields: readonly RefusedField[]): Unprocessable {
  const errors = fields.map(({ path, problem }) => ({ in: 'body', path, message: `${path}: ${problem}` }));
  return new Unprocessable(errors.map(({ message }) => message).join('; '), { code, details: { errors } });
}

export class Unavailable extends ServiceError {
  constructor(message: string, options: { details?: ErrorDetails; cause?: unknown } = {}) {
    super('unavailable', message, { ...options, retryAfter: 1 });
  }
}

/**
 * The error for a command when the service does not know whether the command was carried out. It says what to read, and does not advise
 * sending the command again. (specification, *Original-key outcome and command keys*, rule 7)
 * @param alsoRead where to read more than the outcome; by default, what to do without a key
 */
export function unknownOutcome(
  situation: string,
  {
    cause,
    alsoRead = 'without a key, what it was to change',
  }: { readonly cause?: unknown; readonly alsoRead?: string } = {},
): ServiceError {
  const outcome = 'GET /api/v1/commands/outcome with the Idempotency-Key of this request';
  const message = `${situation}: do not send it again, but read ${outcome}, and ${alsoRead}`;
  return new ServiceError('unavailable', message, { details: { outcome: 'unknown' }, cause });
}

/** The attempt is no longer the current one of its run: another one has begun, or the run has ended. Its writes are refused. */
export class AttemptSuperseded extends Error {
  constructor(attemptId: string) {
    super(`attempt ${attemptId} was superseded: its results are refused`);
    this.name = 'AttemptSuperseded';
  }
}
