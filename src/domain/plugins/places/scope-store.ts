import { type Expression, sql } from 'kysely';
import type { SelectorType } from '../model.ts';

/** A scope as it is now. */
export interface ScopeStanding {
  /** The scope with its owners and their generations, as `Place.basis` has them; null if there is no such scope. */
  readonly chain: string | null;
  /** What keeps it from being used; null if nothing does. */
  readonly obstacle: 'deleted' | 'archived' | null;
}

/** The scope with its owners and their generations, outermost first, of a statement that has them as `o` `t` `p` `e` `r`. */
const chain = sql<string | null>`case when o.id is not null then concat_ws(' ', o.id, o.eligibility_generation, t.id,
  t.eligibility_generation, p.id, p.eligibility_generation, e.id, e.eligibility_generation, r.id, r.eligibility_generation) end`;

const obstacle = sql<ScopeStanding['obstacle']>`case
  when coalesce(r.deleted_at, e.deleted_at, p.deleted_at, t.deleted_at, o.deleted_at) is not null then 'deleted'
  when coalesce(e.archived_at, p.archived_at, t.archived_at, o.archived_at) is not null then 'archived' end`;

/** The standing of a scope, of a statement that has its owners. */
export const scopeStanding = sql<ScopeStanding>`jsonb_build_object('chain', ${chain}, 'obstacle', ${obstacle})`;

/** `ScopeStanding.chain` of a scope that may be used; null for others. */
export const usableChain = sql<string | null>`case when ${obstacle} is null then ${chain} end`;

/** Reads something of the scope of a selector that two columns hold, by `scopeStanding`, `usableChain` or `ownershipNow`. */
export function ofSelector<T>(type: Expression<SelectorType>, id: Expression<string>, read: Expression<T>) {
  return sql<T | null>`(select ${read} from (select ${type} as type, ${id} as id) x
    left join plugin_resources r on x.type = 'resource' and r.id = x.id
    left join environments e on e.id = coalesce(case x.type when 'environment' then x.id end, r.environment_id)
    left join projects p on p.id = coalesce(case x.type when 'project' then x.id end, e.project_id, r.project_id)
    left join teams t on t.id = coalesce(case x.type when 'team' then x.id end, p.team_id, r.team_id)
    left join organizations o on o.id = coalesce(
      case when x.type in ('organization', 'organization_descendants') then x.id end, t.organization_id))`;
}
