import { z } from 'zod';
import { Conflict } from '#domain/shared/errors.ts';
import { isId, zeroId } from '#domain/shared/ids.ts';
import { maxInteger } from '#domain/shared/values/storable.ts';
import type { OwnerNames } from '../model.ts';

const OwnerId = z
  .string()
  .refine((text) => text === zeroId || isId(text), {
    error: 'expected a lowercase UUID; the zero UUID where there is no such owner',
  })
  .meta({ format: 'uuid', example: zeroId });
const OwnerRevision = z.int().min(0).max(maxInteger);

const names = { organization_id: OwnerId, team_id: OwnerId, project_id: OwnerId, environment_id: OwnerId };

/** All owners of something, with the revisions of the owners that can be transferred. Unused members are zero; none is omitted. */
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

/** Something with its present owners. */
interface Owned {
  readonly ownership: OwnershipSnapshot;
}

export function ownerNamesOf({ ownership }: Owned): OwnerNames {
  const { organization_id, team_id, project_id, environment_id } = ownership;
  return { organization_id, team_id, project_id, environment_id };
}

/** @throws Conflict naming each member that differs from the present owners */
export function refuseOtherOwnership({ ownership: current }: Owned, expected: OwnershipSnapshot): void {
  const members = Object.keys(current) as (keyof OwnershipSnapshot)[];
  const stale = members.filter((member) => expected[member] !== current[member]);
  if (stale.length === 0) return;
  const differences = stale.map((member) => `${member} is ${current[member]}, not ${expected[member]}`);
  throw new Conflict(`expected_ownership: ${differences.join(', ')}: read it again`, 'ownership_changed');
}
