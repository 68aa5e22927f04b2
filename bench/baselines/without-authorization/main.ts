import cookie from '@fastify/cookie';
import Fastify from 'fastify';
import pino from 'pino';
import { createMetricsRegistry, httpMetrics } from '#api/edge/admin/metrics.ts';
import { errors } from '#api/edge/errors/errors.ts';
import { strictJson } from '#api/edge/json/strict-json.ts';
import { validation } from '#api/edge/json/validation.ts';
import { edgeLogOptions } from '#api/edge/log-options.ts';
import { requestId } from '#api/edge/request-id.ts';
import { securityHeaders } from '#api/edge/security-headers.ts';
import { edgeServerOptions } from '#api/edge/server-options.ts';
import { operations } from '#api/operations.ts';
import { loadConfig } from '#config';
import { anonymous } from '#domain/shared/access/principal.ts';
import { openDatabase } from '#open-database';

/**
 * `GET /runs/{id}` as the service answers it, and a read of one row, in a process like the API's with the same edge and the
 * same pool; but whoever asks is neither found out nor decided about.
 */
const config = loadConfig();
const orm = openDatabase(config);
const app = Fastify(edgeServerOptions({ logger: pino({ level: config.logLevel, ...edgeLogOptions }) }));
await app.register(requestId, {});
await app.register(strictJson);
await app.register(errors, {});
await app.register(securityHeaders, { baseUrl: config.baseUrl });
await app.register(validation);
await app.register(httpMetrics, { registry: createMetricsRegistry() });
await app.register(cookie);

const getRun = operations.find(({ id }) => id === 'runs.get');
if (getRun?.kind !== 'read') throw new Error('there is no operation runs.get to compare with');
const { params, responses, target: find, handle } = getRun;
app.get('/api/v1/runs/:id', { schema: { params, response: responses } }, async (request) => {
  const call = { em: orm.em.fork(), params: request.params, query: {}, body: undefined };
  const target = await find?.({ ...call, callerId: anonymous.id, lock: false });
  return handle({ ...call, target } as Parameters<typeof handle>[0]);
});
app.get('/api/v1/rows/:id', async (request) => {
  const { id } = request.params as { id: string };
  return (await orm.em.fork().execute('select id, team_id from runs where id = ?', [id]))[0];
});

const url = await app.listen({ host: '127.0.0.1', port: 0 });
process.once('disconnect', () => void app.close().then(() => orm.close()));
process.send?.({ url });
