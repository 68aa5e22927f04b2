import type { z } from 'zod';
import type { ApiKeyDetailsView } from '#api/identity/key-actions.ts';
import { issuedKeyPage, keyFields, overlapField, type ShownKey, toKeyBody } from '#api/identity/pages/keys.ts';
import { readHeldLead } from '#api/schedules/pages/held-schedules.ts';
import { formPage } from '#api/web/forms/form-page.ts';
import { refusalOf } from '#api/web/forms/resource-forms.ts';
import { pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { create, get, revoke, rotate } from '../key-operations.ts';
import { type AccountSubject, accountCrumbs, accountForm, accountPath, readAccount } from './account-frame.ts';

interface KeySubject {
  readonly account: AccountSubject;
  readonly key: z.input<typeof ApiKeyDetailsView>;
}

async function readKey(visit: Visit<{ id: string; keyID: string }>): Promise<KeySubject> {
  const { id, keyID } = visit.params;
  const [account, key] = await Promise.all([readAccount(visit), visit.read(get, { params: { id, keyID } })]);
  return { account, key };
}

function shownFor(account: AccountSubject): ShownKey {
  return { title: 'New API key', crumbs: accountCrumbs(account), back: accountPath(account) };
}

const rotationForm = formPage(pages.rotateServiceAccountKey, {
  read: readKey,
  describe: async ({ account, key }, visit) => ({
    title: `Rotate ${key.name}`,
    crumbs: accountCrumbs(account),
    lead: await readHeldLead(visit, 'A new key with the same name and lifetime replaces this one. It is shown once.', [
      'credential_id',
      key.id,
    ]),
    fields: [overlapField],
    submit: 'Rotate key',
    cancel: accountPath(account),
    refusal: refusalOf(key.actions, 'rotate'),
  }),
  carryOut: async ({ account, key }, typed, visit) => {
    const params = { id: account.id, keyID: key.id };
    const issued = await visit.run(rotate, { params, body: { overlap: typed['overlap'] } });
    return issuedKeyPage(issued, shownFor(account));
  },
});

const revocationForm = formPage(pages.revokeServiceAccountKey, {
  read: readKey,
  describe: async ({ account, key }, visit) => ({
    title: `Revoke ${key.name}`,
    crumbs: accountCrumbs(account),
    lead: await readHeldLead(visit, 'Requests with this key are refused from now on. You cannot undo this.', [
      'credential_id',
      key.id,
    ]),
    fields: [],
    submit: 'Revoke key',
    tone: 'danger',
    cancel: accountPath(account),
    refusal: refusalOf(key.actions, 'revoke'),
  }),
  carryOut: async ({ account, key }, _typed, visit) => {
    await visit.run(revoke, { params: { id: account.id, keyID: key.id } });
    return accountPath(account, 'key-revoked');
  },
});

/** The forms for the keys of service accounts. A new key is shown in the answer to its form, and never again. */
export const accountKeyForms = [
  accountForm(pages.newServiceAccountKey, 'create_key', {
    describe: (account) => ({
      title: `New key for ${account.name}`,
      lead: 'The key has the permissions of the service account. It is shown once.',
      fields: keyFields,
      submit: 'Create key',
    }),
    carryOut: async (account, typed, visit) => {
      const issued = await visit.run(create, { params: { id: account.id }, body: toKeyBody(visit, typed) });
      return issuedKeyPage(issued, shownFor(account));
    },
  }),
  rotationForm,
  revocationForm,
];
