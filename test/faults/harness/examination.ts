import { type Nasty, runNasty, secret } from '../nasty.ts';
import type { Installation } from './installation.ts';
import { type Vitals, watchVitals } from './vitals.ts';

/** What others may have to wait for an answer meanwhile, and how much memory a process may take. */
const longestP99Ms = 5_000;
const mostMebibytes = 700;
const logLimit = 104_857_600;

/** Runs a nasty template and says what is wrong about how it ended, and how the service bore it. */
export async function examineNasty(
  installation: Installation,
  name: string,
  nasty: Nasty,
): Promise<{ faults: string[]; vitals: Vitals }> {
  const { result: run, vitals } = await watchVitals(installation, () => runNasty(installation, name, nasty));
  const log = await installation.requester.insist('GET', `/runs/${run.id}/logs`, undefined, { accept: 'text/plain' });
  const wrong: Record<string, boolean> = {
    [`it ended ${run.status} ${run.status_reason}`]:
      run.status !== nasty.ends[0] || run.status_reason !== nasty.ends[1],
    [`others waited ${vitals.p99Ms} ms`]: vitals.p99Ms > longestP99Ms,
    [`a worker took ${vitals.workerMebibytes} MiB`]: vitals.workerMebibytes > mostMebibytes,
    [`an API took ${vitals.apiMebibytes} MiB`]: vitals.apiMebibytes > mostMebibytes,
    ...examineLog(name, log.text, installation),
  };
  const faults = Object.entries(wrong).flatMap(([what, isSo]) => (isSo ? [`${name}: ${what}`] : []));
  return { faults: [...faults, ...installation.faults], vitals };
}

/** What else a template has to show in its log, or must not: true is wrong. */
function examineLog(name: string, log: string, { environment }: Installation): Record<string, boolean> {
  if (name.startsWith('betrays')) return { 'its log has the secret': log.includes(secret) };
  switch (name) {
    case 'prints without end':
      return {
        'its log does not say that it was cut': !log.includes(
          `[log truncated: it reached its limit of ${logLimit} bytes]`,
        ),
        'its log is longer than it may be': log.length > logLimit + 10_000,
      };
    case 'prints what is no text':
      return { 'its log has not what it printed': !/nul:\0:\nbroken:.+:\nsplit:€:\n/.test(log) };
    case 'calls the servers':
      return { 'a server let it in': /ReadyForQuery|server_version/.test(log) };
    case 'looks for keys':
      return {
        'it saw nothing': !log.includes('COORDINATOR_RUN_ID'),
        'it found a key': mayHideKeys && hasKey(log, environment),
      };
    default:
      return {};
  }
}

/** Without root there is no other user for templates than the worker's own, who may read what is the worker's. */
const mayHideKeys = process.getuid?.() === 0;

function hasKey(
  log: string,
  { DATABASE_URL = '', COORDINATOR_SECRET_KEYS = '' }: Readonly<Record<string, string>>,
): boolean {
  return [new URL(DATABASE_URL).password, COORDINATOR_SECRET_KEYS.split(':')[1] ?? ''].some((key) => log.includes(key));
}
