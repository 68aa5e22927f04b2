import { z } from 'zod';
import type { OwnerIds } from '#domain/owners/owner.ts';
import { Id } from '#domain/shared/ids.ts';
import { answerOf } from './fields.ts';
import { AnswerId } from './schemas.ts';

/**
 * The fields by which requests and answers name an owner: the installation, an organization, a team or a project. Each area spreads them
 * into its schemas, so that they look the same everywhere.
 */

/** The fields in the body of a creation. Refine the body by `namesOneOwner`. */
export const ownerFields = {
  organization_id: Id.optional().describe('The organization that owns it.'),
  team_id: Id.optional().describe('The team that owns it.'),
  project_id: Id.optional().describe(
    'The project that owns it. Give at most one owner; without one, the installation owns it.',
  ),
};

type OwnerFields = z.output<z.ZodObject<typeof ownerFields>>;

/** The rule of a body with `ownerFields`: at most one of them. Use it as `.check(namesOneOwner)`. */
export const namesOneOwner = z.refine<Partial<OwnerFields>>(
  (body) => [body.organization_id, body.team_id, body.project_id].filter((id) => id !== undefined).length <= 1,
  { error: 'expected at most one of organization_id, team_id and project_id', path: ['organization_id'] },
);

/** The parameters in the query of a list. `readList` takes `ownerParameters` as its `owners`. */
export const ownerQuery = {
  organization_id: Id.optional().describe('Only what the organization, its teams or their projects own.'),
  team_id: Id.optional().describe('Only what the team or its projects own.'),
  project_id: Id.optional().describe('Only what the project owns.'),
};

export const ownerParameters = {
  organization: 'organization_id',
  team: 'team_id',
  project: 'project_id',
} as const;

/** The owner that a body or a query names. */
export function toOwnerIds({ organization_id, team_id, project_id }: Partial<OwnerFields>): OwnerIds {
  return { organizationId: organization_id, teamId: team_id, projectId: project_id };
}

/** The fields in an answer. */
export const ownerView = {
  organization_id: AnswerId.nullable().describe('The organization that owns it; null for other owners.'),
  team_id: AnswerId.nullable().describe('The team that owns it, or the team of the project that does.'),
  project_id: AnswerId.nullable().describe(
    'The project that owns it. Null like the other two: the installation owns it.',
  ),
};

/** The owner of a row, as answers show it. */
export function viewOwner(row: OwnerIds) {
  return answerOf(ownerView, ownerOf(row));
}

/** The owner of a row, for `answerOf`: null for the levels that do not own it. */
export function ownerOf({ organizationId = null, teamId = null, projectId = null }: OwnerIds) {
  return { organizationId, teamId, projectId };
}
