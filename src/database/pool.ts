import { Socket } from 'node:net';
import type { Pool, PoolClient } from 'pg';

/**
 * Keeps broken connections from filling the pool. A connection that breaks inside a transaction might never be released, and
 * one restart of the database could leave a pool of nothing else. So a connection that breaks while it is in use is released
 * here. One in use that receives nothing for `answerWithinMs` counts as broken.
 */
export function guardPool(pool: Pool, answerWithinMs: number): void {
  const inUse = new Set<PoolClient>();
  pool.on('acquire', (client) => inUse.add(client));
  pool.on('release', (_error, client) => inUse.delete(client));
  pool.on('connect', (client) => {
    client.once('end', () => inUse.has(client) && releaseBroken(client));
    const { stream } = client.connection;
    if (stream instanceof Socket) stream.setTimeout(answerWithinMs, () => inUse.has(client) && stream.destroy());
  });
}

/** Lets the pool drop the connection. The code that uses it releases it once more, which must have no effect. */
function releaseBroken(client: PoolClient): void {
  client.release(true);
  client.release = () => undefined;
}
