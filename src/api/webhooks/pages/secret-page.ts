import { rotationForm } from '#api/tenancy/pages/signing-secret.ts';
import { formPage } from '#api/web/forms/form-page.ts';
import { pages } from '#api/web/paths.ts';
import { rotate } from '../delivery-operations.ts';
import { readShown, webhookCrumbs, webhookPath } from './labels.ts';

/** The pages that show the secret of a webhook. */
export const secretPlaces = { crumbs: webhookCrumbs, path: webhookPath };

/** The form that replaces the secret of a webhook. */
export const webhookRotationForm = formPage(
  pages.rotateWebhook,
  rotationForm({
    ...secretPlaces,
    read: readShown,
    signed: 'request',
    rotate: (visit) => visit.run(rotate, { params: { id: visit.params.id }, body: {} }),
  }),
);
