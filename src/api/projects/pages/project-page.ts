import type { FastifyReply } from 'fastify';
import { renderBindingsOfProject } from '#api/connections/pages/bindings-list.ts';
import { list as listEnvironments } from '#api/environments/operations.ts';
import {
  abbreviatePolicy,
  kindWords,
  type ListedEnvironment,
  renderHoldBadge,
} from '#api/environments/pages/labels.ts';
import { archivedQuery, isArchive, renderArchivedBadge, renderArchiveTabs } from '#api/tenancy/pages/views.ts';
import { renderSetsOfProject } from '#api/variable-sets/pages/attached-sets.ts';
import { renderActions } from '#api/web/components/actions.ts';
import { renderConfirmation } from '#api/web/components/confirmation.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderEmpty, renderPages, renderTable } from '#api/web/components/table.ts';
import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages, type Query } from '#api/web/paths.ts';
import { type ProjectSubject, type ProjectVisit, parentCrumbs, projectPath, readProject } from './project-frame.ts';

/** A project with its environments, active or archived ones. */
export async function showProject(visit: ProjectVisit): Promise<FastifyReply> {
  const project = await readProject(visit);
  const cursor = visit.query('cursor');
  const isArchived = isArchive(visit);
  const { environments, next_cursor: next } = await visit.read(listEnvironments, {
    query: { project_id: project.id, archived: String(isArchived), cursor },
  });
  const link = (query: Query) =>
    pagePath(pages.project, { id: project.id }, { ...archivedQuery(isArchived), ...query });
  const { name, slug, description, archived_at: archivedAt } = project;
  return visit.show({
    title: name,
    main: html`<div class="page page-wide">
${renderPageHead({
  title: name,
  crumbs: parentCrumbs(project),
  beside: renderArchivedBadge(archivedAt),
  below: html`<span class="mono">${slug}</span>`,
  actions: renderButtons(project),
  history: ['projects', project.id],
})}
${renderConfirmation(visit, pages.project)}
${description ? html`<p class="foreign">${description}</p>` : null}
<h2>Environments</h2>
${renderArchiveTabs(projectPath(project), isArchived)}
${environments.length > 0 ? html`<div class="list-panel">${renderEnvironments(environments)}</div>` : renderNone(isArchived)}
${renderPages({ cursor, next }, link)}
${await renderSetsOfProject(visit, project)}
${await renderBindingsOfProject(visit, project)}
</div>`,
  });
}

function renderEnvironments(rows: readonly ListedEnvironment[]): Html {
  return renderTable({
    caption: 'Environments',
    rows,
    columns: [
      {
        label: 'Name',
        kind: 'main',
        cell: ({ id, name }) => html`<a class="foreign" href="${pagePath(pages.environment, { id })}">${name}</a>`,
      },
      { label: 'Kind', cell: ({ kind }) => kindWords[kind] },
      { label: 'Approvals', cell: ({ approval_policy: policy }) => abbreviatePolicy(policy) },
      {
        label: 'Locked or frozen',
        cell: (environment) => renderArchivedBadge(environment.archived_at) ?? renderHoldBadge(environment),
      },
      { label: 'Created', kind: 'minor', cell: ({ created_at: since }) => renderTime(since) },
    ],
  });
}

function renderNone(isArchived: boolean): Html {
  if (isArchived)
    return renderEmpty('No archived environments', 'Archived environments stay here until they are deleted.');
  return renderEmpty(
    'No environments yet',
    'Templates are deployed into environments, such as development, staging and production. Each has its own variables and approval policy.',
  );
}

function renderButtons({ id, actions, archived_at: archivedAt }: ProjectSubject): Html {
  const newEnvironment = pagePath(pages.newEnvironment, {}, { project_id: id });
  return renderActions(actions, {
    create_environment: { label: 'New environment', icon: 'plus', tone: 'primary', path: newEnvironment },
    update: { label: 'Edit', icon: 'pencil', path: pagePath(pages.editProject, { id }) },
    ...(archivedAt === null
      ? { archive: { label: 'Archive', icon: 'archive', path: pagePath(pages.archiveProject, { id }) } }
      : { unarchive: { label: 'Unarchive', icon: 'archive', path: pagePath(pages.unarchiveProject, { id }) } }),
    transfer: { label: 'Transfer', icon: 'shuffle', path: pagePath(pages.transferProject, { id }) },
    delete: { label: 'Delete', icon: 'trash-2', tone: 'danger', path: pagePath(pages.deleteProject, { id }) },
  });
}
