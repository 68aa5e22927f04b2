import type { FastifyReply } from 'fastify';
import { linkOrigin } from '#api/edge/same-origin.ts';
import { find as findPeople } from '#api/members/people-operations.ts';
import { findPersonById, personFields, readPersonId, whoField } from '#api/tenancy/pages/person-fields.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderCopyable, secretScript } from '#api/web/components/secret.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { isYes, yesIf } from '#api/web/forms/fields/yes.ts';
import { renderForm } from '#api/web/forms/form.ts';
import { refusedPage } from '#api/web/forms/form-page.ts';
import { type FormProblems, submit } from '#api/web/forms/problems.ts';
import { refusalOf } from '#api/web/forms/resource-forms.ts';
import { type Html, html } from '#api/web/html.ts';
import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';
import { findAdministratorsToAsk } from '#domain/runs/approval/reviewers.ts';
import { requestApproval } from '../../approvals/approval-operations.ts';
import { listOfRun } from '../../approvals/reviewer-operations.ts';
import { getRun } from '../../operations.ts';
import { createReviewLink, linkDays } from '../review-links/review-link.ts';
import { explainReviewer, type ShownReviewer } from '../reviewers/labels.ts';
import { titleOf } from '../run/head.ts';
import type { RunVisit, ShownRun } from '../run-tab.ts';

type Members = readonly ShownReviewer[];

/** Shows the form in which the visitor chooses whom to ask for a review, and with which message. */
export async function showApprovalRequest(
  visit: RunVisit,
  refused: { problems?: FormProblems; typed?: Readonly<Record<string, string>>; link?: Html | null } = {},
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
  const members = await readMembers(visit, run);
  const hasReviewer =
    members.some((member) => member.type === 'user' && member.may_approve) ||
    (await findAdministratorsToAsk(visit.em, id, visit.principal.id)).length > 0;
  const mayNameOthers = visit.mayDo(findPeople).allowed;
  const canName = mayNameOthers || members.some((member) => member.may_approve);
  const page = {
    title,
    hasProblem: Boolean(refused.problems),
    scripts: refused.link ? [secretScript] : [],
    main: html`<div class="page page-narrow">
${renderPageHead({ title, crumbs })}
${refused.link ?? null}
${hasReviewer ? null : renderNoReviewer(id)}
<div class="panel">${renderForm({
      action: pagePath(pages.requestApproval, { id }),
      fields: [
        renderMembers(id, members, { hasReviewer, typed: refused.typed }),
        ...(mayNameOthers ? await personFields(visit, other) : []),
        {
          ...message,
          hint: `${message.hint}${canName ? ' Those whom you name find it in their approvals, marked as asked for.' : ''}`,
        },
      ],
      submit: 'Ask for a review',
      cancel: pagePath(pages.run, { id }),
      ...refused,
    })}</div></div>`,
  };
  return visit.show(page, refused.problems?.status ?? 200);
}

const other = {
  name: 'other',
  label: 'Another person',
  type: 'user',
  isOptional: true,
  hint: 'A name or an e-mail address. If the person may not see the run, you get a link to send to them.',
} as const;

/** The operation refuses a request that would reach no user. */
function renderNoReviewer(id: string): Html {
  return html`<div class="notice notice-problem"><p>No other person can review this run now, so a request would reach no one. <a href="${pagePath(pages.runReviewers, { id })}">Add a reviewer first</a>.</p></div>`;
}

const message = {
  name: 'message',
  label: 'Message',
  kind: 'area',
  isOptional: true,
  hint: 'Asking changes nothing about who may review the run.',
} as const satisfies FormField;

/**
 * The choice of people to ask. Everybody who may review the run finds it in their approvals; for those who are asked, it is marked. If only
 * one person can review, that person is selected.
 */
function renderMembers(
  runId: string,
  members: Members,
  {
    hasReviewer,
    typed,
  }: { readonly hasReviewer: boolean; readonly typed: Readonly<Record<string, string>> | undefined },
): Html {
  const eligible = members.filter((member) => member.may_approve);
  const others = members.filter((member) => !member.may_approve);
  return html`<fieldset class="choices"><legend>Reviewers</legend>${
    eligible.every(({ type }) => type !== 'user')
      ? html`<p>No other member of the team can approve this run yet.${hasReviewer ? ' Administrators of the installation who may are notified.' : null}</p>`
      : html`<p class="field-hint">Select no one to notify all users in this list.</p>`
  }${eligible.map(
    ({ id, name }) =>
      html`<label class="choice"><input type="checkbox" name="${fieldOf(id)}" value="${yesIf(true)}" ${
        (typed ? isYes(typed[fieldOf(id)]) : eligible.length === 1) ? html`checked` : null
      }> <span class="foreign">${name}</span></label>`,
  )}</fieldset>
${
  others.length > 0
    ? html`<details><summary>Members who cannot approve this run, and why</summary><ul>${others.map(
        (member) => html`<li><span class="foreign">${member.name}</span>: ${explainReviewer(member)}</li>`,
      )}</ul></details>`
    : null
}
<p><a href="${pagePath(pages.runReviewers, { id: runId })}">Who can approve, and how to add reviewers</a></p>`;
}

function fieldOf(memberId: string): string {
  return `reviewer-${memberId}`;
}

/** Sends the request. The operation refuses a request to people who may not review the run, and names them. */
export async function submitApprovalRequest(visit: RunVisit): Promise<FastifyReply> {
  const { id } = visit.params;
  const run = await visit.read(getRun, { params: { id }, query: {} });
  const members = await readMembers(visit, run);
  const names = ['message', other.name, whoField(other.name)];
  const typed: Record<string, string> = visit.form(...names, ...members.map((member) => fieldOf(member.id)));
  const ticked = members.filter((member) => isYes(typed[fieldOf(member.id)])).map((member) => member.id);
  const otherId = typed[other.name] ? await readPersonId(visit, other, typed) : '';
  const body = { reviewers: otherId === '' ? ticked : [...ticked, otherId], message: typed['message'] ?? '' };
  const sent = await submit(visit, names, () => visit.run(requestApproval, { params: { id }, body }));
  if (sent.done) return visit.redirect(pagePath(pages.run, { id }, { done: 'asked' }));
  const [person, accessLink] =
    otherId === '' ? [] : await Promise.all([findPersonById(visit, otherId), createReviewLink(visit, otherId)]);
  const problems = nameThem(sent.problems, person ? [...members, person] : members);
  return showApprovalRequest(visit, { problems, typed, link: accessLink ? renderLink(visit, accessLink) : null });
}

/** A link that the visitor can send to a person who may not see the run. */
function renderLink({ context, request }: RunVisit, { name, path }: { name: string; path: LocalPath }): Html {
  const origin = linkOrigin(request, context.services.config.baseUrl);
  return html`<div class="panel stack"><p><span class="foreign">${name}</span> may not see the run: they get an error at its address. Send them this link. It tells them your name, the team, and whom to ask for access, and nothing about the run. Once they have access, it leads to the run. It is valid for ${linkDays} days.</p>
${renderCopyable({ id: 'review-link', label: `Link for ${name}`, value: origin + path })}</div>`;
}

/** Replaces ids of people in the operation's errors by names, because the visitor chose people by name. */
function nameThem(problems: FormProblems, members: readonly Pick<ShownReviewer, 'id' | 'name'>[]): FormProblems {
  const named = (text: string) => members.reduce((said, { id, name }) => said.replaceAll(id, name), text);
  return { ...problems, others: problems.others.map(named) };
}

/** The members of the run's team, whom readers of the run may know, and the administrators of its organization. */
async function readMembers(visit: RunVisit, { id }: ShownRun): Promise<Members> {
  const { reviewers } = await visit.read(listOfRun, { params: { id } });
  return reviewers.filter((reviewer) => reviewer.id !== visit.principal.id);
}
