import { administered, administers, isPlatformAdministrator, type Ownership } from '#domain/shared/access/decide.ts';
import { rolePermissions } from '#domain/shared/access/permissions.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { AuditFilter, AuditRecord } from './model.ts';

/** The records that a reader may see: those of any of these actors, organizations and teams. `all`: every record. */
export type AuditScope = 'all' | AuditParts;

/** Each part is the records that name one of the ids. */
export interface AuditParts {
  readonly actors: readonly string[];
  readonly organizations: readonly string[];
  readonly teams: readonly string[];
}

/** Administrators see everything; others see their own actions and, with `audit:read`, the records of what they administer. */
export function auditScopeOf(principal: Principal): AuditScope {
  if (isPlatformAdministrator(principal)) return 'all';
  const own = { actors: [principal.id], organizations: [], teams: [] };
  return mayReadOthers(principal) ? { ...own, ...administered(principal) } : own;
}

/** Drops the parts of a scope that a filter makes superfluous, because the filter finds nothing outside of it. */
export function narrowScope(scope: AuditScope, filter: AuditFilter): AuditScope {
  if (scope === 'all') return scope;
  const { actor = '', organization_id: organization = '', team_id: team = '' } = filter;
  const { actors, organizations, teams } = scope;
  return actors.includes(actor) || organizations.includes(organization) || teams.includes(team) ? 'all' : scope;
}

/**
 * A record in the form for a reader. In a reader's own refusal, it hides what the answer hid: whether the target exists, and who owns it.
 */
export function showTo(principal: Principal, record: AuditRecord): AuditRecord {
  if (record.outcome !== 'refused' || maySeeTarget(principal, record)) return record;
  return { ...record, resource: { ...record.resource, id: null }, organization_id: null, team_id: null };
}

function maySeeTarget(principal: Principal, { organization_id: organizationId, team_id: teamId }: AuditRecord) {
  return mayReadAuditOf(principal, { organizationId, teamId });
}

/** Whether a principal may read every record that names an organization or a team; for the installation (neither), every record. */
export function mayReadAuditOf(principal: Principal, owner: Pick<Ownership, 'organizationId' | 'teamId'>): boolean {
  return isPlatformAdministrator(principal) || (mayReadOthers(principal) && administers(principal, owner));
}

function mayReadOthers({ role }: Principal): boolean {
  return role !== null && rolePermissions[role].has('audit:read');
}
