import type { FastifyReply } from 'fastify';
import { linkOrigin } from '#api/edge/same-origin.ts';
import { create as createUser } from '#api/identity/user-operations.ts';
import type { LevelOwner } from '#api/tenancy/pages/levels/level.ts';
import { levelPage } from '#api/tenancy/pages/levels/level-page.ts';
import { renderSection } from '#api/tenancy/pages/views.ts';
import type { IconName } from '#api/web/components/icon.ts';
import { renderSecret, secretScript } from '#api/web/components/secret.ts';
import { renderStatusBadge } from '#api/web/components/status.ts';
import { renderEmpty, renderPages, renderTable } from '#api/web/components/table.ts';
import { renderTime } from '#api/web/components/time.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { renderForm, renderKey } from '#api/web/forms/form.ts';
import { resolveNames } from '#api/web/forms/named-choices.ts';
import { type FormProblems, submit } from '#api/web/forms/problems.ts';
import { refusalOf, toBody } from '#api/web/forms/resource-forms.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { capitalize, toSentence } from '#api/web/text.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { InvitationStatus } from '#domain/invitations/model.ts';
import type { InvitationLevel, SentInvitation, ShownInvitation } from './invitation-level.ts';

interface State {
  readonly typed?: Readonly<Record<string, string>>;
  readonly problems?: FormProblems;
  /** An invitation that was just sent, whose token is shown now and never again. */
  readonly sent?: SentInvitation;
}

/** The invitations into an organization or a team, and the form that sends one. */
export async function showInvitations<Params, Owner extends LevelOwner>(
  invitations: InvitationLevel<Params, Owner>,
  visit: Visit<Params>,
  state: State = {},
): Promise<FastifyReply> {
  const owner = await invitations.level.read(visit);
  const refusal = refusalOf(owner.actions, 'invite');
  const limit = invitations.describeLimit?.(visit, owner) ?? null;
  const content = html`${(await invitations.renderNotice?.(visit, owner)) ?? null}${state.sent ? renderSent(visit, state.sent) : null}
${refusal ? html`<p class="notice">${toSentence(refusal)}</p>` : await renderList(invitations, visit, owner)}
${
  refusal
    ? null
    : renderSection(
        'invite',
        'Invite a person',
        html`${limit && html`<strong>${limit}</strong> `}The service shows you a link that works once, and ${hasMail(visit) ? 'sends it to the address by e-mail' : 'sends no e-mail: give the link to the person'}. ${describeAcceptance(visit)} You cannot offer a role above your own.`,
        await renderInviteForm(invitations, visit, owner, state),
      )
}`;
  const page = {
    ...levelPage(invitations.level, visit, owner, { tab: 'invitations', content, scripts: [secretScript] }),
    hasProblem: Boolean(state.problems),
  };
  return visit.show(page, state.sent ? 201 : state.problems?.status);
}

async function renderInviteForm<Params, Owner extends LevelOwner>(
  invitations: InvitationLevel<Params, Owner>,
  visit: Visit<Params>,
  owner: Owner,
  { typed, problems }: State,
): Promise<Html> {
  return renderForm({
    action: invitations.level.path('invitations', owner),
    fields: await readFields(invitations, visit, owner),
    submit: 'Create invitation',
    ...(typed && { typed }),
    ...(problems && { problems }),
  });
}

async function readFields<Params, Owner extends LevelOwner>(
  invitations: InvitationLevel<Params, Owner>,
  visit: Visit<Params>,
  owner: Owner,
): Promise<FormField[]> {
  return [{ name: 'email', label: 'E-mail address', kind: 'email' }, ...(await invitations.fields(visit, owner))];
}

/**
 * Explains what the invited person does next. The text does not depend on whether the address has an account, so that inviters cannot find
 * that out.
 */
function describeAcceptance(visit: Visit): Html {
  const addUser = visit.mayDo(createUser).allowed ? html` <a href="${pagePath(pages.newUser)}">Add a user</a>.` : null;
  return html`The person signs in with the account that has this confirmed address, opens the link and accepts. If they have no account, an administrator of the installation must first add a user with this address.${addUser}`;
}

function hasMail({ context }: Visit<unknown>): boolean {
  return context.services.config.mail !== null;
}

/** The link of an invitation. The token is behind `#`, which browsers do not send to servers, so no log contains it. */
function renderSent(visit: Visit, { invitation, token, emailed }: SentInvitation): Html {
  const { context, request } = visit;
  const origin = linkOrigin(request, context.services.config.baseUrl);
  const link = `${origin}${pagePath(pages.acceptInvitation)}#token=${encodeURIComponent(token)}`;
  return html`<section class="panel stack" aria-labelledby="sent">
<h2 id="sent">Give this to <span class="foreign">${invitation.email}</span></h2>
<p>${emailed ? 'The service also sends it there by e-mail.' : 'No e-mail is sent.'} The link works once, until ${renderTime(invitation.expires_at)}.</p>
<p>${describeAcceptance(visit)}</p>
${renderSecret({ id: 'invitation-link', label: 'Link', value: link })}
${renderSecret({ id: 'invitation-token', label: 'Token alone, for the API', value: token })}
</section>`;
}

export async function submitInvitation<Params, Owner extends LevelOwner>(
  invitations: InvitationLevel<Params, Owner>,
  visit: Visit<Params>,
): Promise<FastifyReply> {
  const owner = await invitations.level.read(visit);
  const fields = await readFields(invitations, visit, owner);
  const names = fields.map(({ name }) => name);
  const typed = visit.form(...names);
  const submitted = await submit(visit, names, async () =>
    invitations.create(visit, owner, toBody(await resolveNames(visit, fields, typed))),
  );
  if (!submitted.done) return showInvitations(invitations, visit, { typed, problems: submitted.problems });
  return showInvitations(invitations, visit, { sent: submitted.result });
}

/** Sends an invitation again. Its new token is shown in the answer. */
export async function submitResend<Params, Owner extends LevelOwner>(
  invitations: InvitationLevel<Params, Owner>,
  visit: Visit<Params>,
  id: string,
): Promise<FastifyReply> {
  const owner = await invitations.level.read(visit);
  visit.form();
  const submitted = await submit(visit, [], () => invitations.resend(visit, owner, id));
  if (!submitted.done) return showInvitations(invitations, visit, { problems: submitted.problems });
  return showInvitations(invitations, visit, { sent: submitted.result });
}

export async function submitRevocation<Params, Owner extends LevelOwner>(
  invitations: InvitationLevel<Params, Owner>,
  visit: Visit<Params>,
  id: string,
): Promise<FastifyReply> {
  const owner = await invitations.level.read(visit);
  visit.form();
  const submitted = await submit(visit, [], () => invitations.revoke(visit, owner, id));
  if (!submitted.done) return showInvitations(invitations, visit, { problems: submitted.problems });
  return visit.redirect(invitations.level.path('invitations', owner, { done: 'invitation-revoked' }));
}

const looks: Readonly<Record<InvitationStatus, { word: string; icon: IconName; tone: string }>> = {
  open: { word: 'Open', icon: 'mail', tone: 'running' },
  accepted: { word: 'Accepted', icon: 'circle-check', tone: 'succeeded' },
  expired: { word: 'Expired', icon: 'hourglass', tone: 'timed-out' },
  revoked: { word: 'Revoked', icon: 'ban', tone: 'canceled' },
  void: { word: 'Void', icon: 'ban', tone: 'canceled' },
};

async function renderList<Params, Owner extends LevelOwner>(
  invitations: InvitationLevel<Params, Owner>,
  visit: Visit<Params>,
  owner: Owner,
): Promise<Html> {
  const cursor = visit.query('cursor');
  const { invitations: shown, next_cursor: next } = await invitations.list(visit, owner, cursor ? { cursor } : {});
  if (shown.length === 0) return renderEmpty('No invitations', 'Invitations and their status are listed here.');
  const table = renderTable({
    caption: 'Invitations',
    rows: shown,
    columns: [
      { label: 'E-mail address', kind: 'main', cell: ({ email }) => html`<span class="foreign">${email}</span>` },
      { label: 'State', cell: ({ status }) => renderStatusBadge(looks[status]) },
      { label: 'Role', cell: describeOffer },
      { label: 'Invited by', cell: ({ invited_by: by }) => html`<span class="foreign">${by.name}</span>` },
      {
        label: 'Expires',
        kind: 'minor',
        cell: ({ expires_at: until, status }) => (status === 'open' ? renderTime(until) : null),
      },
      { label: 'Actions', cell: (row) => renderRowActions(invitations, owner, row) },
    ],
  });
  return html`<div class="list-panel">${table}</div>
${renderPages({ cursor, next }, (query) => invitations.level.path('invitations', owner, query))}`;
}

function describeOffer({ role, team_role: teamRole }: ShownInvitation): string {
  const offers = [role && `${role} of the organization`, teamRole && `${teamRole} of a team`];
  return capitalize(offers.filter(Boolean).join(', '));
}

/** The actions of a row. An accepted or revoked invitation has none. Every other one can be sent again or revoked. */
function renderRowActions<Params, Owner extends LevelOwner>(
  invitations: InvitationLevel<Params, Owner>,
  owner: Owner,
  { id, email, status }: ShownInvitation,
): Html | null {
  if (status === 'accepted' || status === 'revoked') return null;
  const button = (path: string, verb: string) =>
    html`<form method="post" action="${path}">${renderKey()}<button class="button button-small" type="submit">${verb}<span class="unseen"> the invitation of ${email}</span></button></form>`;
  return html`<div class="row-actions">${button(invitations.resendPath(owner, id), 'New link')}${button(invitations.revokePath(owner, id), 'Revoke')}</div>`;
}
