import type { Link } from '#domain/shared/ownership-graph/declaration.ts';

type OwnerColumn = 'organization_id' | 'team_id' | 'project_id';
type Consequence = Pick<Link<OwnerColumn>, 'blocker'> | Pick<Link<OwnerColumn>, 'cascade'>;

/**
 * The owners of rows with `ownerColumns`, as an `ownership.ts` declares them. `consequence` says what deleting the owner does with
 * the row.
 */
export function ownerLinks<const C extends Consequence>(consequence: C) {
  return [
    { kind: 'project', columns: ['project_id'], ...consequence },
    { kind: 'team', columns: ['team_id'], follows: 'project', ...consequence },
    { kind: 'organization', columns: ['organization_id'], ...consequence },
  ] as const;
}
