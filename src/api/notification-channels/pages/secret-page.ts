import { rotationForm } from '#api/tenancy/pages/signing-secret.ts';
import { addFormPage } from '#api/web/forms/form-page.ts';
import { pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { rotate } from '../use-operations.ts';
import { channelCrumbs, channelPath, readShown } from './labels.ts';

/** The pages that show the secret of a channel. */
export const secretPlaces = { crumbs: channelCrumbs, path: channelPath };

const rotation = rotationForm({
  ...secretPlaces,
  read: readShown,
  signed: 'message',
  rotate: (visit) => visit.run(rotate, { params: { id: visit.params.id }, body: {} }),
});

/** Adds the form that replaces the secret of a webhook channel. */
export function registerChannelRotation(addPage: AddPage): void {
  addFormPage(addPage, pages.rotateNotificationChannel, rotation);
}
