import type { FastifyReply } from 'fastify';
import { list as listTeams } from '#api/teams/operations.ts';
import { nameFields, refusalOf, revisionField, toBody } from '#api/tenancy/pages/named-forms.ts';
import { renderArchiveTabs, renderSection, withArchived } from '#api/tenancy/pages/views.ts';
import { renderActions } from '#api/web/components/actions.ts';
import { renderEmpty, renderPager, renderTable } from '#api/web/components/table.ts';
import { renderTime } from '#api/web/components/time.ts';
import { renderForm } from '#api/web/forms/form.ts';
import { type FormProblems, submit } from '#api/web/forms/problems.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { toSentence } from '#api/web/text.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { update } from '../operations.ts';
import { type Organization, organizationPage, organizationPath, readOrganization } from './organization-frame.ts';

type OrganizationVisit = Visit<{ orgID: string }>;

/** An organization with its teams. */
export async function showOrganizationTeams(visit: OrganizationVisit): Promise<FastifyReply> {
  const organization = await readOrganization(visit);
  const orgID = organization.id;
  const isArchived = visit.query('archived') === 'true';
  const cursor = visit.query('cursor');
  const query = { archived: String(isArchived), ...(cursor && { cursor }) };
  const { teams, next_cursor: next } = await visit.read(listTeams, { params: { orgID }, query });
  const path = pagePath(pages.organization, { orgID });
  const table = renderTable({
    caption: 'Teams',
    rows: teams,
    columns: [
      {
        label: 'Name',
        kind: 'main',
        cell: ({ id, name }) => html`<a class="foreign" href="${pagePath(pages.team, { orgID, id })}">${name}</a>`,
      },
      { label: 'Slug', cell: ({ slug }) => html`<span class="mono">${slug}</span>` },
      { label: 'Your role', cell: ({ id }) => visit.principal.teams[id] ?? 'not a member' },
      { label: 'Since', kind: 'minor', cell: ({ created_at: since }) => renderTime(since) },
    ],
  });
  const content = html`${renderArchiveTabs(path, isArchived)}
${teams.length > 0 ? html`<div class="list-panel">${table}</div>` : renderNoTeams(isArchived)}
${renderPager({
  first: cursor ? withArchived(path, isArchived) : null,
  next: next
    ? pagePath(pages.organization, { orgID }, { ...(isArchived && { archived: 'true' }), cursor: next })
    : null,
})}`;
  return visit.show(organizationPage(visit, organization, 'teams', { content }));
}

function renderNoTeams(isArchived: boolean): Html {
  if (isArchived) return renderEmpty('No team is archived', 'Archived teams stay here until somebody deletes them.');
  return renderEmpty(
    'You see no team here',
    'A team owns projects, environments and templates, and its members work with them. An admin of the organization makes teams and adds people to them.',
  );
}

/** The settings of an organization: its name, and what ends it. */
export async function showSettings(visit: OrganizationVisit): Promise<FastifyReply> {
  return renderSettings(visit, await readOrganization(visit), {});
}

const names = ['name', 'slug', 'expected_revision'] as const;

export async function submitSettings(visit: OrganizationVisit): Promise<FastifyReply> {
  const organization = await readOrganization(visit);
  const typed = visit.form(...names);
  const params = { orgID: organization.id };
  const submitted = await submit(visit, names, () => visit.run(update, { params, body: toBody(typed) }));
  if (submitted.done) return visit.redirect(organizationPath(organization, 'saved'));
  return renderSettings(visit, organization, { typed, problems: submitted.problems });
}

interface State {
  readonly typed?: Readonly<Record<string, string>>;
  readonly problems?: FormProblems;
}

function renderSettings(visit: OrganizationVisit, organization: Organization, state: State): Promise<FastifyReply> {
  const { id: orgID, actions, archived_at: archivedAt } = organization;
  const refusal = refusalOf(actions, 'update');
  const form = renderForm({
    action: pagePath(pages.editOrganization, { orgID }),
    fields: [...nameFields(organization), revisionField(organization)],
    submit: 'Save changes',
    ...state,
  });
  const content = html`${renderSection(
    'name-and-slug',
    'Name and slug',
    'Former slugs keep leading to this organization.',
    refusal ? html`<p class="muted">${toSentence(refusal)}</p>` : form,
  )}
${renderSection(
  'archive',
  archivedAt === null ? 'Archive' : 'Unarchive',
  'An archived organization stays readable, and no run starts in it.',
  archivedAt === null
    ? renderActions(actions, {
        archive: { label: 'Archive …', icon: 'archive', path: pagePath(pages.archiveOrganization, { orgID }) },
      })
    : renderActions(actions, {
        unarchive: { label: 'Unarchive …', icon: 'archive', path: pagePath(pages.unarchiveOrganization, { orgID }) },
      }),
)}
${renderSection(
  'transfer',
  'Transfer',
  'Another person becomes the owner.',
  renderActions(actions, {
    transfer: { label: 'Transfer …', icon: 'shuffle', path: pagePath(pages.transferOrganization, { orgID }) },
  }),
)}
${renderSection(
  'deletion',
  'Delete',
  'Only an organization without teams can be deleted. The page says what is in the way.',
  renderActions(actions, {
    delete: { label: 'Delete …', icon: 'trash-2', tone: 'danger', path: pagePath(pages.deleteOrganization, { orgID }) },
  }),
)}`;
  return visit.show(
    { ...organizationPage(visit, organization, 'settings', { content }), hasProblem: Boolean(state.problems) },
    state.problems?.status,
  );
}
