import type { Installation } from '../harness/installation.ts';
import { measureService, type ServiceMetrics } from '../harness/service-metrics.ts';
import { type HostileTemplate, runHostileTemplate, secret } from './templates.ts';

/** Limits for the service while a hostile template runs: the response time of other requests, and the memory of a process. */
const maximumP99Ms = 5_000;
const maximumMebibytes = 700;
const logLimit = 104_857_600;

/**
 * Runs a hostile template and measures the service meanwhile.
 * @returns what was wrong with the run's end, its log or the service, and the service's metrics
 */
export async function examineHostileTemplate(
  installation: Installation,
  name: string,
  template: HostileTemplate,
): Promise<{ violations: string[]; metrics: ServiceMetrics }> {
  const { result: run, metrics } = await measureService(installation, () =>
    runHostileTemplate(installation, name, template),
  );
  const log = await installation.requester.sendWithRetries('GET', `/runs/${run.id}/logs`, undefined, {
    accept: 'text/plain',
  });
  const wrong: Record<string, boolean> = {
    [`it ended ${run.status} ${run.status_reason}`]:
      run.status !== template.ends[0] || run.status_reason !== template.ends[1],
    [`the p99 of other requests was ${metrics.p99Ms} ms`]: metrics.p99Ms > maximumP99Ms,
    [`a worker used ${metrics.workerMebibytes} MiB`]: metrics.workerMebibytes > maximumMebibytes,
    [`an API used ${metrics.apiMebibytes} MiB`]: metrics.apiMebibytes > maximumMebibytes,
    ...examineLog(name, log.text, installation),
  };
  const violations = Object.entries(wrong).flatMap(([what, isSo]) => (isSo ? [`${name}: ${what}`] : []));
  return { violations: [...violations, ...installation.violations], metrics };
}

/** Checks the log of certain templates. True means that the check failed. */
function examineLog(name: string, log: string, { environment }: Installation): Record<string, boolean> {
  if (name.startsWith('leaks')) return { 'its log contains the secret': log.includes(secret) };
  switch (name) {
    case 'prints endlessly':
      return {
        'its log does not say that it was truncated': !log.includes(
          `[log truncated: it reached its limit of ${logLimit} bytes]`,
        ),
        'its log exceeds its limit': log.length > logLimit + 10_000,
      };
    case 'prints invalid text':
      return { 'its log does not contain what it printed': !/nul:\0:\nbroken:.+:\nsplit:€:\n/.test(log) };
    case 'connects to the servers':
      return { 'a server accepted its connection': /ReadyForQuery|server_version/.test(log) };
    case 'searches for keys':
      return {
        'it saw no environment variable': !log.includes('COORDINATOR_RUN_ID'),
        'it found a key': canHideKeys && hasKey(log, environment),
      };
    default:
      return {};
  }
}

/** Without root, templates run as the worker's own user, who can read the worker's files. */
const canHideKeys = process.getuid?.() === 0;

function hasKey(
  log: string,
  { DATABASE_URL = '', COORDINATOR_SECRET_KEYS = '' }: Readonly<Record<string, string>>,
): boolean {
  return [new URL(DATABASE_URL).password, COORDINATOR_SECRET_KEYS.split(':')[1] ?? ''].some((key) => log.includes(key));
}
