import Fastify, { type FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { errors } from '#api/plugins/errors.ts';
import { edgeLogOptions } from '#api/plugins/log-options.ts';
import { type RequestIdOptions, requestId } from '#api/plugins/request-id.ts';
import { type SecurityHeadersOptions, securityHeaders } from '#api/plugins/security-headers.ts';
import { type EdgeServerOptions, edgeServerOptions } from '#api/plugins/server-options.ts';
import { shutdown } from '#api/plugins/shutdown.ts';
import { strictJson } from '#api/plugins/strict-json.ts';
import { validation } from '#api/plugins/validation.ts';

export type EdgeApp = { app: FastifyInstance; logLines: () => Record<string, unknown>[]; logText: () => string };

/** A small server with the plugins of the edge and no domain: routes are the test's. */
export async function createEdgeApp(
  addRoutes: (app: FastifyInstance) => void | Promise<void>,
  options: Omit<EdgeServerOptions, 'logger'> & RequestIdOptions & SecurityHeadersOptions = {},
): Promise<EdgeApp> {
  const chunks: string[] = [];
  const logger = pino({ ...edgeLogOptions, level: 'trace' }, { write: (line: string) => void chunks.push(line) });
  const app = Fastify(edgeServerOptions({ ...options, logger }));
  await app.register(requestId, options);
  await app.register(strictJson);
  await app.register(errors);
  await app.register(securityHeaders, options);
  await app.register(shutdown);
  await app.register(validation);
  await addRoutes(app);
  return { app, logText: () => chunks.join(''), logLines: () => chunks.map((line) => JSON.parse(line)) };
}

export const jsonType = { 'content-type': 'application/json' };
