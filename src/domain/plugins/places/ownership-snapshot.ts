import { z } from 'zod';
import { Conflict } from '#domain/shared/errors.ts';
import { isId, zeroId } from '#domain/shared/ids.ts';
import { largestInteger } from '#domain/shared/values/storable.ts';
import type { OwnerNames } from '../model.ts';
import type { Place } from './place-store.ts';

const OwnerId = z
  .string()
  .refine((text) => text === zeroId || isId(text), {
    error: 'expected a lowercase UUID; the zero UUID where there is no such owner',
  })
  .meta({ format: 'uuid', example: zeroId });
const OwnerRevision = z.int().min(0).max(largestInteger);

const names = { organization_id: OwnerId, team_id: OwnerId, project_id: OwnerId, environment_id: OwnerId };

/** All that owns something, with the revisions of the owners that may move. Unused members are zero, and none is left out. */
export const OwnershipSnapshot = z
  .strictObject({
    ...names,
    team_revision: OwnerRevision,
    project_revision: OwnerRevision,
    environment_revision: OwnerRevision,
  })
  .meta({
    id: 'PluginOwnership',
    description:
      'What owns the thing, with the revisions of its owners. All seven members are required: the zero UUID and 0 stand for an owner that it does not have.',
  });
export type OwnershipSnapshot = z.output<typeof OwnershipSnapshot>;

/** The owners of a place as they are now. */
export function snapshotOf(place: Place): OwnershipSnapshot {
  return {
    ...ownerNamesOf(place),
    team_revision: place.teamRevision ?? 0,
    project_revision: place.projectRevision ?? 0,
    environment_revision: place.environmentRevision ?? 0,
  };
}

export function ownerNamesOf({ organizationId, teamId, projectId, environmentId }: Place): OwnerNames {
  return {
    organization_id: organizationId,
    team_id: teamId ?? zeroId,
    project_id: projectId ?? zeroId,
    environment_id: environmentId ?? zeroId,
  };
}

/** @throws Conflict naming each member that is not as it is now */
export function refuseOtherOwnership(place: Place, expected: OwnershipSnapshot): void {
  const current = snapshotOf(place);
  const members = Object.keys(current) as (keyof OwnershipSnapshot)[];
  const stale = members.filter((member) => expected[member] !== current[member]);
  if (stale.length === 0) return;
  const differences = stale.map((member) => `${member} is ${current[member]}, not ${expected[member]}`);
  throw new Conflict(`expected_ownership: ${differences.join(', ')}: read it again`, 'ownership_changed');
}
