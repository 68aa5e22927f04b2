import type { NotificationKind, Topic } from '#domain/news/model.ts';
import { pauseOf } from '#domain/shared/sending/pauses.ts';

/** Messages to people outside the pages of the service, and the times of repeated tries. Pure. */

/** `chat`: a chat that accepts incoming webhooks like Slack's. `webhook`: signed JSON. */
export const media = ['email', 'chat', 'webhook'] as const;
export type Medium = (typeof media)[number];

/** `withheld`: when it was due, its recipient was no longer allowed to receive it. */
export const messageStatuses = ['pending', 'sent', 'failed', 'withheld'] as const;
export type MessageStatus = (typeof messageStatuses)[number];

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** The pauses between the tries of a message: two days in all. */
const pausesMs = [20 * second, 2 * minute, 10 * minute, hour, 4 * hour, 12 * hour, 30 * hour] as const;

/** The pause after a failed try of a message (`pauseOf`); null after the last one. */
export function pauseAfter(attempts: number, random?: number): number | null {
  return pauseOf(pausesMs, attempts, random);
}

/** How many days after their creation finished messages are deleted. Those of channels are listed until then. */
export const keptDays = 30;

/** The content of a message. It contains no secret: the token of a link has an encrypted column of its own. */
export type MessageContent =
  | {
      readonly purpose: 'notification';
      readonly kind: NotificationKind | Topic;
      readonly title: string;
      readonly facts?: readonly string[];
    }
  | { readonly purpose: 'invitation'; readonly invitationId: string; readonly sentAt: string }
  | { readonly purpose: 'password_reset'; readonly expiresAt: string }
  | { readonly purpose: 'email_confirmation'; readonly expiresAt: string }
  | { readonly purpose: 'email_changed' };
export type Purpose = MessageContent['purpose'];

/** The destination of messages to a user by a medium. */
export const userDestination = (userId: string, medium: Medium) => `user:${userId}:${medium}`;
