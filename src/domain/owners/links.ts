import type { Link } from '#domain/shared/ownership-graph/declaration.ts';

type OwnerColumn = 'organizationId' | 'teamId' | 'projectId';
type Consequence = Pick<Link<OwnerColumn>, 'blocker'> | Pick<Link<OwnerColumn>, 'cascade'>;

/**
 * The owners of rows with `ownerColumns`, as an `ownership.ts` declares them. `consequence` says what deleting the owner does with
 * the row.
 */
export function ownerLinks<const C extends Consequence>(consequence: C) {
  return [
    { kind: 'project', columns: ['projectId'], ...consequence },
    { kind: 'team', columns: ['teamId'], follows: 'project', ...consequence },
    { kind: 'organization', columns: ['organizationId'], ...consequence },
  ] as const;
}
