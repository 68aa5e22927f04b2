import type { Em } from '#database/database.ts';
import type { Kind } from '#domain/ownership.ts';
import type { Ownership } from '../access/decide.ts';
import { findOwners, type Owners } from './owners.ts';

/**
 * The team that owns a thing, and its organization. A deleted thing stays readable for those who could read it; a deleted team does not.
 * Undefined if there is no such thing.
 * @throws Error for a kind that no team owns, so that the installation is never mistaken for its owner
 */
export async function findOwningTeam(em: Em, kind: Kind, id: string): Promise<Ownership | undefined> {
  const owners = await findOwners(em, kind, id, ['organization', 'team']);
  if (owners && owners.team === undefined) throw new Error(`nothing of the kind "${kind}" belongs to a team`);
  return owners && toOwnership(owners);
}

export function toOwnership({ organization = null, team = null }: Owners): Ownership {
  return { organizationId: organization, teamId: team };
}
