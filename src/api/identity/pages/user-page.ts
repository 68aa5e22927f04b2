import type { FastifyReply } from 'fastify';
import { renderOrganizationsToJoin } from '#api/members/pages/next-step.ts';
import { renderHeldLink } from '#api/schedules/pages/held-schedules.ts';
import { renderActions } from '#api/web/components/actions.ts';
import { renderConfirmation } from '#api/web/components/confirmation.ts';
import { renderFacts } from '#api/web/components/facts.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { capitalize } from '#api/web/text.ts';
import { readUser, type ShownUser, type UserVisit, usersCrumb } from './user-frame.ts';
import { renderState } from './users-page.ts';

/** Shows a user to visitors who manage users. */
export async function showUser(visit: UserVisit): Promise<FastifyReply> {
  const user = await readUser(visit);
  const { id, name, email, email_verified: isVerified, role, enabled, created_at: since } = user;
  return visit.show({
    title: name,
    main: html`<div class="page page-wide">
${renderPageHead({ title: name, crumbs: [usersCrumb], beside: renderState(enabled), actions: renderButtons(user), history: ['users', user.id] })}
${renderConfirmation(visit, pages.user)}
<div class="panel">${renderFacts([
      [
        'E-mail address',
        html`<span class="foreign">${email}</span> ${isVerified ? html`<span class="badge">confirmed</span>` : html`<span class="badge">not confirmed: accepts no invitations</span>`}`,
      ],
      ['Platform role', role && capitalize(role)],
      ['Created', renderTime(since)],
      ['Starts', await renderHeldLink(visit, id)],
      ['Id', html`<code>${id}</code>`],
    ])}</div>
${await renderNextStep(visit, id)}
<p><a href="${pagePath(pages.audit, {}, { actor: id })}">Show what this user did</a></p>
</div>`,
  });
}

/** Links to the visitor's organizations, which the user could join next. */
async function renderNextStep(visit: UserVisit, id: string): Promise<Html> {
  const links = await renderOrganizationsToJoin(visit, id);
  return html`<section class="stack" aria-labelledby="next-step"><h2 id="next-step">Organizations</h2>
<p class="muted">A user sees only what their organizations and teams have.${links === null ? ' There is no organization yet.' : null}</p>
${links}</section>`;
}

function renderButtons({ id, actions, email_verified: isVerified }: ShownUser): Html {
  return renderActions(actions, {
    update: { label: 'Edit', icon: 'pencil', path: pagePath(pages.editUser, { id }) },
    ...(isVerified
      ? {}
      : { confirm_email: { label: 'Confirm address', icon: 'mail', path: pagePath(pages.confirmEmail, { id }) } }),
    reset_password: { label: 'Password link', icon: 'key-round', path: pagePath(pages.makePasswordReset, { id }) },
    delete: { label: 'Delete', icon: 'trash-2', tone: 'danger', path: pagePath(pages.deleteUser, { id }) },
  });
}
