import Fastify, { type FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { errors } from '#api/edge/errors/errors.ts';
import { strictJson } from '#api/edge/json/strict-json.ts';
import { validation } from '#api/edge/json/validation.ts';
import { edgeLogOptions } from '#api/edge/log-options.ts';
import { type RequestIdOptions, requestId } from '#api/edge/request-id.ts';
import { type SecurityHeadersOptions, securityHeaders } from '#api/edge/security-headers.ts';
import { type EdgeServerOptions, edgeServerOptions } from '#api/edge/server-options.ts';
import { shutdown } from '#api/edge/shutdown.ts';

export type EdgeApp = { app: FastifyInstance; logLines: () => Record<string, unknown>[]; logText: () => string };

/** A server with the plugins of the edge, without the domain. The test adds its routes. */
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
