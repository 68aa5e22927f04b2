import { type LocalPath, pagePath, pages } from './paths.ts';

interface Resource {
  readonly id: string;
  /** The organization that owns it; null if none does. */
  readonly organizationId: string | null;
}

/** The page of one resource, by the type under which the API and audit records name it. */
const paths = {
  organizations: ({ id }) => pagePath(pages.organization, { orgID: id }),
  organization_members: ({ id, organizationId: orgID }) =>
    orgID && pagePath(pages.organizationMember, { orgID, userID: id }),
  teams: ({ id, organizationId: orgID }) => orgID && pagePath(pages.team, { orgID, id }),
  projects: ({ id }) => pagePath(pages.project, { id }),
  environments: ({ id }) => pagePath(pages.environment, { id }),
  instances: ({ id }) => pagePath(pages.instance, { id }),
  assemblies: ({ id }) => pagePath(pages.assembly, { id }),
  templates: ({ id }) => pagePath(pages.template, { id }),
  runs: ({ id }) => pagePath(pages.run, { id }),
  workers: ({ id }) => pagePath(pages.worker, { id }),
  service_accounts: ({ id }) => pagePath(pages.serviceAccount, { id }),
  users: ({ id }) => pagePath(pages.user, { id }),
} as const satisfies Record<string, (resource: Resource) => LocalPath | null | ''>;

/** The address of a resource; null if its type has no page. It may be gone by now, or hidden from the reader. */
export function findResourcePath(type: string, resource: Resource): LocalPath | null {
  const find = Object.hasOwn(paths, type) ? paths[type as keyof typeof paths] : null;
  return find?.(resource) || null;
}
