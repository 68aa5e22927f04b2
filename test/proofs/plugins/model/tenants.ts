export type PlaceType = 'organization' | 'organization_descendants' | 'team' | 'project' | 'environment' | 'resource';

export interface ModelPlace {
  readonly type: PlaceType;
  readonly id: string;
}

/** What a place lies in, outermost first, with itself: organization, team, project, environment, resource. */
export type Chain = readonly string[];

/** Organizations with what they own, and who belongs to them. */
export class Tenants {
  /** The owner of each team, project and environment. */
  readonly parents = new Map<string, string>();
  readonly archived = new Set<string>();
  readonly deleted = new Set<string>();
  readonly disabled = new Set<string>();
  /** The organizations and teams of each user, and of each service account that a user owns. */
  readonly memberships = new Map<string, Set<string>>();
  /** The team of each service account that a team owns. It acts for that team and in its organization. */
  readonly accounts = new Map<string, string>();
  /** What each administrator administers, with everything in it; null: everything. */
  readonly administrators = new Map<string, string | null>();

  chain(id: string): Chain {
    const parent = this.parents.get(id);
    return parent === undefined ? [id] : [...this.chain(parent), id];
  }

  isIn(subject: string, owner: string): boolean {
    const team = this.accounts.get(subject);
    if (team !== undefined) return this.chain(team).includes(owner);
    return this.memberships.get(subject)?.has(owner) ?? false;
  }

  /** Team, project, environment and resource need the owning team; an organization needs membership there, whatever it includes. */
  belongsTo(subject: string, [organization = '', team]: Chain): boolean {
    return this.isIn(subject, team ?? organization);
  }

  administers(actor: string, chain: Chain): boolean {
    const scope = this.administrators.get(actor);
    return scope === null || (scope !== undefined && chain.includes(scope));
  }

  mayRead(subject: string, chain: Chain): boolean {
    return this.administers(subject, chain) || this.belongsTo(subject, chain);
  }

  /** A service account of an archived team, or of a team of an archived organization, is assigned nothing. */
  isAccountOfArchived(subject: string): boolean {
    const team = this.accounts.get(subject);
    return team !== undefined && this.isArchived(this.chain(team));
  }

  isArchived(chain: Chain): boolean {
    return chain.some((id) => this.archived.has(id));
  }

  isDeleted(chain: Chain): boolean {
    return chain.some((id) => this.deleted.has(id));
  }

  teamsOf(organization: string): string[] {
    return [...this.parents].flatMap(([id, parent]) => (parent === organization ? [id] : []));
  }
}
