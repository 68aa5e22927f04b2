import type { ModuleAccess, StateHandler } from '../attempt/attempt.ts';
import { destinationOf } from '../egress/destination.ts';
import { asRefusal } from '../egress/refusal.ts';
import { ModuleGate } from '../modules/module-gate.ts';
import type { WireRequest } from '../protocol/request-schema.ts';
import type { HostResources } from './host-resources.ts';
import { Relay } from './relay.ts';

interface AttemptNetworkDeps {
  readonly request: WireRequest;
  readonly resources: HostResources;
  readonly directory: string;
  /** Logs a line of the service itself. */
  readonly note: (line: string) => void;
}

/** What the sandboxes of an attempt can reach: its state, the network that the pool allows, and private modules while `init` runs. */
export class AttemptNetwork {
  readonly #deps: AttemptNetworkDeps;
  #relay: Relay | null = null;
  /** Open while `init` runs. */
  #gate: ModuleGate | null = null;

  constructor(deps: AttemptNetworkDeps) {
    this.#deps = deps;
  }

  /** Null before the relay is open. */
  get relay(): Pick<Relay, 'origin' | 'socketPath'> | null {
    return this.#relay;
  }

  close(): void {
    this.#relay?.close();
  }

  async openRelay(state: StateHandler | null): Promise<string> {
    const { request, resources, note } = this.#deps;
    const proxy = resources.openProxy(request.egress, note);
    this.#relay ??= await Relay.open({
      socketPath: resources.nextSocket(),
      state,
      proxy,
      modules: () => this.#gate,
    });
    return this.#relay.origin;
  }

  /** Opens access to private modules. If there are none, nothing is opened. */
  async openModules(): Promise<ModuleAccess> {
    const { request, resources, directory, note } = this.#deps;
    const { egress, environment, moduleSources = [] } = request;
    if (moduleSources.length === 0 || this.#relay === null)
      return { environment: {}, settings: '', close: async () => undefined };
    const reader = resources.openReader(egress, note);
    const gate = new ModuleGate({
      sources: moduleSources,
      egress: reader,
      origin: this.#relay.origin,
      directory,
      given: environment,
      note,
    });
    this.#gate = gate;
    const close = async () => {
      this.#gate = null;
      reader.close();
      await gate.close();
    };
    return { ...(await gate.access()), close };
  }

  async findObstacle(url: URL): Promise<string | null> {
    const { request, resources } = this.#deps;
    const reader = resources.openReader(request.egress, () => undefined);
    const to = destinationOf(url);
    try {
      await reader.check(to);
      return null;
    } catch (error) {
      return `egress to ${to.host}:${to.port} ${asRefusal(error).message}`;
    } finally {
      reader.close();
    }
  }
}
