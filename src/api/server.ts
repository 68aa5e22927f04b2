import cookie from '@fastify/cookie';
import Fastify, { type FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import { describeApi } from '#api/document/document.ts';
import { health } from '#api/edge/admin/health.ts';
import { httpMetrics } from '#api/edge/admin/metrics.ts';
import type { Readiness } from '#api/edge/admin/readiness.ts';
import { docs } from '#api/edge/docs/docs.ts';
import { errors } from '#api/edge/errors/errors.ts';
import { strictJson } from '#api/edge/json/strict-json.ts';
import { validation } from '#api/edge/json/validation.ts';
import { rateLimit } from '#api/edge/limits/rate-limit.ts';
import { requestId } from '#api/edge/request-id.ts';
import { securityHeaders } from '#api/edge/security-headers.ts';
import { edgeServerOptions } from '#api/edge/server-options.ts';
import { shutdown } from '#api/edge/shutdown.ts';
import { signInAgainPage } from '#api/identity/pages/login-pages.ts';
import { registerOperations } from '#api/pipeline/pipeline.ts';
import { release } from '#domain/shared/installation/release.ts';
import { operations, tags } from './operations.ts';
import { navigation, registerPages } from './pages.ts';
import type { Services } from './services.ts';
import { errorPageSender } from './web/error-page.ts';

/** The readiness checks and metrics of the API. */
export interface Observation {
  readonly readiness: Readiness;
  readonly registry: Registry;
}

let document: ReturnType<typeof describeApi> | undefined;

/** The document is the same for all servers of a process, and made when somebody first asks for it. */
function describe(): ReturnType<typeof describeApi> {
  document ??= describeApi(operations, release, tags);
  return document;
}

/** Builds the API as a Fastify instance that does not listen yet. */
export async function buildServer(services: Services, { readiness, registry }: Observation): Promise<FastifyInstance> {
  const { config, log } = services;
  const sendPage = errorPageSender({ operations, navigation }, (request, next) =>
    signInAgainPage(services, request, next),
  );
  const app = Fastify(edgeServerOptions({ logger: log, trustedProxies: config.trustedProxies, sendPage }));
  await app.register(requestId, { principalIdOf: (request) => request.principal?.id });
  await app.register(strictJson);
  await app.register(errors, { sendPage });
  await app.register(securityHeaders, { baseUrl: config.baseUrl });
  await app.register(shutdown);
  await app.register(validation);
  await app.register(httpMetrics, { registry });
  await app.register(rateLimit, { orm: services.orm, limits: config.limits });
  await app.register(health, { readiness });
  await app.register(docs, { describe });
  await app.register(cookie);
  registerOperations(app, operations, services);
  await registerPages(app, { operations, services });
  return app;
}
