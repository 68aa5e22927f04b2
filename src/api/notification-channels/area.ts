import type { Area } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import * as channels from './operations.ts';
import { registerChannelPages } from './pages/register.ts';
import * as use from './use-operations.ts';

export const area: Area = {
  operations: [channels, use],
  tags: {
    notification_channels: 'Telling groups of people what happens, by e-mail, in a chat or by a signed message.',
  },
  pages: [registerChannelPages],
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
