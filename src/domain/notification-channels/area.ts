import { ChannelSubscriptionSchema, NotificationChannelSchema } from './entity.ts';
import { notificationChannelKinds } from './ownership.ts';

export const entities = [NotificationChannelSchema, ChannelSubscriptionSchema] as const;
export const ownership = notificationChannelKinds;
