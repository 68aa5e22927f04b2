import { randomBytes } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { type Egress, openEgress } from '../egress/egress.ts';
import { type GroupMaker, JobGroup } from '../groups/job-group.ts';
import { InitCache } from '../opentofu/initialization/init-cache.ts';
import { ProviderStore } from '../opentofu/providers/provider-store.ts';
import type { HostSettings } from '../protocol/host-settings.ts';
import type { EgressPolicy } from '../protocol/request.ts';
import type { SystemView } from '../sandbox/bubblewrap.ts';
import type { JobLauncher } from '../sandbox/job-launcher.ts';
import { SandboxLauncher } from '../sandbox/sandbox-launcher.ts';
import { UnsandboxedLauncher } from '../sandbox/unsandboxed-launcher.ts';
import { removeHostDirectory, removeUnusedRoot } from './host-directories.ts';

const refreshMs = 60_000;

/**
 * The names and addresses of the service's own parts, which no template may reach. A template may know a part by another name,
 * so the addresses of the names are denied too. They are looked up again regularly.
 */
class DeniedAddresses {
  readonly #given: readonly string[];
  #resolved: readonly string[] = [];

  constructor(given: readonly string[]) {
    this.#given = given;
    setInterval(() => void this.refresh(), refreshMs).unref();
  }

  get entries(): readonly string[] {
    return [...this.#given, ...this.#resolved];
  }

  /** A name that cannot be looked up now keeps its previous addresses. */
  async refresh(): Promise<void> {
    const names = this.#given.filter((entry) => isIP(entry) === 0 && !entry.includes('/') && !entry.startsWith('*'));
    const answers = await Promise.all(names.map((name) => lookup(name, { all: true }).catch(() => null)));
    const found = answers.flatMap((answer) => answer ?? []).map(({ address }) => address);
    this.#resolved = answers.includes(null) ? [...new Set([...this.#resolved, ...found])] : found;
  }
}

/** What all attempts of a host share: its directories, the way it runs jobs, and what it caches between attempts. */
export class HostResources {
  readonly settings: HostSettings;
  readonly launcher: JobLauncher;
  /** The part of the system that sandboxes see; null without sandboxes. */
  readonly view: SystemView | null;
  readonly initCache: InitCache;
  readonly denied: DeniedAddresses;
  readonly #socketDirectory: string;
  readonly #tools: ReadonlyMap<string, string>;

  constructor(
    settings: HostSettings,
    view: SystemView | null,
    socketDirectory: string,
    tools: ReadonlyMap<string, string>,
  ) {
    this.#tools = tools;
    const { sandboxProgram } = settings;
    this.#socketDirectory = socketDirectory;
    this.settings = settings;
    this.view = view;
    const makeGroup = groupMaker(settings);
    const { directory } = settings;
    this.launcher =
      sandboxProgram === null || view === null
        ? new UnsandboxedLauncher(makeGroup)
        : new SandboxLauncher({ program: sandboxProgram, view, directory, socketDirectory, makeGroup });
    this.denied = new DeniedAddresses(settings.deniedAddresses);
    const { directory: store, bytes: providerBytes } = settings.providerStore;
    this.initCache = new InitCache(
      settings.cacheDirectory,
      directory,
      new ProviderStore(store, directory),
      providerBytes,
    );
  }

  /**
   * Returns a new path for a unix socket. It is short, because such paths have a limit. Null without sandboxes, because any process could
   * then connect to the socket.
   */
  nextSocket(): string | null {
    if (this.launcher.isolation === 'none') return null;
    return join(this.#socketDirectory, randomBytes(6).toString('hex'));
  }

  /** Opens a proxy that enforces a pool's policy. Null without sandboxes, because programs then reach the network directly. */
  openProxy(policy: EgressPolicy, log: (line: string) => void): Egress | null {
    if (this.launcher.isolation === 'none') return null;
    return openEgress({ ...policy, denied: this.denied.entries }, { log });
  }

  /**
   * Opens the connection through which the service reads private modules for a pool's attempts. It enforces the pool's policy even without
   * sandboxes.
   */
  openReader(policy: EgressPolicy, log: (line: string) => void): Egress {
    return openEgress({ ...policy, denied: this.denied.entries }, { log });
  }

  /** Returns the path at which the host can reach a tool: the host has copies of tools that its user cannot read. */
  toolPath(path: string): string {
    return this.#tools.get(path) ?? path;
  }

  /** Removes the host's directories when it ends, and a temporary one above them unless another host uses it. */
  remove(): void {
    this.launcher.close();
    removeHostDirectory(this.settings.directory);
    removeHostDirectory(this.#socketDirectory);
    if (this.settings.isRootTemporary) removeUnusedRoot(dirname(this.settings.directory));
  }
}

/** Group names differ between hosts, because the groups of a killed host may still exist. */
function groupMaker({ groups, cores, directory }: HostSettings): GroupMaker {
  let made = 0;
  const prefix = basename(directory);
  return (limits) => (groups === null ? null : JobGroup.make(groups, `${prefix}-${++made}`, { ...limits, cores }));
}
