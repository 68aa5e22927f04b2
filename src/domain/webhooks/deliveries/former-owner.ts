import { sql } from 'kysely';

const former = (owner: string) => sql`(e.data->'former_owner'->>${sql.lit(owner)})::uuid`;

/**
 * Whether the event `e` is of a transfer from the owner of the webhook `w`. The former owner hears that the subject has left, though it belongs to
 * somebody else by then.
 */
export const isOfFormerOwner = sql<boolean>`coalesce(
  w.organization_id = ${former('organization_id')} or (w.project_id is null and w.team_id = ${former('team_id')}), false)`;
