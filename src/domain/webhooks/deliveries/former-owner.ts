import { sql } from 'kysely';

const former = (owner: string) => sql`(e.data->'former_owner'->>${sql.lit(owner)})::uuid`;

/**
 * Whether the event `e` reports a transfer away from the owner of the webhook `w`. This owner's webhook gets the event although the subject
 * already has another owner.
 */
export const isOfFormerOwner = sql<boolean>`coalesce(
  w.organization_id = ${former('organization_id')} or (w.project_id is null and w.team_id = ${former('team_id')}), false)`;
