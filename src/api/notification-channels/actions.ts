import { actionsOf } from '#api/pipeline/actions.ts';
import type { ChannelTarget } from '#domain/notification-channels/store.ts';

/** What a caller may do with a notification channel. */
export const channelActions = actionsOf<ChannelTarget>()({
  update: { operation: 'notification_channels.update' },
  test: { operation: 'notification_channels.test' },
  rotate: {
    operation: 'notification_channels.rotate',
    findRefusal: ({ channel }) =>
      channel.kind === 'webhook' ? null : { message: 'only webhook channels sign messages' },
  },
  delete: { operation: 'notification_channels.delete' },
});
