import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { parseDuration } from '#domain/shared/durations.ts';
import { AttemptFailure } from '../attempt/attempt-error.ts';
import { delegateGroup, type GroupRoot, removeForsakenGroups, removeGroups } from '../groups/delegation.ts';
import { newHostDirectory } from '../host/leftovers.ts';
import type { HostSettings } from '../host/settings.ts';
import { readStart } from '../processes/process-table.ts';
import type { Frame } from '../protocol/frames.ts';
import { type HostMessage, type StepKind, stepKinds, type WireRequest, type WireStep } from '../protocol/messages.ts';
import type { CommandStep, ExecutionRequest, ExecutionResult, ExecutionSink } from '../protocol/request.ts';
import { chooseTool, findProgram, type InstalledTool } from '../tools.ts';
import { Conversation } from './conversation.ts';
import { ExecutorUnavailable, HostProcess } from './host-process.ts';
import { chooseHostUser, type HostUser, openHostRoot } from './host-user.ts';

export { discoverTools } from '../tools.ts';
export { ExecutorUnavailable } from './host-process.ts';

/** How template code is to be contained: it must be, it is where that is possible, or it is not. */
export type IsolationWanted = 'sandbox' | 'auto' | 'none';

export interface ExecutorOptions {
  /** Where the host keeps its directories; made where it is missing. */
  readonly directory: string;
  readonly isolation: IsolationWanted;
  /** The account that the host runs as; null: see `chooseHostUser`. */
  readonly user: string | null;
  /** A user id that the service uses for something else. */
  readonly takenUid?: number | null;
  /** Processors that one attempt may use at a time. */
  readonly cores: number;
  readonly addedPaths: readonly string[];
  readonly hiddenPaths: readonly string[];
  readonly providerMirror: string | null;
  readonly providerNetworkMirror: string | null;
  readonly providersDirect: boolean;
  readonly deniedAddresses: readonly string[];
  /** Whether limits may be kept by control groups, where this process may make them. */
  readonly usesGroups?: boolean;
}

/** What a worker says of itself. */
export interface Isolation {
  readonly isolation: 'sandbox' | 'none';
  /** How limits are kept: by control groups, or by limits of each process and by looking. */
  readonly limits: 'cgroup' | 'process';
  /** Why template code is not contained; null where it is. */
  readonly reason: string | null;
}

const groupPrefix = 'delivery-coordinator-';
let groupCount = 0;
/** Another worker of this machine may be killed and not come back. */
const sweepEveryMs = 30_000;

/** A worker's executor: one host process, in which any number of attempts run, each in sandboxes of its own. */
export class Executor {
  readonly #settings: Omit<HostSettings, 'directory' | 'closedTools'>;
  readonly #root: string;
  /** Known before any host tries; null: the host's trial decides. */
  readonly #whyUncontained: string | null;
  readonly #user: HostUser | null;
  readonly #conversations = new Map<number, Conversation>();
  #host: Promise<HostProcess> | null = null;
  #isolation: Isolation = { isolation: 'none', limits: 'process', reason: 'it was not started' };
  #attempts = 0;
  #swept = 0;
  #sweeping: NodeJS.Timeout | undefined;

  private constructor(
    settings: Omit<HostSettings, 'directory' | 'closedTools'>,
    root: string,
    user: HostUser | null,
    whyNone: string | null,
  ) {
    this.#whyUncontained = whyNone;
    this.#settings = settings;
    this.#root = root;
    this.#user = user;
  }

  /** Starts the host. @throws ExecutorUnavailable where it does not start, or template code must be contained and cannot be */
  static async start(options: ExecutorOptions): Promise<Executor> {
    const user = chooseHostUser(options.user, options.directory, options.takenUid ?? null);
    const root = openHostRoot(options.directory, user);
    const sandboxProgram = options.isolation === 'none' ? null : await findProgram('bwrap');
    const executor = new Executor(
      {
        sandboxProgram,
        cacheDirectory: join(root, 'initialized'),
        groups: options.usesGroups === false ? null : openGroups(user),
        cores: options.cores,
        addedPaths: options.addedPaths.map(realpath),
        hiddenPaths: options.hiddenPaths.map(realpath),
        providerMirror: options.providerMirror === null ? null : realpath(options.providerMirror),
        ...{ providerNetworkMirror: options.providerNetworkMirror, providersDirect: options.providersDirect },
        deniedAddresses: [...options.deniedAddresses],
      },
      root,
      user,
      whyUncontained(options.isolation, sandboxProgram),
    );
    await executor.#takeHost();
    executor.#sweeping = setInterval(() => executor.#sweepGroups(), sweepEveryMs).unref();
    const { isolation, reason } = executor.isolation;
    if (isolation === 'none' && options.isolation === 'sandbox') {
      await executor.close();
      throw new ExecutorUnavailable(
        `Template code cannot be contained here: ${reason}. Mend that, or set COORDINATOR_EXECUTOR_ISOLATION=none to run it uncontained.`,
      );
    }
    return executor;
  }

  get isolation(): Isolation {
    return this.#isolation;
  }

  /** How many directories of killed hosts the last host removed when it started. */
  get swept(): number {
    return this.#swept;
  }

  /** The host's process; null while there is none. */
  async processId(): Promise<number | null> {
    return (await this.#host)?.pid ?? null;
  }

  /**
   * Runs one attempt and resolves with what it came to; it rejects only where the worker itself is at fault. When it
   * resolves, nothing of the attempt is left. Aborting asks the tool to stop, and kills it after the grace.
   */
  async execute(request: ExecutionRequest, sink: ExecutionSink, signal: AbortSignal): Promise<ExecutionResult> {
    if (signal.aborted)
      return { outcome: 'canceled', reason: 'canceled', message: 'the attempt was canceled', exitCode: null };
    try {
      const tool = request.executor.kind === 'opentofu' ? await chooseTool(request.tool) : null;
      const wired = wireRequest(request, tool);
      const host = await this.#takeHost();
      const attempt = ++this.#attempts;
      const conversation = new Conversation(host, attempt, wired.phase, sink);
      this.#conversations.set(attempt, conversation);
      return await conversation.run(wired, request, signal).finally(() => this.#conversations.delete(attempt));
    } catch (error) {
      if (!(error instanceof AttemptFailure)) throw error;
      return { outcome: 'failed', reason: error.reason, message: error.message, exitCode: null };
    }
  }

  /** Ends the host, and whatever it still runs. */
  async close(): Promise<void> {
    clearInterval(this.#sweeping);
    const host = await this.#host?.catch(() => null);
    this.#host = null;
    host?.channel.destroy();
    await host?.exited;
    if (this.#settings.groups !== null) await removeGroups(this.#settings.groups);
  }

  /** The host, or a new one where it has ended. Attempts that ask at the same time get the same one. */
  #takeHost(): Promise<HostProcess> {
    const known = this.#host ?? this.#startHost();
    const taken = known.then(
      (host) => (host.isUsable ? host : this.#replaceHost(known)),
      () => this.#replaceHost(known),
    );
    this.#host ??= known;
    return taken;
  }

  /** Starts another host, unless somebody else has done so already. */
  #replaceHost(gone: Promise<HostProcess>): Promise<HostProcess> {
    if (this.#host === gone) this.#host = this.#startHost();
    return this.#host ?? this.#startHost();
  }

  async #startHost(): Promise<HostProcess> {
    const directory = newHostDirectory(this.#root);
    const { host, ready } = await HostProcess.start({ ...this.#settings, directory }, this.#user);
    host.onMessage = (frame) => this.#receive(frame);
    this.#swept = ready.swept;
    // The host has ended what killed hosts left running: now their groups can go.
    this.#sweepGroups();
    // The service knows this worker as one that contains: it never executes anything otherwise.
    if (this.#isolation.isolation === 'sandbox' && ready.isolation === 'none') {
      host.kill();
      throw new AttemptFailure('sandbox_unavailable', `sandboxes cannot be made any more: ${ready.reason}`);
    }
    const limits = this.#settings.groups === null ? 'process' : 'cgroup';
    this.#isolation = { isolation: ready.isolation, limits, reason: this.#whyUncontained ?? ready.reason };
    return host;
  }

  #sweepGroups(): void {
    if (this.#settings.groups !== null) removeForsakenGroups(this.#settings.groups, groupPrefix, isGroupOwned);
  }

  #receive(frame: Frame<HostMessage>): void {
    if ('attempt' in frame.message) this.#conversations.get(frame.message.attempt)?.receive(frame);
  }
}

function whyUncontained(wanted: IsolationWanted, program: string | null): string | null {
  if (process.platform !== 'linux') return 'sandboxes need Linux';
  if (wanted === 'none') return 'COORDINATOR_EXECUTOR_ISOLATION is none';
  return program === null ? 'bubblewrap (bwrap) is not on the PATH' : null;
}

/** The group below which this worker's attempts get theirs. */
function openGroups(user: HostUser | null): GroupRoot | null {
  if (process.platform !== 'linux') return null;
  const owner = user ?? { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const name = `${groupPrefix}${process.pid}-${readStart(process.pid)}-${++groupCount}`;
  return delegateGroup(name, owner);
}

function isGroupOwned(name: string): boolean {
  const [pid = '', start = ''] = name.slice(groupPrefix.length).split('.')[0]?.split('-') ?? [];
  return readStart(Number(pid)) === start;
}

function realpath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function wireRequest(request: ExecutionRequest, tool: InstalledTool | null): WireRequest {
  const { state: _state, artifact: _artifact, executor, ...rest } = request;
  const pinned = tool && { name: tool.name, version: tool.version };
  // What is read-only here is copied as it crosses the pipe.
  return { ...rest, executor: wireExecutor(executor), tool: pinned, toolPath: tool?.path ?? null } as WireRequest;
}

function wireExecutor(executor: ExecutionRequest['executor']): object {
  if (executor.kind === 'opentofu') return executor;
  const wired: Partial<Record<StepKind, WireStep[]>> = {};
  for (const kind of stepKinds) {
    const steps = executor[kind];
    if (steps) wired[kind] = steps.map(wireStep);
  }
  return { kind: 'command', files: executor.files, ...wired };
}

function wireStep({ timeout, run, env, name }: CommandStep): WireStep {
  const step = { name, run: [...run], ...(env && { env: { ...env } }) };
  if (timeout === undefined) return { ...step, timeoutMs: null };
  const seconds = parseDuration(timeout);
  if (seconds === null) {
    throw new AttemptFailure(
      'operation_unsupported',
      `step "${name}" has the timeout "${timeout}", which is no duration`,
    );
  }
  return { ...step, timeoutMs: seconds * 1000 };
}
