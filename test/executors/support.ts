import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Executor, type IsolationMode } from '#executors/client/executor.ts';
import { discoverTools, type InstalledTool } from '#executors/client/tools.ts';
import type {
  CommandExecutor,
  CommandStep,
  ExecutionLimits,
  ExecutionRequest,
  ExecutionResult,
  ExecutionSink,
  LogChunk,
  StateMeta,
} from '#executors/protocol/request.ts';
import { readUntil } from '#test/support/read-until.ts';
import '#test/support/tools-on-path.ts';

/** Finds every tool of this machine, including the one that set-up built. There must be at least one. */
export async function requireTools(): Promise<InstalledTool[]> {
  const tools = await discoverTools({ directory: null });
  if (tools.length === 0)
    throw new Error('these tests need OpenTofu or Terraform: put "tofu" or "terraform" on the PATH');
  return tools;
}

/** The executors of these tests, one for each directory and isolation. */
const executors = new Map<string, Promise<Executor>>();

export interface ExecutorChoice {
  readonly isolation?: IsolationMode;
  /** Whether control groups enforce limits, if this machine has them. */
  readonly usesGroups?: boolean;
}

/** Returns the executor that works in a directory, and starts it if there is none yet. */
export function openTestExecutor(directory: string, choice: ExecutorChoice = {}): Promise<Executor> {
  const { isolation = 'sandbox', usesGroups = true } = choice;
  const key = [directory, isolation, usesGroups].join(' ');
  const known = executors.get(key);
  if (known) return known;
  const started = Executor.start({
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
  executors.set(key, started);
  return started;
}

/** Makes a directory for an executor's host. `remove` also closes the executors that work in it. */
export function makeWorkRoot(): { path: string; remove: () => Promise<void> } {
  const parent = mkdtempSync(join(tmpdir(), 'coordinator-test-work-'));
  execFileSync('chmod', ['711', parent]);
  const path = join(parent, 'work');
  return {
    path,
    remove: async () => {
      const mine = [...executors].filter(([key]) => key.startsWith(path));
      await Promise.all(mine.map(async ([, executor]) => (await executor).close()));
      rmSync(parent, { recursive: true, force: true });
    },
  };
}

const mebibyte = 1024 * 1024;
export const roomyLimits: ExecutionLimits = {
  outputBytes: 64 * mebibyte,
  directoryBytes: 256 * mebibyte,
  processes: 64,
  memoryBytes: 512 * mebibyte,
  openFiles: 1024,
  cpuSeconds: 120,
};

/** A request, and the executor that runs it. */
export type TestRequest = ExecutionRequest & { readonly workRoot: string; readonly choice?: ExecutorChoice };

export function makeRequest(changes: Partial<TestRequest> & Pick<TestRequest, 'executor' | 'workRoot'>): TestRequest {
  return {
    attemptId: 'attempt-1',
    runId: 'run-1',
    templateVersion: 'version-1',
    phase: 'apply',
    operation: 'apply',
    replace: [],
    egress: { policy: 'none', allow: [] },
    variables: {},
    sensitiveVariables: [],
    environment: [],
    outputs: {},
    state: null,
    artifact: null,
    tool: null,
    timeoutMs: 60_000,
    graceMs: 1_000,
    limits: roomyLimits,
    ...changes,
  };
}

/** Records everything that an attempt reports. */
export class RecordingSink implements ExecutionSink {
  readonly chunks: LogChunk[] = [];
  readonly states: { content: Buffer; meta: StateMeta }[] = [];

  async log(chunk: LogChunk): Promise<void> {
    this.chunks.push(chunk);
  }

  async state(content: Buffer, meta: StateMeta): Promise<void> {
    this.states.push({ content, meta });
  }

  bytes(stream?: LogChunk['stream']): Buffer {
    return Buffer.concat(
      this.chunks.filter((chunk) => stream === undefined || chunk.stream === stream).map(({ content }) => content),
    );
  }

  text(stream?: LogChunk['stream']): string {
    return this.bytes(stream).toString();
  }

  /** Resolves once a text has been logged. */
  async saw(text: string): Promise<void> {
    const log = await readUntil(
      async () => this.text(),
      (read) => read.includes(text),
      20_000,
    );
    if (!log.includes(text)) throw new Error(`the log never contained "${text}"; it contained:\n${log}`);
  }
}

export interface Ran {
  readonly result: ExecutionResult;
  readonly sink: RecordingSink;
}

export async function run(
  { workRoot, choice, ...request }: TestRequest,
  sink = new RecordingSink(),
  signal = new AbortController().signal,
): Promise<Ran> {
  const executor = await openTestExecutor(workRoot, choice);
  return { result: await executor.execute(request, sink, signal), sink };
}

/** Plans and applies the steps of a command template. */
export async function runSteps(
  workRoot: string,
  executor: Partial<CommandExecutor>,
  changes: Partial<TestRequest> = {},
): Promise<Ran> {
  const command: CommandExecutor = { kind: 'command', apply: [], ...executor };
  const planned = await run(makeRequest({ workRoot, executor: command, ...changes, phase: 'plan' }));
  if (!planned.result.plan) throw new Error(`planning failed: ${JSON.stringify(planned.result)}`);
  const { artifact, digest } = planned.result.plan;
  return run(makeRequest({ workRoot, executor: command, ...changes, phase: 'apply', artifact, planDigest: digest }));
}

/** A step that runs a shell script. */
export function shell(script: string, changes: Partial<CommandStep> = {}): CommandStep {
  return { name: 'script', run: ['sh', '-c', script], ...changes };
}

/** Runs a script in a `detect` phase, which needs no plan before it. */
export async function runScript(
  workRoot: string,
  script: string,
  changes: Partial<TestRequest> = {},
  sink = new RecordingSink(),
  signal?: AbortSignal,
): Promise<Ran> {
  return run(makeRequest({ workRoot, executor: wrapScript(script), phase: 'detect', ...changes }), sink, signal);
}

/** Makes a template whose `detect` phase runs a script and finds no changes. */
export function wrapScript(script: string): CommandExecutor {
  return { kind: 'command', apply: [], detect: [shell(`trap 'echo [] > plan.json' EXIT\n${script}`)] };
}

/** Finds the processes whose command line contains a text. */
export function findProcesses(text: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(text);
      } catch {
        return false;
      }
    });
}

export async function waitUntil(holds: () => boolean, what: string, timeoutMs = 20_000): Promise<void> {
  if (!(await readUntil(async () => holds(), Boolean, timeoutMs))) throw new Error(`timed out waiting until ${what}`);
}
