import type { FastifyInstance, FastifyReply } from 'fastify';
import fp from 'fastify-plugin';
import type { Readiness } from './readiness.ts';

export type HealthOptions = { readiness: Readiness };

/** Probes may use any host name and query. They need no credential, and are answered while the server stops. */
const probe = { config: { anyHost: true, anyQuery: true, whileStopping: true } } as const;

/**
 * `/health` and `/healthz` answer if the process is alive; `/readyz` answers if its dependencies are ready, by name only:
 * details are on the admin listener. (specification, *Operational endpoints (outside /api/v1)*)
 */
export const health = fp<HealthOptions>(
  async (app, { readiness }) => {
    addLivenessRoutes(app);
    app.get('/readyz', probe, async (_request, reply) => sendReadiness(app, readiness, reply));
  },
  { name: 'health', fastify: '5.x', dependencies: ['errors', 'security-headers', 'shutdown'] },
);

export function addLivenessRoutes(app: FastifyInstance): void {
  for (const path of ['/health', '/healthz']) app.get(path, probe, async () => ({ status: 'ok' }));
}

async function sendReadiness(app: FastifyInstance, readiness: Readiness, reply: FastifyReply): Promise<FastifyReply> {
  if (app.stopping.aborted)
    return reply.code(503).send({ error: 'not ready: the service is stopping', status: 'stopping' });
  const report = await readiness.read();
  const checks = Object.fromEntries(report.checks.map(({ name, ok }) => [name, ok ? 'ok' : 'failed']));
  const { ready, status } = report;
  if (ready) return reply.send({ status, checks });
  const failed = report.checks.filter((check) => !check.ok).map((check) => check.name);
  return reply.code(503).send({ error: `not ready: ${failed.join(', ')}`, status, checks });
}
