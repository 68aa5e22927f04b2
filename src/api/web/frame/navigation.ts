import type { PlatformRole } from '#domain/identity/model.ts';
import { type Permission, rolePermissions } from '#domain/shared/access/permissions.ts';
import type { IconName } from '../components/icon.ts';
import { type LocalPath, pages } from '../paths.ts';

interface Entry {
  readonly label: string;
  readonly icon: IconName;
  readonly path: LocalPath;
  /** The permission that the page needs; undefined if every user may open it. */
  readonly permission?: Permission;
}

interface Group {
  /** Null: the first group needs no name. */
  readonly label: string | null;
  readonly entries: readonly Entry[];
}

/** The main navigation. A page belongs to the entry whose path its own path begins with. */
export const navigation = [
  {
    label: null,
    entries: [
      { label: 'Start', icon: 'house', path: pages.home },
      { label: 'Catalog', icon: 'book-open', path: pages.catalog },
    ],
  },
  {
    label: 'Workloads',
    entries: [
      { label: 'Runs', icon: 'play', path: pages.runs },
      { label: 'Approvals', icon: 'hand', path: pages.approvals, permission: 'run:approve' },
      { label: 'Environments', icon: 'layers', path: pages.environments },
      { label: 'Instances', icon: 'boxes', path: pages.instances },
      { label: 'Workers', icon: 'server', path: pages.workers, permission: 'worker:read' },
    ],
  },
  {
    label: 'Access',
    entries: [
      { label: 'Projects', icon: 'folder', path: pages.projects },
      { label: 'Organizations', icon: 'building-2', path: pages.organizations },
      { label: 'Service accounts', icon: 'bot', path: pages.serviceAccounts, permission: 'service_account:read' },
      { label: 'Users', icon: 'users', path: pages.users, permission: 'user:manage' },
      { label: 'Audit', icon: 'scroll-text', path: pages.audit, permission: 'audit:read' },
    ],
  },
] as const satisfies readonly Group[];

/** The entries that somebody with this role may open. */
export function navigationFor(role: PlatformRole | null): Group[] {
  const permissions = role === null ? null : rolePermissions[role];
  const mayOpen = ({ permission }: Entry) => permission === undefined || permissions?.has(permission) === true;
  return (navigation as readonly Group[]).map(({ label, entries }) => ({ label, entries: entries.filter(mayOpen) }));
}

/** The path of the entry to which a page belongs; undefined if it belongs to none. */
export function sectionOf(path: string): LocalPath | undefined {
  const paths: LocalPath[] = navigation.flatMap(({ entries }) => entries.map((entry) => entry.path));
  return paths.find((each) => path === each || (each !== '/' && path.startsWith(`${each}/`)));
}
