import { addLinkTokenPage } from '#api/web/forms/link-token-page.ts';
import { html } from '#api/web/html.ts';
import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { accept } from '../operations.ts';

/** Adds the page where the invited person accepts. */
export function registerAcceptance(addPage: AddPage): void {
  addLinkTokenPage(addPage, pages.acceptInvitation, {
    title: 'Accept an invitation',
    signIn:
      'Sign in first, with the account of the invited e-mail address. If you have no account, ask an administrator for one.',
    lead: ({ principal }) =>
      html`You join as <strong class="foreign">${principal.name}</strong>, <span class="foreign">${principal.email ?? ''}</span>. The invitation must be for this address. Other members will see your name and address.`,
    hint: 'It is at the end of the link that you were given.',
    submit: 'Accept invitation',
    cancel: pagePath(pages.home),
    wrongToken: 'the invitation is not for this account, was used or revoked, or has expired',
    carryOut: acceptInvitation,
  });
}

async function acceptInvitation(visit: Visit, token: string): Promise<LocalPath> {
  const accepted = await visit.run(accept, { body: { token } });
  const done = { done: 'joined' } as const;
  if (!accepted) return pagePath(pages.organizations);
  const { organization_id: orgID, team_id: id } = accepted;
  return id === null ? pagePath(pages.organization, { orgID }, done) : pagePath(pages.team, { orgID, id }, done);
}
