import type { LoggerOptions } from 'pino';
import { chainOf } from '#database/error-chain.ts';

/** An error as the log records it, without the values that drivers attach to their errors. */
export type LoggedError = { type: string; message: string; code?: string | number; constraint?: string; stack: string };

const maxMessageLength = 2_000;

/** MikroORM appends the database's detail to the message. It repeats the values of the row. */
const rowDetail = /\s+- (?:detail|hint|where): [\s\S]*$/;
/** PostgreSQL repeats a value of the wrong form in its message. */
const refusedValue = /^(invalid input (?:syntax|value) for [^:]+): [\s\S]*$/;

/**
 * The options of every logger of the service. Errors are logged without the members that libraries attach (statements,
 * parameters, response bodies), and fields with well-known names of secrets are removed.
 */
export const logOptions = {
  serializers: {
    err: describeError,
    error: describeError,
  },
  redact: {
    paths: ['authorization', 'cookie', 'password', 'token', 'secret', 'api_key']
      .flatMap((name) => [name, `*.${name}`, `headers["${name}"]`])
      .concat(['headers["x-api-key"]', 'headers["set-cookie"]', 'headers["x-service-bootstrap-token"]', '*.headers']),
    censor: '[redacted]',
  },
} satisfies LoggerOptions;

/** An error and its causes for the log. Messages are truncated, and stacks are reduced to their frames. */
export function describeError(error: unknown): LoggedError & { causes?: LoggedError[] } {
  const [first, ...causes] = chainOf(error).map(describeOne);
  if (!first) return { type: typeof error, message: 'a value that is not an error was thrown', stack: '' };
  return causes.length > 0 ? { ...first, causes } : first;
}

function describeOne(error: Error): LoggedError {
  const { code, constraint } = error as { code?: unknown; constraint?: unknown };
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return {
    type: error.name,
    message: error.message.replace(rowDetail, '').replace(refusedValue, '$1').slice(0, maxMessageLength),
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(typeof constraint === 'string' ? { constraint } : {}),
    stack: frames.slice(0, 30).join('\n'),
  };
}
