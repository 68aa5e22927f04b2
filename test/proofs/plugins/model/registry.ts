import type { Chain, ModelPlace, PlaceType, Tenants } from './tenants.ts';

/** What a release declares: its actions with the types of places, its executions with their actions, and whether there are zones. */
export interface Declarations {
  readonly actions: Readonly<Record<string, readonly PlaceType[]>>;
  readonly executions: Readonly<Record<string, string>>;
  readonly declaresZones: boolean;
}

export interface ModelRelease {
  readonly declares: Declarations;
  readonly manifest: { readonly release: string };
  /** False: only its digest is known. */
  isStaged: boolean;
}

export interface Execution {
  readonly name: string;
  readonly release: string;
  readonly installation_revision: number;
}

export interface Ceiling {
  readonly actions: readonly string[];
  readonly executions: readonly Execution[];
}

export interface ModelPlugin {
  /** The organization or the team that has installed it. */
  readonly owner: string;
  readonly releases: Map<string, ModelRelease>;
  active: string;
  /** Each activation raises it. */
  revision: number;
  isRemoved: boolean;
  /** The ceiling with the revision for which it was set. */
  ceiling: (Ceiling & { readonly revision: number }) | null;
}

interface Resource {
  readonly plugin: string;
  readonly parent: string;
  readonly key: string;
  /** What it lay in when it was deleted; null: it is there. */
  deletedFrom: Chain | null;
}

interface Background {
  readonly plugin: string;
  readonly place: ModelPlace;
  isAlive: boolean;
  isRevoked: boolean;
}

const nothing: Declarations = { actions: {}, executions: {}, declaresZones: false };

/** The plugins with what they declare and what is registered for them. */
export class Registry {
  readonly tenants: Tenants;
  readonly plugins = new Map<string, ModelPlugin>();
  readonly resources = new Map<string, Resource>();
  readonly backgrounds = new Map<string, Background>();

  constructor(tenants: Tenants) {
    this.tenants = tenants;
  }

  plugin(id: string): ModelPlugin {
    const plugin = this.plugins.get(id);
    if (!plugin) throw new Error(`the model knows no plugin ${id}`);
    return plugin;
  }

  chainOf({ type, id }: ModelPlace): Chain {
    if (type !== 'resource') return this.tenants.chain(id);
    const resource = this.resources.get(id);
    return resource ? [...this.tenants.chain(resource.parent), id] : [];
  }

  isPresent(place: ModelPlace): boolean {
    if (this.tenants.isDeleted(this.chainOf(place))) return false;
    return place.type !== 'resource' || this.resources.get(place.id)?.deletedFrom === null;
  }

  /** Whether a place belongs to whoever has installed a plugin. */
  isInstalledFor(plugin: string, place: ModelPlace): boolean {
    return this.chainOf(place).includes(this.plugin(plugin).owner);
  }

  /** What the active release declares; nothing while only its digest is known. */
  declarations(plugin: string): Declarations {
    const { active, releases } = this.plugin(plugin);
    const release = releases.get(active);
    return release?.isStaged ? release.declares : nothing;
  }

  /** Whether the ceiling was set for what is active now. */
  hasCurrentCeiling(id: string): boolean {
    const { ceiling, revision } = this.plugin(id);
    return ceiling?.revision === revision;
  }

  covers(granted: ModelPlace, asked: ModelPlace): boolean {
    if (granted.type === 'organization') return asked.type === 'organization' && asked.id === granted.id;
    return this.chainOf(asked).includes(granted.id);
  }

  mayReplaceCeiling(id: string, { actions, executions }: Ceiling): boolean {
    const { active, releases, revision, owner } = this.plugin(id);
    if (!releases.get(active)?.isStaged || this.tenants.isArchived(this.tenants.chain(owner))) return false;
    const declared = this.declarations(id);
    const isPinned = (each: Execution) => each.release === active && each.installation_revision === revision;
    return (
      actions.every((name) => name in declared.actions) &&
      executions.every((each) => actions.includes(declared.executions[each.name] ?? '') && isPinned(each))
    );
  }

  mayChange(plugin: string): boolean {
    return !this.tenants.isArchived(this.tenants.chain(this.plugin(plugin).owner));
  }

  mayCreate(plugin: string, parent: ModelPlace, key: string): boolean {
    const chain = this.chainOf(parent);
    if (this.plugin(plugin).isRemoved) return false;
    if (!this.isPresent(parent) || this.tenants.isArchived(chain) || !this.isInstalledFor(plugin, parent)) return false;
    return (
      this.declarations(plugin).declaresZones && !this.#isTaken(plugin, key) && !this.#isKept(plugin, key, chain[1])
    );
  }

  /** The data of a deleted resource may still be there: its key stays that of its team. */
  #isKept(plugin: string, key: string, team: string | undefined): boolean {
    return [...this.resources.values()].some(
      (other) => other.plugin === plugin && other.key === key && this.tenants.chain(other.parent)[1] !== team,
    );
  }

  mayRestore(id: string): boolean {
    const resource = this.resources.get(id);
    if (!resource?.deletedFrom) return false;
    const chain = this.tenants.chain(resource.parent);
    if (this.tenants.isDeleted(chain) || this.tenants.isArchived(chain)) return false;
    const { owner, isRemoved } = this.plugin(resource.plugin);
    if (isRemoved || !chain.includes(owner) || chain.join() !== resource.deletedFrom.join()) return false;
    return this.declarations(resource.plugin).declaresZones && !this.#isTaken(resource.plugin, resource.key);
  }

  #isTaken(plugin: string, key: string): boolean {
    return [...this.resources.values()].some(
      (other) => other.plugin === plugin && other.key === key && other.deletedFrom === null,
    );
  }

  mayApproveBackground(plugin: string, place: ModelPlace): boolean {
    if (this.plugin(plugin).isRemoved) return false;
    const isArchived = this.tenants.isArchived(this.chainOf(place));
    const isOther = place.type === 'resource' && this.resources.get(place.id)?.plugin !== plugin;
    return this.isPresent(place) && !isArchived && !isOther && this.isInstalledFor(plugin, place);
  }
}
