import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { readStart } from '#domain/shared/processes.ts';
import { delegateGroup, type GroupRoot, removeGroups, removeOrphanedGroups } from '../groups/delegation.ts';
import type { Frame } from '../protocol/frames.ts';
import type { HostSettings } from '../protocol/host-settings.ts';
import type { HostMessage, ProviderCounts } from '../protocol/messages.ts';
import type { ExecutionRequest, ExecutionResult, ExecutionSink } from '../protocol/request.ts';
import { AttemptFailure } from '../shared/errors.ts';
import { newHostDirectory } from '../shared/host-directory.ts';
import { ExecutorUnavailable, HostProcess } from './host-process.ts';
import { chooseHostUser, type HostUser, openHostRoot } from './host-user.ts';
import { HostedAttempt } from './hosted-attempt.ts';
import { ProviderTotals } from './provider-counts.ts';
import { keepTemporaryRoot, removeUnusedRoots } from './temporary-roots.ts';
import { chooseTool, discoverTools, findProgram, type InstalledTool } from './tools.ts';
import { wireRequest } from './wire-request.ts';
import { isWorldReadable } from './world-permissions.ts';

/** Whether template code must be sandboxed (`sandbox`), is where possible (`auto`), or is not (`none`). */
export type IsolationMode = 'sandbox' | 'auto' | 'none';

export interface ExecutorOptions {
  /** The directory in which the host keeps its own directories. It is created if it is missing. */
  readonly directory: string;
  readonly isolation: IsolationMode;
  /** The account that the host runs as; null: `chooseHostUser` decides. */
  readonly user: string | null;
  /** A user id that another process of the service uses. */
  readonly reservedUid?: number | null;
  /** Processors that one attempt may use at the same time. */
  readonly cores: number;
  readonly addedPaths: readonly string[];
  readonly hiddenPaths: readonly string[];
  /** The directory with more tools of the operator (`discoverTools`); null if there is none. */
  readonly toolsDirectory: string | null;
  readonly providerMirror: string | null;
  readonly providerNetworkMirror: string | null;
  readonly providersDirect: boolean;
  /** The maximum size of the store of providers (default: 10 GiB). */
  readonly providerStoreBytes?: number;
  readonly deniedAddresses: readonly string[];
  /** Whether control groups enforce limits, if this process can make them. */
  readonly usesGroups?: boolean;
}

/** What a worker reports about its isolation. */
export interface Isolation {
  readonly isolation: 'sandbox' | 'none';
  /** How limits are enforced: by control groups, or by the limits of each process together with periodic checks. */
  readonly limits: 'cgroup' | 'process';
  /** Why template code is not sandboxed; null if it is. */
  readonly reason: string | null;
}

const groupPrefix = 'delivery-coordinator-';
let groupCount = 0;
/** How often directories of killed workers are removed. Another worker of this machine may be killed and not start again. */
const sweepEveryMs = 30_000;

/** A worker's executor: one host process that runs any number of attempts, each in sandboxes of its own. */
export class Executor {
  readonly #settings: Omit<HostSettings, 'directory' | 'closedTools'>;
  readonly #root: string;
  /** Why there is no sandbox, if that is known before a host starts. Null: the host finds out. */
  readonly #whyNotSandboxed: string | null;
  readonly #user: HostUser | null;
  readonly #attempts = new Map<number, HostedAttempt>();
  readonly #toolsDirectory: string | null;
  readonly #providers = new ProviderTotals();
  #host: Promise<HostProcess> | null = null;
  /** Identities of the tools that only the worker can read, of which the host has copies. */
  #copied: ReadonlySet<string> = new Set();
  #isolation: Isolation = { isolation: 'none', limits: 'process', reason: 'the executor has not started' };
  #attemptCount = 0;
  #swept = 0;
  #sweeping: NodeJS.Timeout | undefined;

  private constructor(
    settings: Omit<HostSettings, 'directory' | 'closedTools'>,
    root: string,
    user: HostUser | null,
    whyNotSandboxed: string | null,
    toolsDirectory: string | null,
  ) {
    this.#toolsDirectory = toolsDirectory;
    this.#whyNotSandboxed = whyNotSandboxed;
    this.#settings = settings;
    this.#root = root;
    this.#user = user;
  }

  /** Starts the host. @throws ExecutorUnavailable if it does not start, or if a required sandbox cannot be made */
  static async start(options: ExecutorOptions): Promise<Executor> {
    const user = chooseHostUser(options.user, options.directory, options.reservedUid ?? null);
    const root = openHostRoot(options.directory, user);
    const sandboxProgram = options.isolation === 'none' ? null : await findProgram('bwrap');
    const executor = new Executor(
      {
        sandboxProgram,
        isRootTemporary: root.isTemporary,
        cacheDirectory: join(root.path, 'initialized'),
        providerStore: { directory: join(root.path, 'providers'), bytes: options.providerStoreBytes ?? 10 * 1024 ** 3 },
        groups: options.usesGroups === false ? null : openGroups(user),
        cores: options.cores,
        addedPaths: options.addedPaths.map(realpath),
        hiddenPaths: options.hiddenPaths.map(realpath),
        providerMirror: options.providerMirror === null ? null : realpath(options.providerMirror),
        providerNetworkMirror: options.providerNetworkMirror,
        providersDirect: options.providersDirect,
        deniedAddresses: [...options.deniedAddresses],
      },
      root.path,
      user,
      whyNotSandboxed(options.isolation, sandboxProgram),
      options.toolsDirectory,
    );
    await executor.#acquireHost();
    if (user !== null) void removeUnusedRoots(root.path);
    executor.#sweeping = setInterval(() => executor.#sweepGroups(), sweepEveryMs).unref();
    const { isolation, reason } = executor.isolation;
    if (isolation === 'none' && options.isolation === 'sandbox') {
      await executor.close();
      throw new ExecutorUnavailable(
        `Template code cannot be sandboxed on this machine: ${reason}. Fix that, or set COORDINATOR_EXECUTOR_ISOLATION=none to run it without a sandbox.`,
      );
    }
    return executor;
  }

  get isolation(): Isolation {
    return this.#isolation;
  }

  /** How many directories of killed hosts the current host removed when it started. */
  get swept(): number {
    return this.#swept;
  }

  /** What this executor's hosts did with their store of providers. */
  get providerCounts(): ProviderCounts {
    return this.#providers.counts;
  }

  /** The process id of the host; null while there is none. */
  async processId(): Promise<number | null> {
    return (await this.#host)?.pid ?? null;
  }

  /**
   * Runs one attempt and resolves to its result; it rejects only for a fault of the worker itself. When it resolves, nothing
   * of the attempt is left. Aborting asks the tool to stop, and kills it after the grace period.
   */
  async execute(request: ExecutionRequest, sink: ExecutionSink, signal: AbortSignal): Promise<ExecutionResult> {
    if (signal.aborted)
      return { outcome: 'canceled', reason: 'canceled', message: 'the attempt was canceled', exitCode: null };
    try {
      const tool = request.executor.kind === 'opentofu' ? chooseTool(await this.findTools(), request.tool) : null;
      const wired = wireRequest(request, tool);
      const host = await this.#acquireHost();
      const attempt = ++this.#attemptCount;
      const hosted = new HostedAttempt(host, attempt, wired.phase, sink);
      this.#attempts.set(attempt, hosted);
      return await hosted.run(wired, request, signal).finally(() => this.#attempts.delete(attempt));
    } catch (error) {
      if (!(error instanceof AttemptFailure)) throw error;
      return { outcome: 'failed', reason: error.reason, message: error.message, exitCode: null };
    }
  }

  /** The tools that attempts may use now: those that the host can read, or copied when it started. */
  readonly findTools = async (): Promise<InstalledTool[]> => {
    const tools = await this.#discover();
    return tools.filter((tool) => !this.#isClosed(tool) || this.#copied.has(tool.identity));
  };

  #discover(): Promise<InstalledTool[]> {
    return discoverTools({ directory: this.#toolsDirectory });
  }

  #isClosed({ path }: InstalledTool): boolean {
    return this.#user !== null && !isWorldReadable(path);
  }

  /** Ends the host and everything that it still runs. */
  async close(): Promise<void> {
    clearInterval(this.#sweeping);
    const host = await this.#host?.catch(() => null);
    this.#host = null;
    host?.channel.destroy();
    await host?.exited;
    if (this.#settings.groups !== null) await removeGroups(this.#settings.groups);
  }

  /** Returns the host, or a new one if it has ended. Concurrent attempts get the same one. */
  #acquireHost(): Promise<HostProcess> {
    const known = this.#host ?? this.#startHost();
    const taken = known.then(
      (host) => (host.isUsable ? host : this.#replaceHost(known)),
      () => this.#replaceHost(known),
    );
    this.#host ??= known;
    return taken;
  }

  /** Starts another host, unless another caller has already done so. */
  #replaceHost(gone: Promise<HostProcess>): Promise<HostProcess> {
    if (this.#host === gone) this.#host = this.#startHost();
    return this.#host ?? this.#startHost();
  }

  async #startHost(): Promise<HostProcess> {
    if (this.#settings.isRootTemporary && this.#user) keepTemporaryRoot(this.#root, this.#user);
    const directory = newHostDirectory(this.#root);
    const closed = (await this.#discover()).filter((tool) => this.#isClosed(tool));
    const { host, ready } = await HostProcess.start({ ...this.#settings, directory }, this.#user, closed);
    this.#copied = new Set(closed.map(({ identity }) => identity));
    this.#providers.startHost();
    host.onMessage = (frame) => this.#receive(frame);
    this.#swept = ready.swept;
    // The host has ended what killed hosts left running, so their groups can be removed now.
    this.#sweepGroups();
    // The service registered this worker as sandboxed, so it must never run anything without a sandbox.
    if (this.#isolation.isolation === 'sandbox' && ready.isolation === 'none') {
      host.kill();
      throw new AttemptFailure('sandbox_unavailable', `sandboxes can no longer be made: ${ready.reason}`);
    }
    const limits = this.#settings.groups === null ? 'process' : 'cgroup';
    this.#isolation = { isolation: ready.isolation, limits, reason: this.#whyNotSandboxed ?? ready.reason };
    return host;
  }

  #sweepGroups(): void {
    if (this.#settings.groups !== null) removeOrphanedGroups(this.#settings.groups, groupPrefix, isGroupOwned);
  }

  #receive(frame: Frame<HostMessage>): void {
    if (frame.message.type === 'providers') this.#providers.take(frame.message.counts);
    if ('attempt' in frame.message) this.#attempts.get(frame.message.attempt)?.receive(frame);
  }
}

function whyNotSandboxed(wanted: IsolationMode, program: string | null): string | null {
  if (process.platform !== 'linux') return 'sandboxes need Linux';
  if (wanted === 'none') return 'COORDINATOR_EXECUTOR_ISOLATION is none';
  return program === null ? 'bubblewrap (bwrap) is not on the PATH' : null;
}

/** Makes the control group that holds the groups of this worker's attempts. */
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
