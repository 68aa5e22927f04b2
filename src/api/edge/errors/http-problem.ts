/**
 * A refusal which only HTTP knows (wrong content type, wrong method, wrong host), so that the domain's errors need no
 * kind for it. `message` is public and says what would be right.
 */
export class HttpProblem extends Error {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(
    statusCode: number,
    message: string,
    options: { headers?: Record<string, string>; details?: Record<string, unknown>; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'HttpProblem';
    this.statusCode = statusCode;
    this.headers = options.headers ?? {};
    this.details = options.details;
  }
}
