import { homedir } from 'node:os';
import { Executor, type IsolationMode } from '#executors/client/executor.ts';
import type { ExecutionRequest } from '#executors/protocol/request.ts';

/** A worker for tests in its own process: it runs the attempts that it receives, and sends back what they report. */

export interface WorkerStart {
  readonly directory: string;
  readonly isolation: IsolationMode;
  readonly usesGroups: boolean;
}

export type ToWorker =
  | { readonly type: 'run'; readonly id: number; readonly request: ExecutionRequest }
  | { readonly type: 'cancel'; readonly id: number };

export type FromWorker =
  | { readonly type: 'ready'; readonly hostPid: number | null; readonly isolation: Executor['isolation'] }
  | { readonly type: 'log' | 'state' | 'result'; readonly id: number; readonly values: readonly unknown[] };

function send(message: FromWorker): void {
  process.send?.(message);
}

const { directory, isolation, usesGroups }: WorkerStart = JSON.parse(process.argv[2] ?? '{}');
const executor = await Executor.start({
  directory,
  isolation,
  usesGroups,
  user: null,
  cores: 2,
  addedPaths: [],
  hiddenPaths: [process.cwd(), homedir()],
  toolsDirectory: null,
  providerMirror: null,
  providerNetworkMirror: null,
  providersDirect: false,
  deniedAddresses: [],
});

const running = new Map<number, AbortController>();
process.on('message', (message: ToWorker) => {
  if (message.type === 'cancel') running.get(message.id)?.abort();
  else void run(message.id, message.request);
});
process.on('disconnect', () => void executor.close().then(() => process.exit(0)));

async function run(id: number, request: ExecutionRequest): Promise<void> {
  const abort = new AbortController();
  running.set(id, abort);
  const sink = {
    log: async (...values: unknown[]) => send({ type: 'log', id, values }),
    state: async (...values: unknown[]) => send({ type: 'state', id, values }),
  };
  const { state, artifact } = request;
  const buffers = { state: state && Buffer.from(state), artifact: artifact && Buffer.from(artifact) };
  const result = await executor.execute({ ...request, ...buffers }, sink, abort.signal);
  send({ type: 'result', id, values: [result] });
}

send({ type: 'ready', hostPid: await executor.processId(), isolation: executor.isolation });
