import type { KeyRing } from '#domain/shared/secrets.ts';
import { signingSecrets } from '#domain/shared/signing/signing-secrets.ts';
import type { NotificationChannel } from './entity.ts';

/** The secrets by which channels of the kind `webhook` sign. */
export const channelSecrets = signingSecrets('channel-secret');

export const urlContext = (channelId: string) => ['channel-url', channelId] as const;

/** Seals the address of a channel, and stores its host, which every reader of the channel may see. */
export function keepUrl(keyRing: KeyRing, channel: NotificationChannel, url: string): void {
  channel.host = new URL(url).host;
  channel.sealedUrl = keyRing.seal(urlContext(channel.id), Buffer.from(url));
}

/** @throws Error if the channel has no address, or the key ring cannot open it */
export function openUrl(keyRing: KeyRing, { id, sealedUrl }: Pick<NotificationChannel, 'id' | 'sealedUrl'>): string {
  if (!sealedUrl) throw new Error(`the notification channel ${id} has no address`);
  return keyRing.open(urlContext(id), sealedUrl).toString();
}
