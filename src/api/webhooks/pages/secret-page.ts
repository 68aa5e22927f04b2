import { rotationForm } from '#api/tenancy/pages/signing-secret.ts';
import { addFormPage } from '#api/web/forms/form-page.ts';
import { pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { rotate } from '../delivery-operations.ts';
import { readShown, webhookCrumbs, webhookPath } from './labels.ts';

/** The pages that show the secret of a webhook. */
export const secretPlaces = { crumbs: webhookCrumbs, path: webhookPath };

const rotation = rotationForm({
  ...secretPlaces,
  read: readShown,
  signed: 'request',
  rotate: (visit) => visit.run(rotate, { params: { id: visit.params.id }, body: {} }),
});

/** Adds the form that replaces the secret of a webhook. */
export function registerRotation(addPage: AddPage): void {
  addFormPage(addPage, pages.rotateWebhook, rotation);
}
