import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { coversOwner } from '#domain/owners/rows-store.ts';
import type { ConnectionKind } from './kinds/kinds.ts';

interface WantedConnection {
  readonly name: string;
  readonly kind: ConnectionKind;
}

/**
 * The connection of this name that a thing of a team may use, with its seals: the team's own, else its organization's, else the
 * installation's. What belongs to no team uses the installation's alone.
 */
export function findUsableConnection(
  em: Em,
  { name, kind }: WantedConnection,
  { organizationId, teamId }: { readonly organizationId: string | null; readonly teamId: string | null },
) {
  return db(em)
    .selectFrom('connections as c')
    .where('c.name', '=', name)
    .where('c.kind', '=', kind)
    .where((eb) => {
      const owner = {
        organization: eb.ref('c.organization_id'),
        team: eb.ref('c.team_id'),
        project: eb.ref('c.project_id'),
      };
      if (organizationId !== null && teamId !== null)
        return coversOwner(owner, { organizationId, teamId, projectId: null });
      return eb.and([eb('c.organization_id', 'is', null), eb('c.team_id', 'is', null)]);
    })
    .select(['c.id', 'c.config', 'c.credential_revision as credentialRevision'])
    .select(['c.sealed_key as sealedKey', 'c.sealed_credentials as sealedCredentials'])
    .orderBy(sql`c.team_id is null`)
    .orderBy(sql`c.organization_id is null`)
    .executeTakeFirst();
}
