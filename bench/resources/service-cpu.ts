import type pg from 'pg';
import type { Installation } from '../installation/installation.ts';
import { listTree, readCommandLine, readCpuUse, readTreeCpu } from './processes.ts';

export const postgres = /^\S*postgres -D/;
export const temporal = /^\S*temporal-server/;

/** The processes of an installation that spend time on runs. */
export const parts = [
  'API',
  'worker',
  'executor host',
  'sandboxes and tools',
  'PostgreSQL',
  'Temporal server',
] as const;
export type Part = (typeof parts)[number];
/** Processor time in milliseconds. */
export type Cpu = Record<Part, number>;

/** The processor time that each part has used so far. */
export function readCpu({ apiPid, workerPid }: Installation): Cpu {
  const host = hostOf(workerPid());
  const { ownCpu, childrenCpu } = readCpuUse(host);
  return {
    API: readCpuUse(apiPid).ownCpu,
    worker: readCpuUse(workerPid()).ownCpu,
    'executor host': ownCpu,
    'sandboxes and tools': childrenCpu,
    PostgreSQL: readTreeCpu(findServer(postgres)),
    'Temporal server': readTreeCpu(findServer(temporal)),
  };
}

/** Finds a server that this program has started, below the shell of its watchdog. */
export function findServer(pattern: RegExp): number {
  const server = listTree(process.pid).find((pid) => pattern.test(readCommandLine(pid)));
  if (server === undefined) throw new Error(`no process matches ${pattern}`);
  return server;
}

export function hostOf(workerPid: number): number {
  const host = listTree(workerPid).find((pid) => readCommandLine(pid).includes('executors/host/main.ts'));
  if (host === undefined) throw new Error('the worker has no executor host');
  return host;
}

/** The processor time in milliseconds that PostgreSQL's processes for the connections to one database have used so far. */
export async function readBackendCpu(database: pg.Pool): Promise<number> {
  const { rows } = await database.query(
    'select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );
  return rows.reduce((sum, { pid }) => sum + readTreeCpu(pid), 0);
}
