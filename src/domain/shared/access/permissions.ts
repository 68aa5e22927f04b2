import type { PlatformRole } from '../vocabulary/roles.ts';

const reads = [
  'organization:read',
  'team:read',
  'catalog:read',
  'template:read',
  'project:read',
  'environment:read',
  'workload:read',
  'run:read',
  'assembly:read',
  'drift_monitor:read',
  'registry:read',
] as const;
const requests = ['profile:manage', 'run:create', 'assembly:run'] as const;
const delivery = [
  'organization:write',
  'team:write',
  'template:write',
  'project:write',
  'environment:write',
  'assembly:write',
  'drift_monitor:write',
  'registry:manage',
  'run:cancel',
  'run:approve',
  'assembly:approve',
] as const;
const integrations = [
  'connection:manage',
  'connection:use',
  'connection:test',
  'webhook:manage',
  'secret:manage',
  'notification_channel:manage',
  'service_account:read',
  'service_account:manage',
  'worker:read',
  'audit:read',
] as const;
const deletions = ['run:delete'] as const;
const administration = ['user:manage', 'settings.manage', 'worker:manage', 'quota:manage'] as const;

export type Permission =
  | (typeof reads)[number]
  | (typeof requests)[number]
  | (typeof delivery)[number]
  | (typeof integrations)[number]
  | (typeof deletions)[number]
  | (typeof administration)[number];

const requester: readonly Permission[] = [...reads, ...requests];
const maintainer: readonly Permission[] = [...requester, ...delivery, ...integrations];
const operator: readonly Permission[] = [...maintainer, ...deletions];
const admin: readonly Permission[] = [...operator, ...administration];

/** The permissions of each platform role (specification, *Permission names*; docs/access.md, *Platform roles*). */
export const rolePermissions: Record<PlatformRole, ReadonlySet<Permission>> = {
  requester: new Set(requester),
  maintainer: new Set(maintainer),
  operator: new Set(operator),
  admin: new Set(admin),
};
