import { reviewAuthority } from '#domain/runs/approval/rules.ts';
import { runCreationAuthority } from '#domain/runs/authority.ts';
import type { ReviewNeed } from '#domain/runs/model.ts';
import type { Access } from '#domain/shared/access/decide.ts';

/** Who may do what with assemblies (specification, *Assembly mapping*). */

/** The authority that starting, canceling and resuming an assembly run need. */
export const assemblyRunAuthority = {
  scope: 'team',
  hidden: 'not_found',
  anyOf: ['assembly:run'],
  teamAction: 'team.metadata.write',
} as const satisfies Partial<Access>;

/** The authority under which a node's run is admitted: that of running the assembly, and that of creating any run. */
export const nodeRunAuthority: Access = {
  ...assemblyRunAuthority,
  allOf: runCreationAuthority.anyOf,
  teamAction: [assemblyRunAuthority.teamAction, runCreationAuthority.teamAction],
  review: 'none',
};

/**
 * The permission that reviewing the run of a node requires instead of `run:approve`, so that nobody can evade the approval of assemblies
 * (specification, *Assembly mapping*).
 */
export const nodeReviewNeed = {
  permission: 'assembly:approve',
  because: 'it runs a node of an assembly, or repeats such a run',
} as const satisfies ReviewNeed;

/** The authority to review a node. */
export const nodeReviewAuthority = {
  ...reviewAuthority,
  anyOf: [nodeReviewNeed.permission],
} as const satisfies Partial<Access>;
