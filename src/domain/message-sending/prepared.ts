import type { Em } from '#database/database.ts';
import type { MessageContent, Purpose } from '#domain/messages/model.ts';
import type { Wording } from '#domain/messages/wording.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import type { News, Recipient } from './carry.ts';

/** The message to send, or the reason why it must not be sent. */
export type Prepared =
  | { readonly to: Recipient; readonly wording: Wording; readonly news?: News }
  | { readonly withhold: string };

export interface PrepareDeps {
  readonly em: Em;
  readonly keyRing: KeyRing;
  /** The origin of links in messages; null if `COORDINATOR_BASE_URL` is not set. */
  readonly linkOrigin: string | null;
}

export type ContentOf<P extends Purpose> = Extract<MessageContent, { purpose: P }>;
