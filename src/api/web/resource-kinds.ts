import type { IconName } from './components/icon.ts';
import { type LocalPath, pagePath, pages } from './paths.ts';

interface Resource {
  readonly id: string;
  /** The organization that owns it; null if none does. */
  readonly organizationId: string | null;
  /** What it is part of; only for kinds whose address names it. */
  readonly parentId?: string | null;
  /** Only for kinds whose address names it. */
  readonly name?: string;
}

/** A kind of resource that has a page. */
interface ResourceKind {
  /** One of them, as results of a search name it. */
  readonly kind: string;
  /** Many of them, as headings name them. */
  readonly label: string;
  readonly icon: IconName;
  readonly page: (resource: Resource) => LocalPath | null | undefined | '';
}

/** The kinds of resources that have a page, by the type under which the API and audit records name them. */
const resourceKinds = {
  runs: { kind: 'run', label: 'Runs', icon: 'play', page: ({ id }) => pagePath(pages.run, { id }) },
  selective_undo: {
    kind: 'undo',
    label: 'Undone runs',
    icon: 'undo-2',
    page: ({ id }) => pagePath(pages.selectiveUndo, { id }),
  },
  instances: {
    kind: 'instance',
    label: 'Instances',
    icon: 'boxes',
    page: ({ id }) => pagePath(pages.instance, { id }),
  },
  resources: {
    kind: 'resource',
    label: 'Resources',
    icon: 'boxes',
    page: ({ parentId: id }) => id && pagePath(pages.instance, { id }, { tab: 'resources' }),
  },
  environments: {
    kind: 'environment',
    label: 'Environments',
    icon: 'layers',
    page: ({ id }) => pagePath(pages.environment, { id }),
  },
  variable_sets: {
    kind: 'variable_set',
    label: 'Variable sets',
    icon: 'variable',
    page: ({ id }) => pagePath(pages.variableSet, { id }),
  },
  connections: {
    kind: 'connection',
    label: 'Connections',
    icon: 'key-round',
    page: ({ id }) => pagePath(pages.connection, { id }),
  },
  notification_channels: {
    kind: 'notification_channel',
    label: 'Notification channels',
    icon: 'message-square',
    page: ({ id }) => pagePath(pages.notificationChannel, { id }),
  },
  webhooks: {
    kind: 'webhook',
    label: 'Webhooks',
    icon: 'webhook',
    page: ({ id }) => pagePath(pages.webhook, { id }),
  },
  plugin_installations: {
    kind: 'plugin_installation',
    label: 'Plugins',
    icon: 'terminal',
    page: ({ id }) => pagePath(pages.plugin, { id }),
  },
  plugin_resources: {
    kind: 'plugin_resource',
    label: 'Resources of plugins',
    icon: 'boxes',
    page: ({ id }) => pagePath(pages.pluginResource, { id }),
  },
  drift_monitors: {
    kind: 'drift_monitor',
    label: 'Drift monitors',
    icon: 'activity',
    page: ({ id }) => pagePath(pages.driftMonitor, { id }),
  },
  drift_findings: {
    kind: 'drift_finding',
    label: 'Drift findings',
    icon: 'activity',
    page: ({ id }) => pagePath(pages.driftFinding, { id }),
  },
  assemblies: {
    kind: 'assembly',
    label: 'Assemblies',
    icon: 'workflow',
    page: ({ id }) => pagePath(pages.assembly, { id }),
  },
  schedules: {
    kind: 'schedule',
    label: 'Schedules',
    icon: 'clock',
    page: ({ id }) => pagePath(pages.schedule, { id }),
  },
  templates: {
    kind: 'template',
    label: 'Templates',
    icon: 'book-open',
    page: ({ id }) => pagePath(pages.template, { id }),
  },
  template_versions: {
    kind: 'template_version',
    label: 'Versions of templates',
    icon: 'tag',
    page: ({ parentId: id, name: version }) => id && version && pagePath(pages.templateVersion, { id, version }),
  },
  projects: { kind: 'project', label: 'Projects', icon: 'folder', page: ({ id }) => pagePath(pages.project, { id }) },
  teams: {
    kind: 'team',
    label: 'Teams',
    icon: 'users',
    page: ({ id, organizationId: orgID }) => orgID && pagePath(pages.team, { orgID, id }),
  },
  organizations: {
    kind: 'organization',
    label: 'Organizations',
    icon: 'building-2',
    page: ({ id }) => pagePath(pages.organization, { orgID: id }),
  },
  organization_members: {
    kind: 'organization_member',
    label: 'Members',
    icon: 'users',
    page: ({ id, organizationId: orgID }) => orgID && pagePath(pages.organizationMember, { orgID, userID: id }),
  },
  users: { kind: 'user', label: 'People', icon: 'user', page: ({ id }) => pagePath(pages.user, { id }) },
  service_accounts: {
    kind: 'service_account',
    label: 'Service accounts',
    icon: 'bot',
    page: ({ id }) => pagePath(pages.serviceAccount, { id }),
  },
  workers: { kind: 'worker', label: 'Workers', icon: 'server', page: ({ id }) => pagePath(pages.worker, { id }) },
} as const satisfies Record<string, ResourceKind>;

type Declared = (typeof resourceKinds)[keyof typeof resourceKinds];
export type KindWithPage = Declared['kind'];

const byKind = new Map<KindWithPage, ResourceKind>(Object.values(resourceKinds).map((each) => [each.kind, each]));

/** A kind of resource that has a page. */
export function resourceKindOf(kind: KindWithPage): ResourceKind {
  const found = byKind.get(kind);
  if (!found) throw new Error(`the kind "${kind}" is not declared`);
  return found;
}

/** The kind of a type under which the API and audit records name resources; null if it has no page. */
export function kindOfType(type: string): KindWithPage | null {
  return Object.hasOwn(resourceKinds, type) ? resourceKinds[type as keyof typeof resourceKinds].kind : null;
}

/** The address of a resource; null if its type has no page. It may be gone by now, or hidden from the reader. */
export function findResourcePath(type: string, resource: Resource): LocalPath | null {
  const declared: ResourceKind | null = Object.hasOwn(resourceKinds, type)
    ? resourceKinds[type as keyof typeof resourceKinds]
    : null;
  return declared?.page(resource) || null;
}
