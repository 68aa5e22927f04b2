import { hostname } from 'node:os';
import { type Config, loadConfig } from '#config';

const answerWithinMs = 5_000;

/**
 * Says whether the process of this container works, for orchestrators whose images have no HTTP client.
 * @returns null, or what is wrong in one sentence
 */
export async function findFault(process: 'api' | 'worker'): Promise<string | null> {
  const config = loadConfig();
  return process === 'api' ? findApiFault(config) : findWorkerFault(config);
}

/** An API is well when it answers and reaches what it depends on (`/readyz`). */
async function findApiFault({ host, port }: Config): Promise<string | null> {
  const address = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  const url = `http://${address.includes(':') ? `[${address}]` : address}:${port}/readyz`;
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(answerWithinMs) });
    return answer.ok ? null : `The API is not ready: ${await answer.text()}`;
  } catch (error) {
    const reason = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    return `The API does not answer at ${url}: ${reason}`;
  }
}

/** A worker listens on nothing. It is well when the database has heard from this host lately. */
async function findWorkerFault(config: Config): Promise<string | null> {
  const { openDatabase } = await import('#open-database');
  const { isConnectionError } = await import('#database/errors.ts');
  const { hasLiveWorker } = await import('#domain/workers/store.ts');
  const orm = openDatabase({ ...config, databasePoolSize: 1 });
  try {
    const isAlive = await hasLiveWorker(orm.em.fork(), hostname());
    return isAlive ? null : `The database has not heard lately from a worker on ${hostname()}.`;
  } catch (error) {
    if (!isConnectionError(error)) throw error;
    return 'The worker cannot be checked: the database does not answer.';
  } finally {
    await orm.close();
  }
}
