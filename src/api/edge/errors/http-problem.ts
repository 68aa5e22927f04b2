/**
 * An error of HTTP itself (wrong content type, wrong method, wrong host). The domain's errors have no such kinds. `message` is public and
 * says how to correct the request.
 */
export class HttpProblem extends Error {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    statusCode: number,
    message: string,
    options: { headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'HttpProblem';
    this.statusCode = statusCode;
    this.headers = options.headers ?? {};
  }
}
