import { pages } from '#api/web/paths.ts';
import type { Installation } from '../realistic-installation.ts';
import { type DeclaredPage, declare } from './declared-page.ts';

/** The pages of notification channels. */
export function channelPages({ channels }: Installation): DeclaredPage[] {
  const who = 'owner';
  const params = { id: channels.mailed };
  return [
    declare('notification-channels', pages.notificationChannels, { who, isPictured: true }),
    declare('notification-channels-empty', pages.notificationChannels, { who: 'fjordOwner' }),
    declare('notification-channels-refused', pages.notificationChannels, { who: 'viewer', answers: 403 }),
    declare('notification-channel', pages.notificationChannel, { params, who, isPictured: true }),
    declare('notification-channel-failing', pages.notificationChannel, { params: { id: channels.failing }, who }),
    declare('notification-channel-hears-nothing', pages.notificationChannel, { params: { id: channels.silent }, who }),
    declare('notification-channel-of-strangers', pages.notificationChannel, {
      params,
      who: 'fjordOwner',
      answers: 404,
    }),
    declare('notification-channel-new', pages.newNotificationChannel, { who }),
    declare('notification-channel-new-chat', pages.newNotificationChannel, { who, query: { of: 'slack' } }),
    declare('notification-channel-edit', pages.editNotificationChannel, { params, who }),
    declare('notification-channel-edit-chat', pages.editNotificationChannel, { params: { id: channels.failing }, who }),
    declare('notification-channel-test', pages.testNotificationChannel, { params, who }),
    declare('notification-channel-rotate', pages.rotateNotificationChannel, { params: { id: channels.silent }, who }),
    declare('notification-channel-rotate-refused', pages.rotateNotificationChannel, { params, who }),
    declare('notification-channel-delete', pages.deleteNotificationChannel, { params, who }),
    declare('notification-channel-subscribe', pages.subscribeNotificationChannel, { params, who, isPictured: true }),
    declare('notification-channel-unsubscribe', pages.unsubscribeNotificationChannel, {
      params: { ...params, index: '0' },
      who,
    }),
  ];
}
