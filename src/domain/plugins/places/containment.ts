import type { Selector } from '../model.ts';
import type { Place } from './place-store.ts';

type Chain = Pick<Place, 'organizationId' | 'teamId' | 'projectId' | 'environmentId' | 'resourceId' | 'selector'>;

/**
 * Whether an assignment for a selector covers a place (specification, *Plugin action rules*): the place itself, or what is in the scope
 * now. `organization` covers the organization alone, `organization_descendants` also everything in it.
 */
export function covers({ type, id }: Selector, place: Chain): boolean {
  if (type === 'organization') return place.teamId === null && place.organizationId === id && isNarrow(place);
  if (type === 'organization_descendants') return place.organizationId === id;
  return idAt(place, type) === id;
}

/** A question about an organization with its descendants is about more than the organization. */
function isNarrow({ selector }: Chain): boolean {
  return selector.type === 'organization';
}

function idAt(place: Chain, type: 'resource' | 'environment' | 'project' | 'team'): string | null {
  return { resource: place.resourceId, environment: place.environmentId, project: place.projectId, team: place.teamId }[
    type
  ];
}

/** Whether a place lies in the scope of an installation, which an organization or a team has installed. */
export function isInScope(
  { organizationId, teamId, id }: { organizationId: string; teamId: string | null; id: string },
  place: Pick<Place, 'organizationId' | 'teamId' | 'installationId'>,
): boolean {
  if (place.installationId !== null && place.installationId !== id) return false;
  return teamId === null ? place.organizationId === organizationId : place.teamId === teamId;
}

/** Whether a place belongs to the organization or the team that has installed a plugin, also if it is a resource of another plugin. */
export function isOwnerInScope(
  { organizationId, installation: { teamId } }: { organizationId: string; installation: { teamId: string | null } },
  place: Pick<Place, 'organizationId' | 'teamId'>,
): boolean {
  return teamId === null ? place.organizationId === organizationId : place.teamId === teamId;
}
