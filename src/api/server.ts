import cookie from '@fastify/cookie';
import Fastify, { type FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import { release } from '#domain/shared/release.ts';
import { operations } from './operations/index.ts';
import { registerOperations } from './pipeline.ts';
import { docs } from './plugins/docs.ts';
import { errors } from './plugins/errors.ts';
import { health } from './plugins/health.ts';
import { httpMetrics } from './plugins/metrics.ts';
import { rateLimit } from './plugins/rate-limit.ts';
import type { Readiness } from './plugins/readiness.ts';
import { requestId } from './plugins/request-id.ts';
import { securityHeaders } from './plugins/security-headers.ts';
import { edgeServerOptions } from './plugins/server-options.ts';
import { shutdown } from './plugins/shutdown.ts';
import { strictJson } from './plugins/strict-json.ts';
import { validation } from './plugins/validation.ts';
import type { Services } from './services.ts';
import { sendErrorPage } from './web/error-page.ts';
import { registerPages } from './web/pages.ts';

/** What watches the API rather than being part of it. */
export interface Observation {
  readonly readiness: Readiness;
  readonly registry: Registry;
}

/** The API as a Fastify instance, apart from any listening socket. */
export async function buildServer(services: Services, { readiness, registry }: Observation): Promise<FastifyInstance> {
  const { config, log } = services;
  const app = Fastify(edgeServerOptions({ logger: log, trustedProxies: config.trustedProxies }));
  await app.register(requestId, { principalIdOf: (request) => request.principal?.id });
  await app.register(strictJson);
  await app.register(errors, { sendPage: sendErrorPage });
  await app.register(securityHeaders, { baseUrl: config.baseUrl });
  await app.register(shutdown);
  await app.register(validation);
  await app.register(httpMetrics, { registry });
  await app.register(rateLimit, { orm: services.orm, limits: config.limits });
  await app.register(health, { readiness });
  await app.register(docs, { version: release });
  await app.register(cookie);
  registerOperations(app, operations, services);
  await registerPages(app, { operations, services });
  return app;
}
