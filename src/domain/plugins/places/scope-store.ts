import { type Expression, type SqlBool, sql } from 'kysely';
import { isOfReadableOwner } from '#domain/owners/rows-store.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { ArchivableLevel } from '#domain/shared/archiving.ts';
import { zeroId } from '#domain/shared/ids.ts';
import { archivedLevels } from '#domain/tenancy/store.ts';
import type { SelectorType } from '../model.ts';
import { ownerChain } from './owner-chain.ts';
import type { OwnershipSnapshot } from './ownership-snapshot.ts';
import type { ScopeObstacle, ScopeStanding } from './scope-end.ts';

/** The columns of `scopeOf`. */
interface Scope {
  readonly name: string | null;
  readonly organizationId: string | null;
  readonly teamId: string | null;
  readonly projectId: string | null;
  readonly environmentId: string | null;
  readonly resourceId: string | null;
  /** The installation of a resource; null for other places. */
  readonly installationId: string | null;
  /** The organization if no team owns the place. */
  readonly owningOrganizationId: string | null;
  readonly archived: ArchivableLevel[];
  readonly obstacle: ScopeObstacle;
  /** Whether no owner of it was deleted; the thing itself may be. */
  readonly hasOwners: boolean;
  readonly ownerChain: string | null;
  /** `ownerChain` of a place that may be used; null for others. */
  readonly usableChain: string | null;
  readonly ownership: OwnershipSnapshot;
}

const archived = archivedLevels({
  organization: sql`o.archived_at`,
  team: sql`t.archived_at`,
  project: sql`p.archived_at`,
  environment: sql`e.archived_at`,
});

const obstacle = sql`case
  when coalesce(r.deleted_at, e.deleted_at, p.deleted_at, t.deleted_at, o.deleted_at) is not null then 'deleted'
  when coalesce(e.archived_at, p.archived_at, t.archived_at, o.archived_at) is not null then 'archived' end`;

const ownership = sql`jsonb_build_object(
  'organization_id', coalesce(o.id, ${zeroId}), 'team_id', coalesce(t.id, ${zeroId}),
  'project_id', coalesce(p.id, ${zeroId}), 'environment_id', coalesce(e.id, ${zeroId}),
  'team_revision', coalesce(t.revision, 0), 'project_revision', coalesce(p.revision, 0),
  'environment_revision', coalesce(e.revision, 0))`;

/** The place of a selector with all its owners, as the row `scope` of a statement. All statements that read owners of selectors join it. */
export function scopeOf(type: Expression<SelectorType>, id: Expression<string>) {
  return sql<Scope>`(select coalesce(r.name, e.name, p.name, t.name, o.name) as name,
      o.id as organization_id, t.id as team_id, p.id as project_id, e.id as environment_id, r.id as resource_id,
      r.installation_id, case when t.id is null then o.id end as owning_organization_id,
      ${archived} as archived, ${obstacle} as obstacle,
      coalesce(e.deleted_at, p.deleted_at, t.deleted_at, o.deleted_at) is null as has_owners,
      ${ownerChain} as owner_chain, case when ${obstacle} is null then ${ownerChain} end as usable_chain,
      ${ownership} as ownership
    from (select ${type} as type, ${id} as id) x
    left join plugin_resources r on x.type = 'resource' and r.id = x.id
    left join environments e on e.id = coalesce(case x.type when 'environment' then x.id end, r.environment_id)
    left join projects p on p.id = coalesce(case x.type when 'project' then x.id end, e.project_id, r.project_id)
    left join teams t on t.id = coalesce(case x.type when 'team' then x.id end, p.team_id, r.team_id)
    left join organizations o on o.id = coalesce(
      case when x.type in ('organization', 'organization_descendants') then x.id end, t.organization_id))`.as('scope');
}

/** The `ScopeStanding` of the place `scope` of a statement. */
export const scopeStanding = sql<ScopeStanding>`jsonb_build_object('ownerChain', scope.owner_chain, 'obstacle', scope.obstacle)`;

/** The condition that a principal may read the place `scope` of a statement; its present owner decides. */
export function isReadableScope(principal: Principal): Expression<SqlBool> {
  const owner = {
    organization: sql<string | null>`scope.owning_organization_id`,
    team: sql<string | null>`scope.team_id`,
    project: sql<null>`null`,
  };
  return isOfReadableOwner(principal, owner, 'administrators');
}
