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
 * installation's. A thing without a team can use only the installation's.
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
        organization: eb.ref('c.organizationId'),
        team: eb.ref('c.teamId'),
        project: eb.ref('c.projectId'),
      };
      if (organizationId !== null && teamId !== null)
        return coversOwner(owner, { organizationId, teamId, projectId: null });
      return eb.and([eb('c.organizationId', 'is', null), eb('c.teamId', 'is', null)]);
    })
    .select(['c.id', 'c.config', 'c.credentialRevision'])
    .select(['c.sealedKey', 'c.sealedCredentials'])
    .orderBy(sql`c.team_id is null`)
    .orderBy(sql`c.organization_id is null`)
    .executeTakeFirst();
}
