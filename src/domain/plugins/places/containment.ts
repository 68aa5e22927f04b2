import type { Selector } from '../model.ts';
import type { Place } from './place-store.ts';

type Chain = Pick<Place, 'organizationId' | 'teamId' | 'projectId' | 'environmentId' | 'resourceId' | 'selector'>;

/**
 * Whether an assignment for a selector covers a place (specification, *Plugin action rules*): it covers the place that it names, and
 * everything now in that place. `organization` covers only the organization itself, `organization_descendants` also everything in it.
 */
export function covers({ type, id }: Selector, place: Chain): boolean {
  if (type === 'organization') return place.teamId === null && place.organizationId === id && isNarrow(place);
  if (type === 'organization_descendants') return place.organizationId === id;
  return idAt(place, type) === id;
}

/** Whether a question concerns only the organization itself, and not also its descendants. */
function isNarrow({ selector }: Chain): boolean {
  return selector.type === 'organization';
}

function idAt(place: Chain, type: 'resource' | 'environment' | 'project' | 'team'): string | null {
  return { resource: place.resourceId, environment: place.environmentId, project: place.projectId, team: place.teamId }[
    type
  ];
}

interface Installed {
  readonly organizationId: string;
  readonly installation: { readonly id: string; readonly teamId: string | null };
}

/**
 * Whether a plugin can be used at a place: the place belongs to the organization or team of the installation, and is not a resource of
 * another plugin.
 */
export function isInScope(
  target: Installed,
  place: Pick<Place, 'organizationId' | 'teamId' | 'installationId'>,
): boolean {
  const { installationId } = place;
  return isOwnerInScope(target, place) && (installationId === null || installationId === target.installation.id);
}

/**
 * Whether a place belongs to the organization or the team that has installed a plugin, even if the place is a resource of another plugin.
 */
export function isOwnerInScope(
  { organizationId, installation: { teamId } }: Installed,
  place: Pick<Place, 'organizationId' | 'teamId'>,
): boolean {
  return teamId === null ? place.organizationId === organizationId : place.teamId === teamId;
}
