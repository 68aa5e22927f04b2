import { setTimeout as sleep } from 'node:timers/promises';
import type { Comparison, Report } from '../benchmark.ts';
import type { Installation } from '../installation/installation.ts';
import { median } from '../report/statistics.ts';
import { listTcpPorts } from '../resources/processes.ts';
import { type LoggedStatement, logStatements, sumStatements } from '../resources/statement-log.ts';
import { pause, pauseMs, row, type Setting } from './setting.ts';
import { toStatementTable, writeStatements } from './statement-table.ts';
import type { TimedRun } from './timed-runs.ts';

const idleSeconds = 60;
/** What the last run has left to do ends within this time. */
const settleMs = 3_000;

/** The statements that were sent. */
interface Sent {
  /** From the request of each run to its end. */
  readonly ofRuns: readonly LoggedStatement[][];
  readonly afterRuns: readonly LoggedStatement[][];
  readonly idle: readonly LoggedStatement[];
  /** How long each run took. The service sends statements without work in this time too. */
  readonly seconds: readonly number[];
  /** The processes of the service, by the ports of their connections. */
  readonly processes: ReadonlyMap<number, string>;
}

/** Counts the statements of runs, and those of the service without work. */
export async function measureStatements({ testbed, installation, run }: Setting): Promise<Report> {
  const { database } = installation;
  const runs: TimedRun[] = [];
  const processes = new Map<number, string>();
  let idleFrom = 0;
  const logged = await logStatements({ database, file: testbed.databaseLog }, async () => {
    for (let count = 0; count < 2 * testbed.rounds; count += 1) {
      runs.push(await run());
      await pause();
      for (const [port, name] of processesByPort(installation)) processes.set(port, name);
    }
    await sleep(settleMs);
    idleFrom = Date.now();
    await sleep(idleSeconds * 1000);
  });
  const within = (from: number, to: number) => logged.filter(({ at }) => at >= from && at < to);
  const ofRuns = runs.map(({ sentAt, seenAt }) => within(sentAt, seenAt));
  const path = process.env['BENCH_STATEMENTS'];
  if (path !== undefined) writeStatements(path, ofRuns.at(-1) ?? [], { from: runs.at(-1)?.sentAt ?? 0, processes });
  return toReport({
    ofRuns,
    afterRuns: runs.map(({ seenAt }) => within(seenAt, seenAt + pauseMs)),
    idle: within(idleFrom, idleFrom + idleSeconds * 1000),
    seconds: runs.map(({ sentAt, seenAt }) => (seenAt - sentAt) / 1000),
    processes,
  });
}

function processesByPort({ apiPid, workerPid }: Installation): [port: number, process: string][] {
  const pids = { API: apiPid, worker: workerPid() };
  return Object.entries(pids).flatMap(([name, pid]) => listTcpPorts(pid).map((port): [number, string] => [port, name]));
}

function toReport(sent: Sent): Report {
  const { ofRuns, idle, seconds } = sent;
  const runs = { sent: ofRuns.flat(), runs: ofRuns.length };
  return {
    comparisons: [...rowsOfRuns(sent), ...rowsOfProcesses(sent), ...rowsOfIdle(idle)],
    tables: [toStatementTable(runs, { sent: idle, seconds: idleSeconds }, median(seconds))],
  };
}

function rowsOfRuns({ ofRuns, idle, seconds }: Sent): Comparison[] {
  const sums = ofRuns.map(sumStatements);
  const idleSum = sumStatements(idle);
  const counts = (figure: 'statements' | 'transactions') => sums.map((sum) => sum[figure]);
  const caused = (figure: 'statements' | 'transactions') =>
    counts(figure).map((count, run) => Math.max(0, count - (idleSum[figure] / idleSeconds) * (seconds[run] ?? 0)));
  const kilobytes = sums.map(({ bytes }) => bytes / 1000);
  return [
    row('statements of a run', '', counts('statements'), { target: { below: 60 } }),
    row('without those that an idle service sends in this time', '', caused('statements')),
    row('transactions of a run', '', counts('transactions'), { target: { below: 8 } }),
    row('without those of an idle service', '', caused('transactions')),
    row('text of the statements of a run', 'KB', kilobytes),
  ];
}

function rowsOfProcesses({ ofRuns, afterRuns, processes }: Sent): Comparison[] {
  const countOf = (name: string) =>
    ofRuns.map((sent) => sent.filter(({ port }) => processes.get(port ?? 0) === name).length);
  const afterwards = afterRuns.map(({ length }) => length);
  return [
    ...[...new Set(processes.values())].map((name) => row(`statements of a run: ${name}`, '', countOf(name))),
    row(`statements in the ${pauseMs} ms after a run`, '', afterwards),
  ];
}

function rowsOfIdle(idle: Sent['idle']): Comparison[] {
  const { statements, transactions } = sumStatements(idle);
  return [
    row('statements without work', '/s', [statements / idleSeconds], { target: { below: 2.5 } }),
    row('transactions without work', '/s', [transactions / idleSeconds]),
  ];
}
