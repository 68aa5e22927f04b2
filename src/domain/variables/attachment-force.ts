import { type SqlBool, sql } from 'kysely';

/** A set `s` counts only while its owner is the project `p`, its team `t` or their organization, which a transfer may change. */
export const isOfOwnerAbove = sql<SqlBool>`(s.organization_id = t.organization_id or
  (s.team_id = t.id and s.project_id is null) or s.project_id = p.id)`;

/** Whether the attachment `a` of the set `s` gives its variables to the project `p` of the team `t`: a transfer that took it away voids it for good. */
export const isInForce = sql<SqlBool>`(a.void_since is null and ${isOfOwnerAbove})`;
