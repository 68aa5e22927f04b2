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
import type { ReadCall } from '#api/pipeline/call.ts';
import type { Erased, Operation } from '#api/pipeline/operation.ts';
import { loadConfig } from '#config';
import type { Em } from '#database/database.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { readPrincipals } from '#domain/shared/access/store.ts';
import { openDatabase } from '#open-database';

/**
 * Serves `GET /runs/{id}` with the service's own handler, edge and connection pool, but without authenticating the caller or
 * deciding about the access. The handler needs a caller, since its answer lists the caller's actions: it always gets the
 * administrator, who is read once at the start. `GET /rows/{id}` reads one row by its key.
 */
const config = loadConfig();
const orm = openDatabase(config);
const administrator = await readAdministrator(orm.em.fork());
const app = Fastify(edgeServerOptions({ logger: pino({ level: config.logLevel, ...edgeLogOptions }) }));
await app.register(requestId, {});
await app.register(strictJson);
await app.register(errors, {});
await app.register(securityHeaders, { baseUrl: config.baseUrl });
await app.register(validation);
await app.register(httpMetrics, { registry: createMetricsRegistry() });
await app.register(cookie);

const getRun = operations.find(({ id }) => id === 'runs.get');
if (getRun?.kind !== 'read') throw new Error('there is no read operation runs.get');
const { params, responses, target: find, handle } = getRun;

/** Everything that a handler gets, but for what this process does not have. */
type HandlerCall = Omit<ReadCall<Erased, Erased, Erased, Erased, Operation>, 'services' | 'request'>;

app.get('/api/v1/runs/:id', { schema: { params, response: responses } }, async (request) => {
  const parts = { em: orm.em.fork(), params: request.params, query: {}, body: undefined };
  const target = await find?.({ ...parts, callerId: administrator.id, lock: false });
  const call: HandlerCall = { ...parts, target, operations, principal: administrator, key: '' };
  return handle(call);
});
app.get('/api/v1/rows/:id', async (request) => {
  const { id } = request.params as { id: string };
  return (await orm.em.fork().execute('select id, team_id from runs where id = ?', [id]))[0];
});

const url = await app.listen({ host: '127.0.0.1', port: 0 });
process.once('disconnect', () => void app.close().then(() => orm.close()));
process.send?.({ url });

/** @throws Error where the installation has no administrator */
async function readAdministrator(em: Em): Promise<Principal> {
  const rows = await em.execute<{ id: string }[]>(`select id from principals where kind = 'user' and role = 'admin'`);
  const principals = await readPrincipals(
    em,
    rows.map(({ id }) => id),
  );
  const [first] = principals.values();
  if (!first) throw new Error('the installation has no administrator');
  return first;
}
