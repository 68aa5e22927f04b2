import { Socket } from 'node:net';
import type { CustomTypesConfig, Pool, PoolClient } from 'pg';

/** The type numbers of `json` and `jsonb`. */
const jsonTypes = [114, 3802];

/** Sets the function that parses JSON columns. The driver's own function changes numbers that a JavaScript number cannot represent. */
export function readJsonBy(parse: (text: string) => unknown, { options }: Pool): void {
  const { types: others } = options;
  if (!others) throw new Error('the pool has no parsers of its own');
  const getTypeParser: CustomTypesConfig['getTypeParser'] = (type, format) =>
    jsonTypes.includes(type) && format !== 'binary' ? parse : others.getTypeParser(type, format);
  options.types = { getTypeParser };
}

/**
 * Keeps broken connections from filling the pool. A connection that breaks inside a transaction might never be released, so after one
 * restart of the database, a pool could contain nothing else. A connection that breaks while it is in use is therefore released here. One
 * in use that receives nothing for `answerWithinMs` counts as broken.
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
 * Turns off PostgreSQL's compilation of statements. PostgreSQL compiles statements that it expects to be costly, which includes lists,
 * because it cannot estimate their conditions. Compiling one takes seconds, and executing it a millisecond. If this fails, it does no harm.
 */
export function avoidCompiling(pool: Pool): void {
  pool.on('connect', (client) => void client.query('set jit = off').catch(() => undefined));
}

/** Makes the pool drop the connection. The code that uses it will release it once more, which must have no effect. */
function releaseBroken(client: PoolClient): void {
  client.release(true);
  client.release = () => undefined;
}
