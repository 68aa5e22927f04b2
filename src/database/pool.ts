import { Socket } from 'node:net';
import type { CustomTypesConfig, Pool, PoolClient } from 'pg';

/** The numbers of the types `json` and `jsonb`. */
const jsonTypes = [114, 3802];

/** Lets a function read the columns of JSON. The driver's own changes numbers that a JavaScript number cannot hold. */
export function readJsonBy(parse: (text: string) => unknown, { options }: Pool): void {
  const { types: others } = options;
  if (!others) throw new Error('the pool has no parsers of its own');
  const getTypeParser: CustomTypesConfig['getTypeParser'] = (type, format) =>
    jsonTypes.includes(type) && format !== 'binary' ? parse : others.getTypeParser(type, format);
  options.types = { getTypeParser };
}

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

/**
 * Lets PostgreSQL compile no statement. It compiles those that it expects to be costly, and expects that of lists, whose conditions it cannot estimate: compiling
 * one takes seconds, and executing it a millisecond. It is no harm if this fails.
 */
export function avoidCompiling(pool: Pool): void {
  pool.on('connect', (client) => void client.query('set jit = off').catch(() => undefined));
}

/** Lets the pool drop the connection. The code that uses it releases it once more, which must have no effect. */
function releaseBroken(client: PoolClient): void {
  client.release(true);
  client.release = () => undefined;
}
