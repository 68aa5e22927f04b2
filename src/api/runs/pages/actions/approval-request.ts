import type { FastifyReply } from 'fastify';
import { list as listTeamMembers } from '#api/members/team-operations.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { renderForm } from '#api/web/forms/form.ts';
import { refusedPage } from '#api/web/forms/form-page.ts';
import { type FormProblems, submit } from '#api/web/forms/problems.ts';
import { refusalOf } from '#api/web/forms/resource-forms.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { readNames } from '#domain/tenancy/names-store.ts';
import { requestApproval } from '../../approvals/approval-operations.ts';
import { getRun } from '../../operations.ts';
import { titleOf } from '../run/head.ts';
import type { RunVisit, ShownRun } from '../run-tab.ts';

type Members = readonly { readonly id: string; readonly name: string }[];

/** Asks whom to ask for a review, and with which message. */
export async function showApprovalRequest(
  visit: RunVisit,
  refused: { problems?: FormProblems; typed?: Readonly<Record<string, string>> } = {},
): Promise<FastifyReply> {
  const { id } = visit.params;
  const run = await visit.read(getRun, { params: { id }, query: {} });
  const title = 'Ask for a review';
  const crumbs = [
    { label: 'Runs', path: pagePath(pages.runs) },
    { label: titleOf(run), path: pagePath(pages.run, { id }) },
  ];
  const refusal = refusalOf(run.actions, 'request_approval');
  if (refusal !== null && !refused.problems)
    return visit.show(refusedPage({ title, crumbs, cancel: pagePath(pages.run, { id }), refusal }));
  const page = {
    title,
    hasProblem: Boolean(refused.problems),
    main: html`<div class="page page-narrow">
${renderPageHead({ title, crumbs })}
<div class="panel">${renderForm({
      action: pagePath(pages.requestApproval, { id }),
      fields: [renderMembers(await readMembers(visit, run), refused.typed ?? {}) ?? html``, message],
      submit: 'Ask for a review',
      cancel: pagePath(pages.run, { id }),
      ...refused,
    })}</div></div>`,
  };
  return visit.show(page, refused.problems?.status ?? 200);
}

const message: FormField = {
  name: 'message',
  label: 'Message',
  kind: 'area',
  isOptional: true,
  maxLength: 4000,
  hint: 'Asking changes nothing about who may review the run. Those whom you name find it in their approvals, marked as asked for.',
};

/** Everybody who may review the run finds it in their approvals. Those who are named find it marked. */
function renderMembers(members: Members, typed: Readonly<Record<string, string>>): Html | null {
  if (members.length === 0) return null;
  return html`<fieldset class="choices"><legend>Whom to ask</legend>${members.map(
    ({ id, name }) =>
      html`<label class="choice"><input type="checkbox" name="${fieldOf(id)}" value="yes" ${
        typed[fieldOf(id)] === 'yes' ? html`checked` : null
      }> <span class="foreign">${name}</span></label>`,
  )}</fieldset>`;
}

function fieldOf(memberId: string): string {
  return `reviewer-${memberId}`;
}

/** Sends the request. Somebody who may not review the run is refused by the operation, which names them. */
export async function submitApprovalRequest(visit: RunVisit): Promise<FastifyReply> {
  const { id } = visit.params;
  const run = await visit.read(getRun, { params: { id }, query: {} });
  const members = await readMembers(visit, run);
  const typed: Record<string, string> = visit.form('message', ...members.map((member) => fieldOf(member.id)));
  const reviewers = members.filter((member) => typed[fieldOf(member.id)] === 'yes').map((member) => member.id);
  const body = { reviewers, message: typed['message'] ?? '' };
  const sent = await submit(visit, ['message'], () => visit.run(requestApproval, { params: { id }, body }));
  if (!sent.done) return showApprovalRequest(visit, { problems: nameThem(sent.problems, members), typed });
  return visit.redirect(pagePath(pages.run, { id }, { done: 'asked' }));
}

/** The operation names people by their ids; the visitor chose them by their names. */
function nameThem(problems: FormProblems, members: Members): FormProblems {
  const named = (text: string) => members.reduce((said, { id, name }) => said.replaceAll(id, name), text);
  return { ...problems, others: problems.others.map(named) };
}

const mostMembers = 200;

/** The members of the team of the run, whom its readers may know. */
async function readMembers(visit: RunVisit, { team_id: team }: ShownRun): Promise<Members> {
  if (team === null) return [];
  const organization = (await readNames(visit.em, { teams: [team] })).get(team)?.organizationId;
  if (!organization) return [];
  const params = { orgID: organization, id: team };
  const { members } = await visit.read(listTeamMembers, { params, query: { limit: String(mostMembers) } });
  return members
    .filter(({ user_id: id, enabled, role }) => enabled && role !== 'viewer' && id !== visit.principal.id)
    .map(({ user_id: id, name }) => ({ id, name }));
}
