import { randomBytes } from 'node:crypto';
import { basename, join } from 'node:path';
import { type Egress, openEgress } from '../egress/egress.ts';
import { type GroupMaker, JobGroup } from '../groups/job-group.ts';
import { Initializations } from '../opentofu/initializations.ts';
import type { EgressPolicy } from '../protocol/request.ts';
import type { SystemView } from '../sandbox/bubblewrap.ts';
import type { Enclosure } from '../sandbox/enclosure.ts';
import { OpenEnclosure } from '../sandbox/open-enclosure.ts';
import { SandboxEnclosure } from '../sandbox/sandbox-enclosure.ts';
import { DeniedAddresses } from './denied-addresses.ts';
import { removeHostDirectory } from './leftovers.ts';
import type { HostSettings } from './settings.ts';

/** What all attempts of a host share: where they lie, how they are contained, and what is kept between them. */
export class HostPlace {
  readonly settings: HostSettings;
  readonly enclosure: Enclosure;
  /** What sandboxes see of the system; null where there are none. */
  readonly view: SystemView | null;
  readonly initializations: Initializations;
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
    this.enclosure =
      sandboxProgram === null || view === null
        ? new OpenEnclosure(makeGroup)
        : new SandboxEnclosure({ program: sandboxProgram, view, directory, socketDirectory, makeGroup });
    this.denied = new DeniedAddresses(settings.deniedAddresses);
    this.initializations = new Initializations(settings.cacheDirectory, settings.directory);
  }

  /** A name for a unix socket: short, as such names must be. Without sandboxes nobody could be kept from it, so there is none. */
  nextSocket(): string | null {
    if (this.enclosure.isolation === 'none') return null;
    return join(this.#socketDirectory, randomBytes(6).toString('hex'));
  }

  /** Serves what a pool's policy allows; null where programs reach the network by themselves. */
  openProxy(policy: EgressPolicy, log: (line: string) => void): Egress | null {
    if (this.enclosure.isolation === 'none') return null;
    return openEgress({ ...policy, denied: this.denied.entries }, { log });
  }

  /** Where the host can reach a tool: it has copies of those that its user cannot. */
  toolPath(path: string): string {
    return this.#tools.get(path) ?? path;
  }

  /** At the host's end. */
  remove(): void {
    this.enclosure.close();
    removeHostDirectory(this.settings.directory);
    removeHostDirectory(this.#socketDirectory);
  }
}

/** Each host has names of its own: the groups of a killed one may still be there. */
function groupMaker({ groups, cores, directory }: HostSettings): GroupMaker {
  let made = 0;
  const prefix = basename(directory);
  return (limits) => (groups === null ? null : JobGroup.make(groups, `${prefix}-${++made}`, { ...limits, cores }));
}
