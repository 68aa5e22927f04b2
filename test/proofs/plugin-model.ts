/**
 * A model of who may use which action of a plugin, after the specification (*Plugin authority*, *Plugin action rules*) and apart from the service. The service compares
 * generations when an assignment is used. The model instead ends assignments at once, when something happens that ends them.
 */

export type PlaceType = 'organization' | 'organization_descendants' | 'team' | 'project' | 'environment' | 'resource';

export interface ModelPlace {
  readonly type: PlaceType;
  readonly id: string;
}

/** What a place lies in, outermost first, with itself. */
type Chain = readonly string[];

interface Grant {
  readonly id: string;
  readonly plugin: string;
  readonly action: string;
  readonly subject: string;
  readonly place: ModelPlace;
  isAlive: boolean;
}

interface Plugin {
  /** The organization or the team that has installed it. */
  readonly owner: string;
  release: string;
  /** The release and the activation for which the ceiling was set. */
  ceiling: { readonly activation: number; readonly actions: readonly string[] } | null;
  activation: number;
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
}

/** What each release declares: its actions with the types of places, and whether it declares zones as the first release did. */
export interface Release {
  readonly actions: Readonly<Record<string, readonly PlaceType[]>>;
  readonly declaresZones: boolean;
}

export class PluginModel {
  readonly #releases: Readonly<Record<string, Release>>;
  readonly #organization: string;
  /** The parent of each team, project and environment. */
  readonly parents = new Map<string, string>();
  readonly archived = new Set<string>();
  readonly disabled = new Set<string>();
  /** The teams of each user. All users are in the organization. */
  readonly memberships = new Map<string, Set<string>>();
  /** The team that owns each service account. */
  readonly accounts = new Map<string, string>();
  readonly plugins = new Map<string, Plugin>();
  readonly resources = new Map<string, Resource>();
  readonly backgrounds = new Map<string, Background>();
  readonly grants: Grant[] = [];
  /** How often a use was allowed. */
  uses = 0;

  constructor(organization: string, releases: Readonly<Record<string, Release>>) {
    this.#organization = organization;
    this.#releases = releases;
  }

  chainOf({ type, id }: ModelPlace): Chain {
    if (type === 'organization' || type === 'organization_descendants') return [this.#organization];
    if (type !== 'resource') return this.#chain(id);
    const resource = this.resources.get(id);
    return resource ? [...this.#chain(resource.parent), id] : [];
  }

  #chain(id: string): Chain {
    const parent = this.parents.get(id);
    return parent === undefined ? [id] : [...this.#chain(parent), id];
  }

  /** Whether somebody may ask about a place at all. */
  mayRead(subject: string, place: ModelPlace): boolean {
    if (!this.#isPresent(place)) return false;
    const [, team] = this.chainOf(place);
    return team === undefined ? true : this.#teamsOf(subject).has(team);
  }

  /** Whether somebody may ask about an action at a place: whoever may read the place, or was assigned the action there or around it. */
  mayAsk(subject: string, plugin: string, action: string, place: ModelPlace): boolean {
    return this.mayRead(subject, place) || (this.#isPresent(place) && this.#isAssigned(subject, plugin, action, place));
  }

  #teamsOf(subject: string): ReadonlySet<string> {
    const owner = this.accounts.get(subject);
    return owner === undefined ? (this.memberships.get(subject) ?? new Set()) : new Set([owner]);
  }

  #isPresent(place: ModelPlace): boolean {
    return place.type !== 'resource' || this.resources.get(place.id)?.deletedFrom === null;
  }

  /** Whether a place belongs to whoever has installed a plugin. */
  isInstalledFor(plugin: string, place: ModelPlace): boolean {
    return this.chainOf(place).includes(this.#pluginOf(plugin).owner);
  }

  #pluginOf(id: string): Plugin {
    const plugin = this.plugins.get(id);
    if (!plugin) throw new Error(`the model knows no plugin ${id}`);
    return plugin;
  }

  /** Rule 1 of a use: the ceiling holds the action for this release and revision, and the place is as it has to be. */
  #isUsable(plugin: string, action: string, place: ModelPlace): boolean {
    const { release, ceiling, activation } = this.#pluginOf(plugin);
    const isOther = place.type === 'resource' && this.resources.get(place.id)?.plugin !== plugin;
    if (isOther || !this.isInstalledFor(plugin, place) || !this.#isPresent(place)) return false;
    if (!(action in (this.#releases[release]?.actions ?? {}))) return false;
    if (this.chainOf(place).some((id) => this.archived.has(id))) return false;
    return ceiling !== null && ceiling.activation === activation && ceiling.actions.includes(action);
  }

  mayUse(subject: string, plugin: string, action: string, place: ModelPlace): boolean {
    if (this.disabled.has(subject) || !this.#isUsable(plugin, action, place)) return false;
    const isAllowed = this.#isAssigned(subject, plugin, action, place);
    if (isAllowed) this.uses += 1;
    return isAllowed;
  }

  #isAssigned(subject: string, plugin: string, action: string, place: ModelPlace): boolean {
    return this.grants.some(
      (grant) =>
        grant.isAlive &&
        grant.plugin === plugin &&
        grant.action === action &&
        grant.subject === subject &&
        this.#covers(grant.place, place),
    );
  }

  #covers(granted: ModelPlace, asked: ModelPlace): boolean {
    if (granted.type === 'organization') return asked.type === 'organization';
    if (granted.type === 'organization_descendants') return true;
    return this.chainOf(asked).includes(granted.id);
  }

  mayAssign(subject: string, plugin: string, action: string, place: ModelPlace): boolean {
    if (!this.#isUsable(plugin, action, place)) return false;
    const types = this.#releases[this.#pluginOf(plugin).release]?.actions[action] ?? [];
    if (!types.includes(place.type) || !this.#isEligible(subject, plugin, place)) return false;
    const isSame = (grant: Grant) => grant.place.type === place.type && grant.place.id === place.id;
    return !this.grants.some(
      (grant) =>
        grant.isAlive &&
        grant.plugin === plugin &&
        grant.action === action &&
        grant.subject === subject &&
        isSame(grant),
    );
  }

  #isEligible(subject: string, plugin: string, place: ModelPlace): boolean {
    const background = this.backgrounds.get(subject);
    if (background) return background.isAlive && background.plugin === plugin && this.#covers(background.place, place);
    if (this.disabled.has(subject)) return false;
    const [, team] = this.chainOf(place);
    return team === undefined ? true : this.#teamsOf(subject).has(team);
  }

  mayRestore(id: string): boolean {
    const resource = this.resources.get(id);
    if (!resource?.deletedFrom) return false;
    const chain = this.#chain(resource.parent);
    if (chain.join() !== resource.deletedFrom.join() || chain.some((each) => this.archived.has(each))) return false;
    if (!this.#releases[this.#pluginOf(resource.plugin).release]?.declaresZones) return false;
    return ![...this.resources.values()].some(
      (other) => other.plugin === resource.plugin && other.key === resource.key && other.deletedFrom === null,
    );
  }

  // What happens.

  assign(id: string, subject: string, plugin: string, action: string, place: ModelPlace): void {
    this.grants.push({ id, subject, plugin, action, place, isAlive: true });
  }

  revoke(id: string): void {
    this.#end((grant) => grant.id === id);
  }

  disable(user: string): void {
    this.disabled.add(user);
    this.#end((grant) => grant.subject === user);
  }

  enable(user: string): void {
    this.disabled.delete(user);
  }

  leave(user: string, team: string): void {
    this.memberships.get(user)?.delete(team);
    this.#end((grant) => grant.subject === user && this.chainOf(grant.place)[1] === team);
  }

  join(user: string, team: string): void {
    this.memberships.get(user)?.add(team);
  }

  archive(id: string): void {
    this.archived.add(id);
    this.#endIn(id);
  }

  unarchive(id: string): void {
    this.archived.delete(id);
  }

  move(project: string, team: string): void {
    this.#endIn(project);
    this.parents.set(project, team);
  }

  activate(plugin: string, release: string): void {
    Object.assign(this.#pluginOf(plugin), { release, activation: this.#pluginOf(plugin).activation + 1 });
    this.#end((grant) => grant.plugin === plugin);
  }

  replaceCeiling(plugin: string, actions: readonly string[]): void {
    const installed = this.#pluginOf(plugin);
    installed.ceiling = { activation: installed.activation, actions };
    this.#end((grant) => grant.plugin === plugin && !actions.includes(grant.action));
  }

  deleteResource(id: string): void {
    const resource = this.resources.get(id);
    if (!resource) return;
    resource.deletedFrom = this.#chain(resource.parent);
    this.#end((grant) => grant.place.id === id);
  }

  restore(id: string): void {
    const resource = this.resources.get(id);
    if (resource) resource.deletedFrom = null;
  }

  revokeBackground(id: string): void {
    const background = this.backgrounds.get(id);
    if (background) background.isAlive = false;
    this.#end((grant) => grant.subject === id);
  }

  #end(isEnded: (grant: Grant) => boolean): void {
    for (const grant of this.grants) if (grant.isAlive && isEnded(grant)) grant.isAlive = false;
  }

  /** Something about a team, a project or an environment changed: whatever was approved for it or in it has ended. */
  #endIn(id: string): void {
    const owned = (subject: string) => this.accounts.get(subject) === id;
    this.#end((grant) => this.chainOf(grant.place).includes(id) || owned(grant.subject));
    for (const [subject, background] of this.backgrounds)
      if (this.chainOf(background.place).includes(id)) this.revokeBackground(subject);
  }
}

/** Two rules that no operation of the service exercises yet, because it runs no code of plugins. */

/** A data operation that was admitted may finish, whatever became of the permission meanwhile. A new one needs it again. */
export function mayContinue(operation: { readonly isAdmitted: boolean }, isPermittedNow: boolean): boolean {
  return operation.isAdmitted || isPermittedNow;
}

/** A child invocation may do what its parent may and what it asks for: it narrows the ceiling and never widens it. */
export function narrowCeiling(parent: readonly string[], asked: readonly string[]): string[] {
  return asked.filter((action) => parent.includes(action));
}
