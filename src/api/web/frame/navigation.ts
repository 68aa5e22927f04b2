import { describeAuthority, findProtected } from '#api/pipeline/actions.ts';
import type { Operation } from '#api/pipeline/operation.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { IconName } from '../components/icon.ts';
import { type LocalPath, pages } from '../paths.ts';

interface Entry {
  readonly label: string;
  readonly icon: IconName;
  readonly path: LocalPath;
  /** The first part of the paths of other pages that belong to the entry. */
  readonly also?: string;
  /** The id of the operation that the page shows. Who may not use it does not see the entry. */
  readonly operation: string;
}

/** A part of the main navigation. */
export interface NavigationGroup {
  /** Null: the first group has no name, and is always open. */
  readonly label: string | null;
  readonly entries: readonly Entry[];
}

/** The main navigation. An entry is current on every page whose path begins with one of the entry's paths. */
export const navigation = [
  {
    label: null,
    entries: [
      { label: 'Home', icon: 'house', path: pages.home, operation: 'runs.list' },
      { label: 'Catalog', icon: 'book-open', path: pages.catalog, operation: 'templates.list' },
    ],
  },
  {
    label: 'Workloads',
    entries: [
      { label: 'Runs', icon: 'play', path: pages.runs, operation: 'runs.list' },
      { label: 'Approvals', icon: 'hand', path: pages.approvals, operation: 'approvals.list' },
      { label: 'Instances', icon: 'boxes', path: pages.instances, operation: 'instances.list' },
      { label: 'Assemblies', icon: 'workflow', path: pages.assemblies, operation: 'assemblies.list' },
      { label: 'Schedules', icon: 'clock', path: pages.schedules, operation: 'schedules.list' },
      { label: 'Drift', icon: 'activity', path: pages.drift, operation: 'drift_findings.list' },
    ],
  },
  {
    label: 'Configuration',
    entries: [
      { label: 'Projects', icon: 'folder', path: pages.projects, operation: 'projects.list' },
      { label: 'Environments', icon: 'layers', path: pages.environments, operation: 'environments.list' },
      { label: 'Variable sets', icon: 'variable', path: pages.variableSets, operation: 'variable_sets.list' },
      { label: 'Connections', icon: 'key-round', path: pages.connections, operation: 'connections.list' },
      { label: 'Workers', icon: 'server', path: pages.workers, operation: 'workers.list' },
    ],
  },
  {
    label: 'Integrations',
    entries: [
      { label: 'Webhooks', icon: 'webhook', path: pages.webhooks, operation: 'webhooks.list' },
      {
        label: 'Notification channels',
        icon: 'message-square',
        path: pages.notificationChannels,
        operation: 'notification_channels.list',
      },
      {
        label: 'Plugins',
        icon: 'terminal',
        path: pages.plugins,
        also: '/admin/plugin-resources',
        operation: 'plugin_installations.list',
      },
    ],
  },
  {
    label: 'Administration',
    entries: [
      { label: 'Organizations', icon: 'building-2', path: pages.organizations, operation: 'organizations.list' },
      { label: 'Users', icon: 'users', path: pages.users, operation: 'users.list' },
      { label: 'Service accounts', icon: 'bot', path: pages.serviceAccounts, operation: 'service_accounts.list' },
      { label: 'Quotas', icon: 'gauge', path: pages.quotas, operation: 'quotas.list' },
      { label: 'Audit', icon: 'scroll-text', path: pages.audit, operation: 'audit_records.list' },
      { label: 'Settings', icon: 'list-checks', path: pages.settings, operation: 'settings.get' },
    ],
  },
] as const satisfies readonly NavigationGroup[];

/** How many links of open groups fit a window of 800 px beside the links and headings that always show (`41-framed.css` has their heights). */
const maxOpenLinks = 14;

/** Which groups of the navigation begin open: that of the page, and of the others, in order, those for which there is room without scrolling. */
export function openGroups(groups: readonly NavigationGroup[], section: LocalPath | undefined): Set<NavigationGroup> {
  const isCurrent = ({ entries }: NavigationGroup) => entries.some(({ path }) => path === section);
  const open = new Set<NavigationGroup>();
  let links = 0;
  for (const group of [...groups].sort((one, other) => Number(isCurrent(other)) - Number(isCurrent(one)))) {
    if (group.label === null || (!isCurrent(group) && links + group.entries.length > maxOpenLinks)) continue;
    open.add(group);
    links += group.entries.length;
  }
  return open;
}

/** The entries whose pages the visitor may open. */
export function navigationFor(operations: readonly Operation[], visitor: Principal): NavigationGroup[] {
  const mayOpen = ({ operation }: Entry) =>
    describeAuthority(findProtected(operations, operation), visitor, []).allowed;
  return navigation
    .map(({ label, entries }) => ({ label, entries: entries.filter(mayOpen) }))
    .filter(({ entries }) => entries.length > 0);
}

/** The path of the entry to which a page belongs; undefined if it belongs to none. */
export function sectionOf(path: string): LocalPath | undefined {
  const entries: Entry[] = navigation.flatMap((group) => [...group.entries]);
  const isIn = (each: string) => path === each || (each !== '/' && path.startsWith(`${each}/`));
  return entries.find(({ path: first, also }) => isIn(first) || (also !== undefined && isIn(also)))?.path;
}
