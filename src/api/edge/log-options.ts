import type { FastifyBaseLogger, FastifyRequest } from 'fastify';
import type { LoggerOptions } from 'pino';
import { logOptions } from '#domain/shared/logging/log-options.ts';

/** The options of the API's logger. Requests are logged without their headers and addresses. */
export const edgeLogOptions = {
  ...logOptions,
  serializers: {
    ...logOptions.serializers,
    req: (request: FastifyRequest) => ({ method: request.method, route: request.routeOptions?.url }),
    res: (reply: { statusCode?: number }) => ({ status: reply.statusCode }),
  },
} satisfies LoggerOptions;

/** Logs a failure of the service, with the support id that the client got. */
export function logFailure(log: FastifyBaseLogger, error: unknown, supportId: string, message: string): void {
  log.error({ err: error, support_id: supportId }, message);
}
