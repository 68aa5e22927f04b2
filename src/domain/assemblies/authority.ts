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
  allOf: ['run:create'],
  teamAction: ['team.metadata.write', 'team.secret.read'],
  review: 'none',
};
