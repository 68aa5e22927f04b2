import { actionsOf } from '#api/pipeline/actions.ts';
import type { ChannelTarget } from '#domain/notification-channels/store.ts';
import { findArchivedRefusal } from '#domain/shared/archiving.ts';

/** What a caller may do with a notification channel. */
export const channelActions = actionsOf<ChannelTarget>()({
  update: { operation: 'notification_channels.update', findRefusal: findArchivedRefusal },
  test: { operation: 'notification_channels.test' },
  rotate: {
    operation: 'notification_channels.rotate',
    findRefusal: (target) =>
      target.channel.kind === 'webhook'
        ? findArchivedRefusal(target)
        : { message: 'only webhook channels sign messages' },
  },
  delete: { operation: 'notification_channels.delete' },
});
