import { list as listProjects } from '#api/projects/operations.ts';
import { list as listTemplates } from '#api/registry/template-operations.ts';
import { list as listAccounts } from '#api/service-accounts/operations.ts';
import { renderBlockers } from '#api/tenancy/pages/views.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { ServiceError } from '#domain/shared/errors.ts';
import type { TeamSubject, TeamVisit } from './team-frame.ts';

const most = '200';

/** What a deletion of the team takes along, and links to what must be gone before. */
export async function describeTeamDeletion({ id }: TeamSubject, visit: TeamVisit): Promise<Html> {
  const query = { team_id: id, limit: most };
  const [active, archived, templates, accounts] = await Promise.all([
    visit.read(listProjects, { query: { ...query, archived: 'false' } }),
    visit.read(listProjects, { query: { ...query, archived: 'true' } }),
    visit.read(listTemplates, { query }),
    readAccounts(visit, id),
  ]);
  const projects = [...active.projects, ...archived.projects];
  return html`<p>The team, its memberships, its open invitations and its archived templates are deleted permanently. Its slug becomes available again. Records of finished runs and the audit are kept.</p>
${renderBlockers(
  'These projects must be deleted or transferred first:',
  projects.map((project) => ({ label: project.name, path: pagePath(pages.project, { id: project.id }) })),
)}
${renderBlockers(
  'These templates must be archived first:',
  templates.templates.map(({ id: template, name }) => ({
    label: name,
    path: pagePath(pages.template, { id: template }),
  })),
)}
${renderBlockers(
  'These service accounts must be deleted or transferred first:',
  accounts.map((account) => ({ label: account.name, path: pagePath(pages.serviceAccount, { id: account.id }) })),
)}`;
}

/** Only owners of the team and administrators see its accounts. The deletion counts them for others. */
async function readAccounts(visit: TeamVisit, teamId: string): Promise<readonly { id: string; name: string }[]> {
  try {
    const answer = await visit.read(listAccounts, { query: { owner_team_id: teamId, limit: most } });
    return answer.service_accounts;
  } catch (error) {
    if (error instanceof ServiceError && error.kind === 'forbidden') return [];
    throw error;
  }
}
