import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { execute } from '#executors/client.ts';
import type {
  CommandExecutor,
  CommandStep,
  ExecutionRequest,
  ExecutionResult,
  ExecutionSink,
  LogChunk,
  StateMeta,
} from '#executors/protocol.ts';
import { discoverTools, type InstalledTool } from '#executors/tools.ts';

const cache = join(homedir(), '.cache', 'delivery-coordinator');

/** Every tool of this machine, also one that was built into the project's cache. There must be one. */
export async function requireTools(): Promise<InstalledTool[]> {
  const built = existsSync(cache) ? readdirSync(cache).filter((name) => name.startsWith('tofu-')) : [];
  const path = [...built.map((name) => join(cache, name)), process.env['PATH'] ?? ''].join(delimiter);
  process.env['PATH'] = path;
  const tools = await discoverTools();
  if (tools.length === 0)
    throw new Error('these tests need OpenTofu or Terraform: put "tofu" or "terraform" on the PATH');
  return tools;
}

export function makeWorkRoot(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'coordinator-test-work-'));
  execFileSync('chmod', ['711', path]);
  return { path: join(path, 'work'), remove: () => rmSync(path, { recursive: true, force: true }) };
}

export const roomyLimits = { outputBytes: 64 * 1024 * 1024, directoryBytes: 256 * 1024 * 1024, processes: 64 };

export function makeRequest(
  changes: Partial<ExecutionRequest> & Pick<ExecutionRequest, 'executor' | 'workRoot'>,
): ExecutionRequest {
  return {
    ...{ attemptId: 'attempt-1', runId: 'run-1', phase: 'apply', operation: 'apply', replace: [] },
    ...{ variables: {}, sensitiveVariables: [], environment: [], outputs: {}, state: null, artifact: null, tool: null },
    ...{ timeoutMs: 60_000, graceMs: 1_000, limits: roomyLimits },
    ...changes,
  };
}

/** Keeps all that an attempt hands over. */
export class RecordingSink implements ExecutionSink {
  readonly chunks: LogChunk[] = [];
  readonly states: { content: Buffer; meta: StateMeta }[] = [];
  readonly steps: string[] = [];

  async log(chunk: LogChunk): Promise<void> {
    this.chunks.push(chunk);
  }

  async state(content: Buffer, meta: StateMeta): Promise<void> {
    this.states.push({ content, meta });
  }

  progress({ step }: { step: string }): void {
    this.steps.push(step);
  }

  bytes(stream?: LogChunk['stream']): Buffer {
    return Buffer.concat(
      this.chunks.filter((chunk) => stream === undefined || chunk.stream === stream).map(({ content }) => content),
    );
  }

  text(stream?: LogChunk['stream']): string {
    return this.bytes(stream).toString();
  }

  /** Resolves when a text has been logged. */
  async saw(text: string): Promise<void> {
    for (let waited = 0; !this.text().includes(text); waited += 20) {
      if (waited > 20_000) throw new Error(`the log never said "${text}"; it said:\n${this.text()}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

export interface Ran {
  readonly result: ExecutionResult;
  readonly sink: RecordingSink;
}

export async function run(
  request: ExecutionRequest,
  sink = new RecordingSink(),
  signal = new AbortController().signal,
): Promise<Ran> {
  return { result: await execute(request, sink, signal), sink };
}

/** Plans and applies the steps of a command template. */
export async function runSteps(
  workRoot: string,
  executor: Partial<CommandExecutor>,
  changes: Partial<ExecutionRequest> = {},
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

/** A step that needs no plan of its own: a `detect` phase runs it as it stands. */
export async function runScript(
  workRoot: string,
  script: string,
  changes: Partial<ExecutionRequest> = {},
  sink = new RecordingSink(),
  signal?: AbortSignal,
): Promise<Ran> {
  const wrapped = `trap 'echo [] > plan.json' EXIT\n${script}`;
  const executor: CommandExecutor = { kind: 'command', apply: [], detect: [shell(wrapped)] };
  return run(makeRequest({ workRoot, executor, phase: 'detect', ...changes }), sink, signal);
}

/** Processes whose command line has a text. */
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

export async function waitUntil(holds: () => boolean, what: string, patienceMs = 20_000): Promise<void> {
  for (let waited = 0; !holds(); waited += 25) {
    if (waited > patienceMs) throw new Error(`it never came about that ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
