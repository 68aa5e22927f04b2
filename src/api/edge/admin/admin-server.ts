import Fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyRequest } from 'fastify';
import type { Registry } from 'prom-client';
import { hasBearerToken } from '#domain/shared/bearer-token.ts';
import { Unauthenticated } from '#domain/shared/errors.ts';
import { errors } from '../errors/errors.ts';
import { HttpProblem } from '../errors/http-problem.ts';
import { strictJson } from '../json/strict-json.ts';
import { validation } from '../json/validation.ts';
import { requestId } from '../request-id.ts';
import { securityHeaders } from '../security-headers.ts';
import { edgeServerOptions } from '../server-options.ts';
import { shutdown } from '../shutdown.ts';
import { addLivenessRoutes } from './health.ts';
import type { Readiness } from './readiness.ts';

export type AdminServerOptions = {
  logger: FastifyBaseLogger;
  readiness: Readiness;
  /** The versions of the service, of Node and of the API. */
  versions: Readonly<Record<string, string>>;
  /** Current figures of pools and queues, by name. */
  figures?: () => Readonly<Record<string, number>>;
  /** The registry of the metrics; null if metrics are disabled. */
  registry: Registry | null;
  /** The bearer token that reading the metrics requires, if set. */
  metricsBearerToken?: string | null;
};

const route = { config: { anyQuery: true, whileStopping: true } } as const;

/**
 * Builds the server for trusted networks: liveness, detailed readiness and metrics. It does not listen yet.
 * (specification, *Operational endpoints (outside /api/v1)*)
 */
export async function createAdminServer(options: AdminServerOptions): Promise<FastifyInstance> {
  const app = Fastify(edgeServerOptions({ logger: options.logger }));
  await app.register(requestId);
  await app.register(strictJson);
  await app.register(errors);
  await app.register(securityHeaders, { hosts: 'loopback' });
  await app.register(shutdown);
  await app.register(validation);
  addLivenessRoutes(app);
  addReadinessDetails(app, options);
  if (options.registry) addMetrics(app, options.registry, options.metricsBearerToken ?? null);
  return app;
}

function addReadinessDetails(app: FastifyInstance, { readiness, versions, figures }: AdminServerOptions): void {
  app.get('/readyz/internal', route, async (_request, reply) => {
    const report = await readiness.read();
    const failed = report.checks.filter((check) => !check.ok).map((check) => check.name);
    const details = { ...report, uptime_seconds: Math.round(process.uptime()), versions, figures: figures?.() ?? {} };
    if (report.ready) return details;
    return reply.code(503).send({ error: `not ready: ${failed.join(', ')}`, ...details });
  });
}

function addMetrics(app: FastifyInstance, registry: Registry, token: string | null): void {
  app.get('/metrics', route, async (request, reply) => {
    if (token !== null) requireBearer(request, token);
    return reply.type(registry.contentType).send(await registry.metrics());
  });
}

function requireBearer(request: FastifyRequest, token: string): void {
  if (hasBearerToken(request.headers.authorization, token)) return;
  const { message } = new Unauthenticated('the metrics need a bearer token');
  throw new HttpProblem(401, message, { headers: { 'www-authenticate': 'Bearer realm="metrics"' } });
}
