import { Socket } from 'node:net';
import type { Pool, PoolClient } from 'pg';

/**
 * Keeps broken connections from using up a pool. The query builder gives a connection back only after a commit or a
 * rollback that succeeded: one that breaks before that would hold its place for ever, and one restart of the database
 * could leave a pool of nothing else. A connection in use that stays silent for `answerWithinMs` counts as broken.
 */
export function guardPool(pool: Pool, answerWithinMs: number): void {
  const inUse = new Set<PoolClient>();
  pool.on('acquire', (client) => inUse.add(client));
  pool.on('release', (_error, client) => inUse.delete(client));
  pool.on('connect', (client) => {
    client.once('end', () => inUse.has(client) && giveBack(client));
    const { stream } = client.connection;
    if (stream instanceof Socket) stream.setTimeout(answerWithinMs, () => inUse.has(client) && stream.destroy());
  });
}

/** For the pool to drop. Whoever still has the connection gives it back once more, which must do no harm. */
function giveBack(client: PoolClient): void {
  client.release(true);
  client.release = () => undefined;
}
