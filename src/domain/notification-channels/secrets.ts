import type { KeyRing } from '#domain/shared/secrets.ts';
import { makeSecret } from '#domain/webhooks/secrets.ts';
import type { NotificationChannel } from './entity.ts';
import { overlapMs } from './model.ts';

export const urlContext = (channelId: string) => ['channel-url', channelId] as const;
export const secretContext = (channelId: string) => ['channel-secret', channelId] as const;

/** Seals the address that a channel sends to, and keeps its host, which everybody may see who sees the channel. */
export function keepUrl(keyRing: KeyRing, channel: NotificationChannel, url: string): void {
  channel.host = new URL(url).host;
  channel.sealedUrl = keyRing.seal(urlContext(channel.id), Buffer.from(url));
}

/** Gives a channel a new secret, and returns it. The one before counts for another day. */
export function renewSecret(keyRing: KeyRing, channel: NotificationChannel): string {
  const secret = makeSecret();
  if (channel.sealedSecret) {
    channel.sealedPreviousSecret = channel.sealedSecret;
    channel.previousUntil = new Date(Date.now() + overlapMs);
  }
  channel.sealedSecret = keyRing.seal(secretContext(channel.id), Buffer.from(secret));
  return secret;
}

/** @throws Error if the channel has no address, or the key ring does not open it */
export function openUrl(keyRing: KeyRing, { id, sealedUrl }: Pick<NotificationChannel, 'id' | 'sealedUrl'>): string {
  if (!sealedUrl) throw new Error(`the notification channel ${id} has no address`);
  return keyRing.open(urlContext(id), sealedUrl).toString();
}

/** The secrets that sign the messages of a channel now. */
export function openSecrets(keyRing: KeyRing, channel: NotificationChannel): string[] {
  const { id, sealedSecret, sealedPreviousSecret, previousUntil } = channel;
  const isValid = previousUntil && previousUntil.getTime() > Date.now();
  return [sealedSecret, isValid ? sealedPreviousSecret : null].flatMap((sealed) =>
    sealed ? [keyRing.open(secretContext(id), sealed).toString()] : [],
  );
}
