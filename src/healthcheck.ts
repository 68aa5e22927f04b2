import { hostname } from 'node:os';
import { type Config, loadConfig } from '#config';

const timeoutMs = 5_000;

/**
 * Checks the process of this container, for orchestrators whose images have no HTTP client.
 * @returns null if the process is healthy, otherwise what is wrong in one sentence
 */
export async function findHealthProblem(process: 'api' | 'worker'): Promise<string | null> {
  const config = loadConfig();
  return process === 'api' ? findApiProblem(config) : findWorkerProblem(config);
}

/** An API is healthy when `/readyz` says that it reaches everything that it depends on. */
async function findApiProblem({ host, port }: Config): Promise<string | null> {
  const address = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  const url = `http://${address.includes(':') ? `[${address}]` : address}:${port}/readyz`;
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
    return answer.ok ? null : `The API is not ready: ${await answer.text()}`;
  } catch (error) {
    const reason = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    return `The API does not answer at ${url}: ${reason}`;
  }
}

/** A worker serves no health check. It is healthy when a worker on this host has a recent heartbeat in the database. */
async function findWorkerProblem(config: Config): Promise<string | null> {
  const { openDatabase } = await import('#open-database');
  const { isDatabaseUnreachable } = await import('#database/errors.ts');
  const { hasLiveWorker } = await import('#domain/workers/store.ts');
  const orm = openDatabase({ ...config, databasePoolSize: 1 });
  try {
    const isAlive = await hasLiveWorker(orm.em.fork(), hostname());
    return isAlive ? null : `No worker on ${hostname()} has sent a heartbeat lately.`;
  } catch (error) {
    if (!isDatabaseUnreachable(error)) throw error;
    return 'The worker cannot be checked: the database does not answer.';
  } finally {
    await orm.close();
  }
}
