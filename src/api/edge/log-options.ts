import type { FastifyBaseLogger, FastifyRequest } from 'fastify';
import type { LoggerOptions } from 'pino';
import { logOptions } from '#domain/shared/logging/log-options.ts';

/** The options of the API's logger, which also logs requests: without their headers and addresses. */
export const edgeLogOptions = {
  ...logOptions,
  serializers: {
    ...logOptions.serializers,
    req: (request: FastifyRequest) => ({ method: request.method, route: request.routeOptions?.url }),
    res: (reply: { statusCode?: number }) => ({ status: reply.statusCode }),
  },
} satisfies LoggerOptions;

/** The one place where a failure is written down; `support_id` is what the client was told. */
export function logFailure(log: FastifyBaseLogger, error: unknown, supportId: string, message: string): void {
  log.error({ err: error, support_id: supportId }, message);
}
