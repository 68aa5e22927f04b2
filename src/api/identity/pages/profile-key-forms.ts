import { readHeldLead } from '#api/schedules/pages/held.ts';
import type { Crumb } from '#api/web/components/page-head.ts';
import { addFormPage } from '#api/web/forms/form-page.ts';
import { refusalOf } from '#api/web/forms/resource-forms.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { createApiKey, getApiKey, regenerateApiKey, rotateApiKey } from '../profile-operations.ts';
import { issuedKeyPage, keyFields, overlapField, toKeyBody } from './keys.ts';

const back = pagePath(pages.profile);
const crumbs: readonly Crumb[] = [{ label: 'Your profile', path: back }];
const shown = { title: 'New API key', crumbs, back };

function readKey(visit: Visit<{ id: string }>) {
  return visit.read(getApiKey, { params: { id: visit.params.id } });
}

/** Adds the forms for a user's own keys. A new key is shown in the answer to its form, and never again. */
export function registerProfileKeyForms(addPage: AddPage): void {
  addFormPage(addPage, pages.profileApiKeys, {
    read: async () => null,
    describe: (_subject, visit) => ({
      title: 'New API key',
      crumbs,
      lead: 'The key has all of your permissions. Use a service account for programs of a team.',
      fields: keyFields,
      submit: 'Create key',
      cancel: back,
      refusal: visit.mayDo(createApiKey).reason,
    }),
    carryOut: async (_subject, typed, visit) =>
      issuedKeyPage(await visit.run(createApiKey, { body: toKeyBody(visit, typed) }), shown),
  });
  addFormPage(addPage, pages.rotateApiKey, {
    read: readKey,
    describe: async ({ id, name, kind, actions }, visit) => ({
      title: `Rotate ${name}`,
      crumbs,
      lead: await readHeldLead(
        visit,
        kind === 'profile'
          ? 'A new key replaces this one, which is revoked immediately. The new key is shown once.'
          : 'A new key with the same name and lifetime replaces this one. It is shown once.',
        ['credential_id', id],
      ),
      fields: kind === 'profile' ? [] : [overlapField],
      submit: 'Rotate key',
      cancel: back,
      refusal: kind === 'profile' ? visit.mayDo(regenerateApiKey).reason : refusalOf(actions, 'rotate'),
    }),
    carryOut: async ({ id, kind }, typed, visit) => {
      // A user has one profile key, which is regenerated in place.
      if (kind === 'profile') return issuedKeyPage(await visit.run(regenerateApiKey), shown);
      const body = { overlap: typed['overlap'] };
      return issuedKeyPage(await visit.run(rotateApiKey, { params: { id }, body }), shown);
    },
  });
}
