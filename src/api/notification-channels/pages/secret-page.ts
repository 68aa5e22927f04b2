import { rotationForm } from '#api/tenancy/pages/signing-secret.ts';
import { formPage } from '#api/web/forms/form-page.ts';
import { pages } from '#api/web/paths.ts';
import { rotate } from '../message-operations.ts';
import { channelCrumbs, channelPath, readShown } from './labels.ts';

/** The pages that show the secret of a channel. */
export const secretPlaces = { crumbs: channelCrumbs, path: channelPath };

/** The form that replaces the secret of a webhook channel. */
export const channelRotationForm = formPage(
  pages.rotateNotificationChannel,
  rotationForm({
    ...secretPlaces,
    read: readShown,
    signed: 'message',
    rotate: (visit) => visit.run(rotate, { params: { id: visit.params.id }, body: {} }),
  }),
);
