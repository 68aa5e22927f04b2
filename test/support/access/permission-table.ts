import type { PlatformRole } from '#domain/shared/vocabulary/roles.ts';

/**
 * The table of platform roles, written by hand (docs/access.md, *Platform roles*). A change of the code's own table fails the tests
 * until this one is changed on purpose.
 */
const table: readonly [weakest: PlatformRole, permissions: string][] = [
  [
    'requester',
    `organization:read team:read catalog:read template:read project:read environment:read workload:read run:read
     assembly:read drift_monitor:read registry:read profile:manage`,
  ],
  ['requester', 'run:create assembly:run'],
  [
    'maintainer',
    `organization:write team:write template:write project:write environment:write assembly:write drift_monitor:write
     registry:manage run:cancel run:approve assembly:approve`,
  ],
  [
    'maintainer',
    `connection:manage connection:use connection:test webhook:manage secret:manage notification_channel:manage
     service_account:read service_account:manage worker:read audit:read`,
  ],
  ['operator', 'run:delete'],
  ['admin', 'user:manage settings.manage worker:manage quota:manage'],
];

export const platformRoles: readonly PlatformRole[] = ['requester', 'maintainer', 'operator', 'admin'];

/** The permissions of a role, sorted. */
export function permissionsOf(role: PlatformRole): string[] {
  const reached = platformRoles.slice(0, platformRoles.indexOf(role) + 1);
  return table.flatMap(([weakest, permissions]) => (reached.includes(weakest) ? permissions.split(/\s+/) : [])).sort();
}

export const everyPermission = permissionsOf('admin');
