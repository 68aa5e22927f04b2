import { type Expression, type RawBuilder, sql } from 'kysely';
import type { Over } from '#domain/db.ts';
import { ownerOfAny } from '#domain/shared/ownership-graph/any-owner.ts';

type OverBoth = Over<{ e: 'domain_events'; w: 'webhooks' }>;

/**
 * Whether the subject of the event `e` now belongs to another organization, team or project than that of the webhook `w`. False if the
 * subject no longer exists or has no owner, and for the event of a transfer away from the webhook's owner.
 */
export function belongsElsewhere(eb: OverBoth): RawBuilder<boolean> {
  const present = (level: 'organization' | 'team' | 'project') =>
    sql<string | null>`${ownerOfAny(level, eb.ref('e.subjectKind'), eb.ref('e.subjectId'))}`;
  const team = eb.fn.coalesce(present('team'), eb.ref('e.teamId'));
  const organization = eb.fn.coalesce(organizationOf(eb, team), present('organization'));
  const own = eb.fn.coalesce('w.organizationId', organizationOf(eb, eb.ref('w.teamId')));
  return sql<boolean>`case
    when ${own} is null or ${isOfFormerOwner} then false
    else coalesce(${organization} <> ${own}, false)
      or coalesce(${present('team')} <> ${eb.ref('w.teamId')}, false)
      or coalesce(${present('project')} <> ${eb.ref('w.projectId')}, false) end`;
}

function organizationOf(eb: OverBoth, team: Expression<string | null>) {
  return eb.selectFrom('teams as t').where('t.id', '=', team).select('t.organizationId');
}

const former = (owner: string) => sql`(e.data->'former_owner'->>${sql.lit(owner)})::uuid`;

/**
 * Whether the event `e` reports a transfer away from the owner of the webhook `w`. This owner's webhook gets the event although the subject
 * already has another owner.
 */
export const isOfFormerOwner = sql<boolean>`coalesce(
  w.organization_id = ${former('organization_id')} or (w.project_id is null and w.team_id = ${former('team_id')}), false)`;
