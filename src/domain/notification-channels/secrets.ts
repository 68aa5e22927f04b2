import type { KeyRing } from '#domain/shared/secrets.ts';
import { signingSecrets } from '#domain/shared/signing/signing-secrets.ts';
import type { NotificationChannel } from './entity.ts';

/** The secrets by which channels of the kind `webhook` sign. */
export const channelSecrets = signingSecrets('channel-secret');

export const urlContext = (channelId: string) => ['channel-url', channelId] as const;

/** Seals the address that a channel sends to, and keeps its host, which everybody may see who sees the channel. */
export function keepUrl(keyRing: KeyRing, channel: NotificationChannel, url: string): void {
  channel.host = new URL(url).host;
  channel.sealedUrl = keyRing.seal(urlContext(channel.id), Buffer.from(url));
}

/** @throws Error if the channel has no address, or the key ring does not open it */
export function openUrl(keyRing: KeyRing, { id, sealedUrl }: Pick<NotificationChannel, 'id' | 'sealedUrl'>): string {
  if (!sealedUrl) throw new Error(`the notification channel ${id} has no address`);
  return keyRing.open(urlContext(id), sealedUrl).toString();
}
