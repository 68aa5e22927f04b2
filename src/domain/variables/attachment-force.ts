import { type SqlBool, sql } from 'kysely';

/**
 * Whether the owner of the set `s` is the project `p`, its team `t` or their organization. A transfer may change it. A set counts only
 * while it is true.
 */
export const isOfOwnerAbove = sql<SqlBool>`(s.organization_id = t.organization_id or
  (s.team_id = t.id and s.project_id is null) or s.project_id = p.id)`;

/**
 * Whether the attachment `a` of the set `s` gives its variables to the project `p` of the team `t`. A transfer to other owners voids it
 * permanently.
 */
export const isInForce = sql<SqlBool>`(a.void_since is null and ${isOfOwnerAbove})`;
