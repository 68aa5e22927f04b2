import type { FastifyReply } from 'fastify';
import { list as listProjects } from '#api/projects/operations.ts';
import { nameFields, refusalOf, revisionField, toBody } from '#api/tenancy/pages/named-forms.ts';
import { renderArchiveTabs, renderSection, withArchived } from '#api/tenancy/pages/views.ts';
import { renderActions } from '#api/web/components/actions.ts';
import { renderEmpty, renderPager, renderTable } from '#api/web/components/table.ts';
import { renderTime } from '#api/web/components/time.ts';
import { renderForm } from '#api/web/forms/form.ts';
import { type FormProblems, submit } from '#api/web/forms/problems.ts';
import { type Html, html } from '#api/web/html.ts';
import { type PagePattern, pagePath, pages, withQuery } from '#api/web/paths.ts';
import { toSentence } from '#api/web/text.ts';
import { update } from '../operations.ts';
import { readTeam, type TeamSubject, type TeamVisit, teamPage, teamParams, teamPath } from './team-frame.ts';

/** A team with its projects. */
export async function showTeamProjects(visit: TeamVisit): Promise<FastifyReply> {
  const team = await readTeam(visit);
  const isArchived = visit.query('archived') === 'true';
  const cursor = visit.query('cursor');
  const query = { team_id: team.id, archived: String(isArchived), ...(cursor && { cursor }) };
  const { projects, next_cursor: next } = await visit.read(listProjects, { query });
  const table = renderTable({
    caption: 'Projects',
    rows: projects,
    columns: [
      {
        label: 'Name',
        kind: 'main',
        cell: ({ id, name }) => html`<a class="foreign" href="${pagePath(pages.project, { id })}">${name}</a>`,
      },
      { label: 'Slug', cell: ({ slug }) => html`<span class="mono">${slug}</span>` },
      {
        label: 'About',
        cell: ({ description: text }) => (text ? html`<span class="foreign">${text.slice(0, 200)}</span>` : null),
      },
      { label: 'Since', kind: 'minor', cell: ({ created_at: since }) => renderTime(since) },
    ],
  });
  const none = isArchived
    ? renderEmpty('No project is archived', 'Archived projects stay here until somebody deletes them.')
    : renderEmpty(
        'No project yet',
        'A project holds the environments of one piece of work, such as a network or an application.',
      );
  const content = html`<div class="section-line">${renderArchiveTabs(teamPath(team), isArchived)}
${renderLinks(team)}</div>
${projects.length > 0 ? html`<div class="list-panel">${table}</div>` : none}
${renderPager({
  first: cursor ? withArchived(teamPath(team), isArchived) : null,
  next: next ? pagePath(pages.team, teamParams(team), { ...(isArchived && { archived: 'true' }), cursor: next }) : null,
})}`;
  return visit.show(teamPage(visit, team, 'projects', { content }));
}

/** Only those who may manage the team's service accounts may list them. */
function renderLinks({ id, actions }: TeamSubject): Html {
  const link = (path: PagePattern, label: string) =>
    html`<a class="chip" href="${withQuery(path, { team_id: id })}">${label}</a>`;
  const mayManage = refusalOf(actions, 'create_service_account') === null;
  return html`<div class="row-actions">${link(pages.runs, 'Runs')}${link(pages.catalog, 'Templates')}${
    mayManage ? link(pages.serviceAccounts, 'Service accounts') : null
  }</div>`;
}

export async function showTeamSettings(visit: TeamVisit): Promise<FastifyReply> {
  return renderSettings(visit, await readTeam(visit), {});
}

const names = ['name', 'slug', 'expected_revision'] as const;

export async function submitTeamSettings(visit: TeamVisit): Promise<FastifyReply> {
  const team = await readTeam(visit);
  const typed = visit.form(...names);
  const submitted = await submit(visit, names, () =>
    visit.run(update, { params: teamParams(team), body: toBody(typed) }),
  );
  if (submitted.done) return visit.redirect(teamPath(team, 'saved'));
  return renderSettings(visit, team, { typed, problems: submitted.problems });
}

interface State {
  readonly typed?: Readonly<Record<string, string>>;
  readonly problems?: FormProblems;
}

function renderSettings(visit: TeamVisit, team: TeamSubject, state: State): Promise<FastifyReply> {
  const { actions, archived_at: archivedAt } = team;
  const params = teamParams(team);
  const refusal = refusalOf(actions, 'update');
  const form = renderForm({
    action: pagePath(pages.editTeam, params),
    fields: [...nameFields(team), revisionField(team)],
    submit: 'Save changes',
    ...state,
  });
  const content = html`${renderSection(
    'name-and-slug',
    'Name and slug',
    'What people and commands call the team.',
    refusal ? html`<p class="muted">${toSentence(refusal)}</p>` : form,
  )}
${renderSection(
  'archive',
  archivedAt === null ? 'Archive' : 'Unarchive',
  'An archived team stays readable, and no run starts in it.',
  archivedAt === null
    ? renderActions(actions, {
        archive: { label: 'Archive …', icon: 'archive', path: pagePath(pages.archiveTeam, params) },
      })
    : renderActions(actions, {
        unarchive: { label: 'Unarchive …', icon: 'archive', path: pagePath(pages.unarchiveTeam, params) },
      }),
)}
${renderSection(
  'transfer',
  'Transfer',
  'The team moves to another organization, with everything that it owns.',
  renderActions(actions, {
    transfer: { label: 'Transfer …', icon: 'shuffle', path: pagePath(pages.transferTeam, params) },
  }),
)}
${renderSection(
  'deletion',
  'Delete',
  'Only a team that owns nothing can be deleted. The page says what is in the way.',
  renderActions(actions, {
    delete: { label: 'Delete …', icon: 'trash-2', tone: 'danger', path: pagePath(pages.deleteTeam, params) },
  }),
)}`;
  return visit.show(
    { ...teamPage(visit, team, 'settings', { content }), hasProblem: Boolean(state.problems) },
    state.problems?.status,
  );
}
