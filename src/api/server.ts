import cookie from '@fastify/cookie';
import Fastify, { type FastifyInstance } from 'fastify';
import { operations } from './operations/index.ts';
import { registerOperations } from './pipeline.ts';
import { errors } from './plugins/errors.ts';
import { requestId } from './plugins/request-id.ts';
import { securityHeaders } from './plugins/security-headers.ts';
import { edgeServerOptions } from './plugins/server-options.ts';
import { shutdown } from './plugins/shutdown.ts';
import { strictJson } from './plugins/strict-json.ts';
import { validation } from './plugins/validation.ts';
import type { Services } from './services.ts';

/** The API as a Fastify instance, apart from any listening socket. */
export async function buildServer(services: Services): Promise<FastifyInstance> {
  const { config, log } = services;
  const app = Fastify(edgeServerOptions({ logger: log, trustedProxies: config.trustedProxies }));
  await app.register(strictJson);
  await app.register(validation);
  await app.register(requestId, { principalIdOf: (request) => request.principal?.id });
  await app.register(errors);
  await app.register(shutdown);
  await app.register(securityHeaders, { baseUrl: config.baseUrl });
  await app.register(cookie);
  registerOperations(app, operations, services);
  return app;
}
