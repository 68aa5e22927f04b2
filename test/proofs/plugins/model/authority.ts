import { type Ceiling, Registry } from './registry.ts';
import { type ModelPlace, Tenants } from './tenants.ts';

/** What is assigned: an action of a plugin, to somebody, at a place. */
export interface Assignment {
  readonly subject: string;
  readonly plugin: string;
  readonly action: string;
  readonly place: ModelPlace;
}

export interface Grant extends Assignment {
  readonly id: string;
  isAlive: boolean;
  isRevoked: boolean;
}

/**
 * A model of who may use which action of a plugin, made apart from the service
 * (specification, *Plugin authority*; specification, *Plugin action rules*). The service compares
 * generations when an assignment is used. The model instead ends assignments at once, when something happens that ends them.
 */
export class PluginModel extends Registry {
  readonly grants: Grant[] = [];

  constructor() {
    super(new Tenants());
  }

  /** Whether somebody may ask about an action at a place: whoever may read the place, or was assigned the action there or around it. */
  mayAsk(question: Assignment): boolean {
    const { subject, place } = question;
    if (!this.isPresent(place)) return false;
    return this.tenants.mayRead(subject, this.chainOf(place)) || this.#isAssigned(question);
  }

  mayUse(question: Assignment): boolean {
    const { subject, plugin, action, place } = question;
    return !this.tenants.disabled.has(subject) && this.isUsable(plugin, action, place) && this.#isAssigned(question);
  }

  /** The ceiling holds the action for this release and revision, and the place is as it has to be. */
  isUsable(plugin: string, action: string, place: ModelPlace): boolean {
    const isOther = place.type === 'resource' && this.resources.get(place.id)?.plugin !== plugin;
    if (isOther || this.plugin(plugin).isRemoved || !this.isInstalledFor(plugin, place) || !this.isPresent(place))
      return false;
    if (!(action in this.declarations(plugin).actions) || this.tenants.isArchived(this.chainOf(place))) return false;
    return this.hasCurrentCeiling(plugin) && (this.plugin(plugin).ceiling?.actions.includes(action) ?? false);
  }

  #isAssigned({ subject, plugin, action, place }: Assignment): boolean {
    return this.grants.some(
      (grant) =>
        grant.isAlive &&
        grant.plugin === plugin &&
        grant.action === action &&
        grant.subject === subject &&
        this.covers(grant.place, place),
    );
  }

  /** Whether somebody may assign an action at a place to somebody who is eligible there. */
  mayGrant(actor: string, { plugin, action, place }: Omit<Assignment, 'subject'>): boolean {
    if (!this.tenants.administers(actor, this.chainOf(place)) || !this.isUsable(plugin, action, place)) return false;
    return this.declarations(plugin).actions[action]?.includes(place.type) ?? false;
  }

  mayAssign(actor: string, wanted: Assignment): boolean {
    const { subject, plugin, action, place } = wanted;
    if (!this.mayGrant(actor, wanted) || !this.#isEligible(subject, plugin, place)) return false;
    return !this.grants.some(
      (grant) =>
        grant.isAlive &&
        grant.plugin === plugin &&
        grant.action === action &&
        grant.subject === subject &&
        grant.place.type === place.type &&
        grant.place.id === place.id,
    );
  }

  #isEligible(subject: string, plugin: string, place: ModelPlace): boolean {
    const background = this.backgrounds.get(subject);
    if (background) return background.isAlive && background.plugin === plugin && this.covers(background.place, place);
    const { disabled } = this.tenants;
    if (disabled.has(subject) || this.tenants.isAccountOfArchived(subject)) return false;
    return this.tenants.belongsTo(subject, this.chainOf(place));
  }

  assign(id: string, assignment: Assignment): void {
    this.grants.push({ ...assignment, id, isAlive: true, isRevoked: false });
  }

  revoke(grant: Grant): void {
    grant.isRevoked = true;
    this.end(({ id }) => id === grant.id);
  }

  disable(subject: string): void {
    this.tenants.disabled.add(subject);
    this.end((grant) => grant.subject === subject);
  }

  leaveTeam(subject: string, team: string): void {
    this.tenants.memberships.get(subject)?.delete(team);
    this.end((grant) => grant.subject === subject && this.chainOf(grant.place)[1] === team);
  }

  leaveOrganization(subject: string, organization: string): void {
    const memberships = this.tenants.memberships.get(subject);
    for (const id of [organization, ...this.tenants.teamsOf(organization)]) memberships?.delete(id);
    this.end((grant) => grant.subject === subject && this.chainOf(grant.place)[0] === organization);
  }

  /** Another team or another user owns a service account: whatever it was assigned has ended. */
  changeAccountOwner(account: string, team: string | null): void {
    if (team !== null) this.tenants.accounts.set(account, team);
    else this.tenants.memberships.set(account, new Set());
    this.end((grant) => grant.subject === account);
  }

  archive(id: string): void {
    this.tenants.archived.add(id);
    this.#endIn(id);
  }

  move(id: string, owner: string): void {
    this.#endIn(id);
    this.tenants.parents.set(id, owner);
  }

  delete(id: string): void {
    this.#endIn(id);
    this.tenants.deleted.add(id);
  }

  activate(id: string, release: string): void {
    const plugin = this.plugin(id);
    Object.assign(plugin, { active: release, revision: plugin.revision + 1 });
    this.end((grant) => grant.plugin === id);
  }

  /** A plugin is removed once nothing of it is left to manage where it was installed. */
  mayRemove(id: string): boolean {
    return [...this.resources].every(
      ([resource, { plugin, deletedFrom }]) =>
        plugin !== id || deletedFrom !== null || !this.isInstalledFor(id, { type: 'resource', id: resource }),
    );
  }

  remove(id: string): void {
    this.plugin(id).isRemoved = true;
    this.end((grant) => grant.plugin === id);
    for (const [subject, background] of this.backgrounds) if (background.plugin === id) this.endBackground(subject);
  }

  replaceCeiling(id: string, ceiling: Ceiling): void {
    const plugin = this.plugin(id);
    plugin.ceiling = { ...ceiling, revision: plugin.revision };
    this.end((grant) => grant.plugin === id && !ceiling.actions.includes(grant.action));
  }

  deleteResource(id: string): void {
    const resource = this.resources.get(id);
    if (!resource) return;
    resource.deletedFrom = this.tenants.chain(resource.parent);
    this.#endIn(id);
  }

  restore(id: string): void {
    const resource = this.resources.get(id);
    if (resource) resource.deletedFrom = null;
  }

  endBackground(id: string): void {
    const background = this.backgrounds.get(id);
    if (background) background.isAlive = false;
    this.end((grant) => grant.subject === id);
  }

  end(isEnded: (grant: Grant) => boolean): void {
    for (const grant of this.grants) if (grant.isAlive && isEnded(grant)) grant.isAlive = false;
  }

  /** Something about a place changed: whatever was approved for it or in it has ended, and whatever its service accounts were assigned. */
  #endIn(id: string): void {
    const isOwned = (subject: string) => this.tenants.accounts.get(subject) === id;
    this.end((grant) => this.chainOf(grant.place).includes(id) || isOwned(grant.subject));
    for (const [subject, background] of this.backgrounds)
      if (this.chainOf(background.place).includes(id)) this.endBackground(subject);
  }
}
