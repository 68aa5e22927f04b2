import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';

interface Named {
  readonly resource: { readonly type: string; readonly id: string | null };
  readonly organization_id: string | null;
}

/** The page of what a record is about; null if it has none. The thing may be gone by now, or hidden from the reader. */
export function findResourcePath({ resource: { type, id }, organization_id: orgID }: Named): LocalPath | null {
  if (id === null) return null;
  const paths: Readonly<Record<string, () => LocalPath | null>> = {
    organizations: () => pagePath(pages.organization, { orgID: id }),
    organization_members: () => (orgID ? pagePath(pages.organizationMember, { orgID, userID: id }) : null),
    teams: () => (orgID ? pagePath(pages.team, { orgID, id }) : null),
    projects: () => pagePath(pages.project, { id }),
    environments: () => pagePath(pages.environment, { id }),
    instances: () => pagePath(pages.instance, { id }),
    templates: () => pagePath(pages.template, { id }),
    runs: () => pagePath(pages.run, { id }),
    workers: () => pagePath(pages.worker, { id }),
    service_accounts: () => pagePath(pages.serviceAccount, { id }),
    users: () => pagePath(pages.user, { id }),
  };
  return paths[type]?.() ?? null;
}
