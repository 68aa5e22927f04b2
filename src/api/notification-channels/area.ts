import { type Area, page } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import * as use from './message-operations.ts';
import * as channels from './operations.ts';
import { showChannel } from './pages/channel-page.ts';
import { channelForms } from './pages/forms.ts';
import { showChannels } from './pages/list-page.ts';
import { channelRotationForm } from './pages/secret-page.ts';
import { subscriptionForms } from './pages/subscription-forms.ts';
import { channelTestForm } from './pages/test-form.ts';

export const area: Area = {
  operations: [channels, use],
  tags: {
    notification_channels: 'Telling groups of people what happens, by e-mail, in a chat or by a signed message.',
  },
  pages: [
    page('GET', pages.notificationChannels, showChannels),
    ...channelForms,
    page('GET', pages.notificationChannel, showChannel),
    channelRotationForm,
    channelTestForm,
    ...subscriptionForms,
  ],
  navigation: [
    {
      group: 'Integrations',
      label: 'Notification channels',
      icon: 'message-square',
      path: pages.notificationChannels,
      after: 'Webhooks',
      operation: 'notification_channels.list',
    },
  ],
};
