import { page } from '#api/web/declarations/area.ts';
import { checkboxField } from '#api/web/forms/fields/checkbox.ts';
import { isYes } from '#api/web/forms/fields/yes.ts';
import { formPage } from '#api/web/forms/form-page.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { rotate } from '../signing-key-operations.ts';
import { showSigningKeys } from './list-page.ts';

/** The pages of the signing keys. Only administrators see them. */
export const signingKeyPages = [
  page('GET', pages.signingKeys, showSigningKeys),
  formPage(pages.rotateSigningKeys, {
    read: async () => null,
    describe: (_subject, visit) => ({
      title: 'New signing key',
      crumbs: [{ label: 'Signing keys', path: pagePath(pages.signingKeys) }],
      lead: 'The new key is published now and starts signing in one hour, when every verifier knows it. The current key stays published until its last token expires.',
      fields: [
        checkboxField('withdraw_others', 'A key may have leaked: withdraw all other keys', false, {
          hint: 'The new key starts signing now. Tokens signed by other keys are no longer accepted, including those of current runs.',
        }),
      ],
      submit: 'Publish new key',
      cancel: pagePath(pages.signingKeys),
      refusal: visit.mayDo(rotate).reason,
    }),
    carryOut: async (_subject, typed, visit) => {
      const isWithdrawn = isYes(typed['withdraw_others']);
      await visit.run(rotate, { body: { withdraw_others: isWithdrawn } });
      return pagePath(pages.signingKeys, {}, { done: isWithdrawn ? 'withdrawn' : 'published' });
    },
  }),
];
