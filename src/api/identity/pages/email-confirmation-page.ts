import { linkTokenPage } from '#api/web/forms/link-token-page.ts';
import { html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { redeemToken } from '../email-operations.ts';

/** The page of the mailed link with which users confirm their address. */
export const emailConfirmationPage = linkTokenPage(pages.confirmOwnEmail, {
  title: 'Confirm your e-mail address',
  signIn: 'Sign in first, with the account that has this address.',
  lead: ({ principal }) =>
    html`You confirm that <strong class="foreign">${principal.email ?? ''}</strong> is your address.`,
  hint: 'It is at the end of the link in the e-mail.',
  submit: 'Confirm address',
  cancel: pagePath(pages.profile),
  wrongToken: 'does not confirm your address: it was used, has expired, or is for another address',
  carryOut: async (visit, token) => {
    await visit.run(redeemToken, { body: { token } });
    return pagePath(pages.profile, {}, { done: 'confirmed' });
  },
});
