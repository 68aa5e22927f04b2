import type { FastifyReply } from 'fastify';
import { get as getEnvironment } from '#api/environments/operations.ts';
import { joinTeamPath } from '#api/members/pages/next-step.ts';
import { get as getTeam } from '#api/teams/operations.ts';
import { type Crumb, renderPageHead } from '#api/web/components/page-head.ts';
import { renderStatusBadge } from '#api/web/components/status.ts';
import { renderEmpty, renderTable } from '#api/web/components/table.ts';
import { page } from '#api/web/declarations/area.ts';
import { refusalOf } from '#api/web/forms/resource-forms.ts';
import { type Html, html } from '#api/web/html.ts';
import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';
import { pluralize } from '#api/web/text.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { reviewingTeamRoles } from '#domain/runs/approval/rules.ts';
import { readNames } from '#domain/tenancy/names.ts';
import { listOfEnvironment, listOfRun, listOfTeam } from '../../approvals/reviewer-operations.ts';
import { getRun } from '../../operations.ts';
import { titleOf } from '../run/head.ts';
import { explainReviewer, type Reviewers, renderShortage, type ShownReviewer } from './labels.ts';

type IdVisit = Visit<{ id: string }>;

const title = 'Who can approve';

async function showOfTeam(visit: Visit<{ orgID: string; id: string }>): Promise<FastifyReply> {
  const { name } = await visit.read(getTeam, { params: visit.params });
  const crumbs = [{ label: name, path: pagePath(pages.team, visit.params) }];
  const answer = await visit.read(listOfTeam, { params: visit.params });
  const about = html`An environment may forbid people to approve their own runs. The page of a run says who can approve that one.`;
  return show(visit, { crumbs, answer, about, team: visit.params });
}

async function showOfEnvironment(visit: IdVisit): Promise<FastifyReply> {
  const environment = await visit.read(getEnvironment, { params: visit.params });
  const { name, team_id: id, organization_id: orgID, approval_policy: policy } = environment;
  const answer = await visit.read(listOfEnvironment, { params: visit.params });
  const crumbs = [{ label: name, path: pagePath(pages.environment, visit.params) }];
  const self = policy.allow_self
    ? 'People may approve their own runs here.'
    : 'Only people who neither requested a run nor published its version can approve it.';
  const warning = renderShortage(answer, 'environment');
  return show(visit, {
    crumbs,
    answer,
    warning,
    about: html`Runs here need ${pluralize(policy.required, 'approval')}. ${self}`,
    team: { orgID, id },
  });
}

async function showOfRun(visit: IdVisit): Promise<FastifyReply> {
  const run = await visit.read(getRun, { params: visit.params, query: {} });
  const answer = await visit.read(listOfRun, { params: visit.params });
  const crumbs = [
    { label: 'Runs', path: pagePath(pages.runs) },
    { label: titleOf(run), path: pagePath(pages.run, visit.params) },
  ];
  const orgID = run.team_id && (await readNames(visit.em, { teams: [run.team_id] })).get(run.team_id)?.organizationId;
  const team = run.team_id && orgID ? { orgID, id: run.team_id } : null;
  const about = html`This run needs ${pluralize(run.approval.required, 'approval')}.${
    run.approval.allow_self ? null : ' Only people who neither requested it nor published its version can give it.'
  }`;
  return show(visit, { crumbs, answer, warning: renderShortage(answer, 'run'), about, team });
}

interface Shown {
  readonly crumbs: readonly Crumb[];
  readonly answer: Reviewers;
  readonly about: Html;
  /** Warns if too few people can approve. */
  readonly warning?: Html | null;
  readonly team: { readonly orgID: string; readonly id: string } | null;
}

async function show(visit: Visit, { crumbs, answer, about, warning, team }: Shown): Promise<FastifyReply> {
  const { reviewers, cut } = answer;
  const count = countAble(answer);
  return visit.show({
    title,
    main: html`<div class="page">
${renderPageHead({ title, crumbs: [...crumbs], below: html`${count} ${about}`, actions: team && (await renderAdd(visit, team)) })}
${warning}
${reviewers.length > 0 ? html`<div class="list-panel">${renderReviewers(reviewers, team)}</div>` : renderEmpty('No members', 'Members of the team are listed here.')}
${cut ? html`<p class="muted">There are more people than these.</p>` : null}
</div>`,
  });
}

/**
 * How many people can approve, in words. Administrators are not in the list. They can approve unless a warning says that too few people
 * can.
 */
function countAble({ reviewers, shortage }: Reviewers): string {
  const able = reviewers.filter((reviewer) => reviewer.may_approve).length;
  const members =
    able === 0
      ? 'Of these members, no one can approve.'
      : `${pluralize(able, 'person or account', 'people and accounts')} can approve.`;
  return shortage === 'unreachable' ? members : `${members} Administrators of this installation can approve, too.`;
}

/** A button for owners and admins of the team, who may add people. Other visitors read whom to ask. */
async function renderAdd(visit: Visit, team: { readonly orgID: string; readonly id: string }): Promise<Html> {
  const { actions } = await visit.read(getTeam, { params: team });
  const refusal = refusalOf(actions, 'set_members');
  if (refusal !== null) return html`<p class="muted">Owners and admins of the team can add members.</p>`;
  return html`<a class="button button-primary" href="${addPath(team)}">Add a member</a>`;
}

/** The path of the form that adds a person, with the weaker of the reviewing roles selected. */
function addPath(team: { readonly orgID: string; readonly id: string }): LocalPath {
  const role = reviewingTeamRoles.at(-1);
  return joinTeamPath(team.orgID, team.id, { ...(role && { role }) });
}

function renderReviewers(reviewers: readonly ShownReviewer[], team: Shown['team']): Html {
  const sorted = [...reviewers].sort((one, other) => Number(other.may_approve) - Number(one.may_approve));
  return renderTable({
    caption: title,
    rows: sorted,
    columns: [
      { label: 'Name', kind: 'main', cell: (reviewer) => renderName(reviewer, team) },
      {
        label: 'Can approve',
        cell: ({ may_approve: may }) =>
          may
            ? renderStatusBadge({ word: 'Yes', icon: 'circle-check', tone: 'succeeded' })
            : renderStatusBadge({ word: 'No', icon: 'ban', tone: 'canceled' }),
      },
      { label: 'Why', cell: explainReviewer },
    ],
  });
}

function renderName({ id, name, team_role: role, type }: ShownReviewer, team: Shown['team']): Html {
  const kind = type === 'service_account' ? html` <span class="muted">service account</span>` : null;
  if (team === null || role === null) return html`<span class="foreign">${name}</span>${kind}`;
  const path = pagePath(pages.teamMember, { ...team, userID: id });
  return html`<a class="foreign" href="${path}">${name}</a>${kind}`;
}

/** The pages that say who can approve the runs of a team or of an environment, or a single run. */
export const reviewerPages = [
  page('GET', pages.teamReviewers, showOfTeam),
  page('GET', pages.environmentReviewers, showOfEnvironment),
  page('GET', pages.runReviewers, showOfRun),
];
